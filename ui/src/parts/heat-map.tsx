/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heat-map.tsx - one number per row and column, shown as lightness of one hue from zero to the
 * maximum. The line below shows the number under the pointer or cursor.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import "./heat-map.css";
import { SavePicture } from "./picture";
import { beginDrawing, rgbOf, tokenOf, useTheme, useWidth } from "./surface";
import { drawnBy } from "./vector";

export interface HeatMapProps {
	rows: string[];
	columns: string[];
	rowTitle: string;
	columnTitle: string;
	values: (number | null)[]; /* row after row; null: not known */
	label: string;
	color: string; /* token of the most: --bad */
	least?: number; /* the colour of the most is for no less than this */
	format: (value: number) => string;
	tell: (row: number, column: number) => string;
	pick: ((row: number, column: number) => void) | null;
}

interface Cell {
	row: number;
	column: number;
}

interface Layout {
	left: number;
	top: number;
	cellWidth: number;
	cellHeight: number;
	width: number;
	height: number;
}

/* Room of labels; cells from 2 px, so that 512 ranks fit on a screen, to what reads well. */
const LEFT = 64;
const TOP = 20;
const CELL_WIDTH = [3, 96] as const;
const CELL_HEIGHT = [2, 24] as const;
const WANTED_HEIGHT = 520;
/* Larger cells have a gap between them. */
const GAP_FROM = 6;
/* A cell of this size has room for its figure. */
const TEXT_WIDTH = 56;
const TEXT_HEIGHT = 16;
/* A cell so far from the background is written on in its colour. */
const FAR = 96;

function clamp(value: number, [least, most]: readonly [number, number]): number {
	return Math.min(most, Math.max(least, value));
}

function layoutOf(rows: number, columns: number, width: number): Layout {
	const cellWidth = clamp(Math.floor((width - LEFT) / Math.max(1, columns)), CELL_WIDTH);
	const cellHeight = clamp(Math.floor(WANTED_HEIGHT / Math.max(1, rows)), CELL_HEIGHT);
	return {
		left: LEFT,
		top: TOP,
		cellWidth,
		cellHeight,
		width: LEFT + columns * cellWidth,
		height: TOP + rows * cellHeight,
	};
}

/* One label in this number of rows or columns is written, so that they do not touch. */
function strideOf(size: number, needed: number): number {
	const least = Math.ceil(needed / size);
	return [1, 2, 5, 10, 20, 50, 100, 200, 500].find((stride) => stride >= least) ?? 1000;
}

function drawLabels(context: CanvasRenderingContext2D, props: HeatMapProps, at: Layout): void {
	context.fillStyle = tokenOf("--soft");
	context.font = `11px ${tokenOf("--font")}`;
	context.textBaseline = "middle";
	context.textAlign = "right";
	const everyRow = strideOf(at.cellHeight, 13);
	for (let i = 0; i < props.rows.length; i += everyRow)
		context.fillText(
			props.rows[i] ?? "",
			at.left - 8,
			at.top + (i + 0.5) * at.cellHeight,
		);
	context.textAlign = "center";
	const everyColumn = strideOf(at.cellWidth, 30);
	for (let i = 0; i < props.columns.length; i += everyColumn)
		context.fillText(
			props.columns[i] ?? "",
			at.left + (i + 0.5) * at.cellWidth,
			at.top / 2,
		);
}

/* How light people see a colour, 0 to 255. */
function lightness([red = 0, green = 0, blue = 0]: number[]): number {
	return 0.299 * red + 0.587 * green + 0.114 * blue;
}

/* Colours from nothing to the most, and whether text on each is written in the background's. */
interface Ramp {
	colors: [number, number, number][];
	bright: boolean[];
}

const LEVELS = 64;

function rampOf(token: string): Ramp {
	const low = rgbOf("--raised");
	const high = rgbOf(token);
	const light = lightness(rgbOf("--back"));
	const colors = Array.from({ length: LEVELS }, (_, level) => {
		const part = level / (LEVELS - 1);
		return low.map((from, k) => Math.round(from + ((high[k] ?? 0) - from) * part));
	}) as [number, number, number][];
	return { colors, bright: colors.map((color) => Math.abs(lightness(color) - light) > FAR) };
}

function levelOf(value: number, most: number): number {
	return most > 0
		? Math.max(0, Math.min(LEVELS - 1, Math.round((value / most) * (LEVELS - 1))))
		: 0;
}

/* Small cells touch: a pixel each in an image that is drawn larger. 512 x 200 of them are quick. */
function drawImage(context: CanvasRenderingContext2D, props: HeatMapProps, at: Layout): void {
	const [columns, rows] = [props.columns.length, props.rows.length];
	const small = document.createElement("canvas");
	[small.width, small.height] = [columns, rows];
	const inner = small.getContext("2d");
	if (!inner) return;
	const image = inner.createImageData(columns, rows);
	const { colors } = rampOf(props.color);
	const unknown = rgbOf("--line");
	const most = mostOf(props);
	for (let i = 0; i < columns * rows; i++) {
		const value = props.values[i] ?? null;
		const color = value === null ? unknown : (colors[levelOf(value, most)] ?? unknown);
		image.data.set(color, i * 4);
		image.data[i * 4 + 3] = 255;
	}
	inner.putImageData(image, 0, 0);
	context.imageSmoothingEnabled = false;
	context.drawImage(small, at.left, at.top, columns * at.cellWidth, rows * at.cellHeight);
}

function drawCells(context: CanvasRenderingContext2D, props: HeatMapProps, at: Layout): void {
	const ramp = rampOf(props.color);
	const most = mostOf(props);
	const columns = props.columns.length;
	const written = at.cellWidth >= TEXT_WIDTH && at.cellHeight >= TEXT_HEIGHT;
	const [back, text, unknown] = [tokenOf("--back"), tokenOf("--text"), tokenOf("--line")];

	context.font = `11px ${tokenOf("--font")}`;
	context.textAlign = "center";
	context.textBaseline = "middle";
	props.values.forEach((value, i) => {
		const x = at.left + (i % columns) * at.cellWidth;
		const y = at.top + Math.floor(i / columns) * at.cellHeight;
		if (value === null) {
			context.fillStyle = unknown;
			context.fillRect(x, y + at.cellHeight / 2 - 0.5, at.cellWidth - 1, 1);
			return;
		}
		const level = levelOf(value, most);
		context.fillStyle = `rgb(${ramp.colors[level]?.join(",")})`;
		context.fillRect(x, y, at.cellWidth - 1, at.cellHeight - 1);
		if (!written || value <= 0) return;
		context.fillStyle = ramp.bright[level] ? back : text;
		context.fillText(props.format(value), x + at.cellWidth / 2, y + at.cellHeight / 2);
	});
}

function mostOf({ values, least = 0 }: HeatMapProps): number {
	return values.reduce<number>(
		(most, value) => (value !== null && value > most ? value : most),
		least,
	);
}

function boxOf(cell: Cell, at: Layout): Record<string, string> {
	return {
		left: `${at.left + cell.column * at.cellWidth - 1}px`,
		top: `${at.top + cell.row * at.cellHeight - 1}px`,
		width: `${at.cellWidth + 1}px`,
		height: `${at.cellHeight + 1}px`,
	};
}

const HINT = "Hover over a cell or use the arrow keys. Grey or a dash means unknown.";

const MOVES: Record<string, [number, number]> = {
	ArrowUp: [-1, 0],
	ArrowDown: [1, 0],
	ArrowLeft: [0, -1],
	ArrowRight: [0, 1],
	PageUp: [-16, 0],
	PageDown: [16, 0],
	Home: [0, -1e9],
	End: [0, 1e9],
};

export function HeatMap(props: HeatMapProps) {
	const [place, width] = useWidth<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const [active, activate] = useState<Cell | null>(null);
	const theme = useTheme();
	const { rows, columns } = props;
	const at = layoutOf(rows.length, columns.length, width);
	const most = useMemo(() => mostOf(props), [props.values, props.least]);

	const draw = (context: CanvasRenderingContext2D) => {
		drawLabels(context, props, at);
		if (Math.min(at.cellWidth, at.cellHeight) > GAP_FROM) drawCells(context, props, at);
		else drawImage(context, props, at);
	};
	useEffect(() => {
		if (!canvas.current || !width) return;
		const context = beginDrawing(canvas.current, at.width, at.height);
		if (context) draw(context);
	}, [props.values, rows, columns, width, theme]);

	function cellAt(event: MouseEvent): Cell | null {
		const column = Math.floor((event.offsetX - at.left) / at.cellWidth);
		const row = Math.floor((event.offsetY - at.top) / at.cellHeight);
		const inside =
			row >= 0 && row < rows.length && column >= 0 && column < columns.length;
		return inside ? { row, column } : null;
	}

	function move(event: KeyboardEvent): void {
		const by = MOVES[event.key];
		if (by) {
			event.preventDefault();
			event.stopPropagation();
			const from = active ?? { row: 0, column: 0 };
			activate({
				row: clamp(from.row + by[0], [0, rows.length - 1]),
				column: clamp(from.column + by[1], [0, columns.length - 1]),
			});
		} else if ((event.key === "Enter" || event.key === " ") && active) {
			event.preventDefault();
			props.pick?.(active.row, active.column);
		}
	}

	return (
		<div class="heat" ref={place}>
			<div class="heat-axes">
				<span>
					{props.rowTitle} ↓ {props.columnTitle} →
				</span>
				<span class="heat-tools">
					<Scale most={most} color={props.color} format={props.format} />
					<SavePicture
						of={() => drawnBy(at.width, at.height, draw)}
						name={props.label}
					/>
				</span>
			</div>
			<p class="heat-hint" aria-live="polite">
				{active ? props.tell(active.row, active.column) : HINT}
			</p>
			<div class="heat-scroll">
				<canvas
					ref={canvas}
					tabIndex={0}
					role="application"
					aria-label={`${props.label}. Arrow keys move, Enter opens.`}
					class={props.pick ? "pickable" : ""}
					onMouseMove={(event) => activate(cellAt(event))}
					onMouseLeave={() => activate(null)}
					onClick={(event) => {
						const cell = cellAt(event);
						if (cell) props.pick?.(cell.row, cell.column);
					}}
					onKeyDown={move}
				/>
				{active ? (
					<div class="heat-active" style={boxOf(active, at)} />
				) : null}
			</div>
		</div>
	);
}

function mixed(color: string, part: number): string {
	return `color-mix(in srgb, var(${color}) ${part * 100}%, var(--raised))`;
}

function Scale(props: { most: number; color: string; format: (value: number) => string }) {
	const stops = [0, 0.25, 0.5, 0.75, 1];
	return (
		<span class="heat-scale">
			{props.format(0)}
			<svg width="100" height="10" aria-hidden="true">
				{stops.map((stop, i) => (
					<rect
						key={stop}
						x={i * 20}
						width="20"
						height="10"
						style={{ fill: mixed(props.color, stop) }}
					/>
				))}
			</svg>
			{props.format(props.most)}
		</span>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bars.tsx - a stacked bar chart, such as steps by activity, as wide as its place. SVG; where there
 * are more bars than room, bands of them (bands.ts).
 */
import { useRef } from "preact/hooks";
import { formatCount, formatNs } from "../core/format";
import { bandsOf, wholeOf } from "./bands";
import { SavePicture } from "./picture";
import { useWidth } from "./surface";
import "./bars.css";

export interface BarKind {
	name: string;
	color: string; /* a name of core/colors.ts */
	hatched?: boolean;
	about?: string;
}

export interface Bar {
	id: string;
	label: string;
	title: string;
	parts: number[]; /* in the order of the kinds */
	/* Drawn faintly: it does not count. */
	faint?: boolean;
	/* Its label is always shown: the first rank of a step. */
	marks?: boolean;
	/* A sign above it, such as an outlier's. */
	sign?: string;
	/* Of a band: its lowest and its highest bar. */
	reach?: { low: number; high: number };
}

interface Props {
	label: string;
	kinds: BarKind[];
	bars: Bar[];
	chosen?: string | null;
	onChoose?: (id: string) => void;
	height?: number;
	/* A line across, such as the median. */
	level?: { value: number; says: string };
}

/* Room for the numbers at the left and the labels below. */
/* Half the width of a letter of a label: none is cut at the right end. */
const HALF_LETTER = 4;
const LEFT = 64;
const BELOW = 20;
const ABOVE = 14;
const WIDEST = 96;

/* A round number of units that gives three to six lines. */
export function tickStep(most: number): number {
	if (most <= 0) return 1;
	const power = 10 ** Math.floor(Math.log10(most / 3));
	const found = [1, 2, 5, 10].find((times) => most / (times * power) <= 6);
	return (found ?? 10) * power;
}

function ticksOf(most: number): number[] {
	const step = tickStep(most);
	return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

function Stack(props: {
	bar: Bar;
	kinds: BarKind[];
	x: number;
	width: number;
	scale: number;
	floor: number;
}) {
	const { bar, kinds, x, width, scale, floor } = props;
	let top = floor;
	return (
		<>
			{bar.parts.map((value, i) => {
				const height = value * scale;
				const kind = kinds[i];
				top -= height;
				if (!kind || height <= 0) return null;
				const shape = { x, y: top, width, height };
				return (
					<g key={kind.name}>
						<rect
							{...shape}
							style={{ fill: `var(--c-${kind.color})` }}
						/>
						{kind.hatched ? (
							<rect {...shape} fill="url(#bars-hatch)" />
						) : null}
					</g>
				);
			})}
		</>
	);
}

export function Legend({ kinds }: { kinds: BarKind[] }) {
	return (
		<ul class="bars-legend">
			{kinds.map((kind) => (
				<li key={kind.name} title={kind.about}>
					<svg width="10" height="10" aria-hidden="true">
						<rect
							width="10"
							height="10"
							rx="2"
							style={{ fill: `var(--c-${kind.color})` }}
						/>
						{kind.hatched ? (
							<rect
								width="10"
								height="10"
								fill="url(#bars-hatch)"
							/>
						) : null}
					</svg>
					{kind.name}
				</li>
			))}
		</ul>
	);
}

function Hatch() {
	return (
		<defs>
			<pattern
				id="bars-hatch"
				width="5"
				height="5"
				patternUnits="userSpaceOnUse"
				patternTransform="rotate(45)"
			>
				<rect width="2" height="5" class="bars-stripe" />
			</pattern>
		</defs>
	);
}

/* Where things stand in the drawing. */
interface Frame {
	width: number;
	height: number;
	floor: number;
	scale: number;
	pitch: number;
	thick: number;
}

function frameOf(width: number, height: number, count: number, most: number): Frame {
	const floor = height - BELOW;
	const pitch = (width - LEFT) / Math.max(1, count);
	return {
		width,
		height,
		floor,
		scale: (floor - ABOVE) / most,
		pitch,
		thick: Math.min(WIDEST, Math.max(1, Math.round(pitch * 0.72))),
	};
}

function Axis({ frame, most }: { frame: Frame; most: number }) {
	return (
		<>
			{ticksOf(most).map((tick) => {
				const y = frame.floor - tick * frame.scale;
				return (
					<g key={tick}>
						<line x1={LEFT} x2={frame.width} y1={y} y2={y} />
						<text x={LEFT - 6} y={y + 4} text-anchor="end">
							{tick ? formatNs(tick) : "0"}
						</text>
					</g>
				);
			})}
		</>
	);
}

function Column(props: {
	bar: Bar;
	kinds: BarKind[];
	at: number;
	frame: Frame;
	labelled: boolean;
	chosen: boolean;
	stop: boolean;
	onChoose: ((id: string) => void) | undefined;
}) {
	const { bar, kinds, frame, onChoose } = props;
	const { pitch, thick, floor, scale, height } = frame;
	const left = LEFT + props.at * pitch;
	const x = left + (pitch - thick) / 2;
	const middle = x + thick / 2;
	const words = ["bar-column"];
	if (bar.faint) words.push("faint");
	if (onChoose) words.push("opens");
	if (props.chosen) words.push("chosen");

	/* One stop of the tab key for all bars; arrows lead to the others. */
	const button = onChoose
		? {
				role: "button" as const,
				tabindex: props.stop ? 0 : -1,
				"aria-label": bar.title,
				"aria-pressed": props.chosen,
				onClick: () => onChoose(bar.id),
			}
		: {};
	return (
		<g class={words.join(" ")} data-bar={bar.id} {...button}>
			<title>{bar.title}</title>
			<rect class="hit" x={left} y={0} width={pitch} height={height} />
			<Stack {...{ bar, kinds, x, width: thick, scale, floor }} />
			{bar.reach ? (
				<line
					class="bar-reach"
					x1={middle}
					x2={middle}
					y1={floor - bar.reach.low * scale}
					y2={floor - bar.reach.high * scale}
				/>
			) : null}
			{bar.sign ? (
				<text
					x={middle}
					y={floor - (bar.reach?.high ?? wholeOf(bar)) * scale - 3}
					text-anchor="middle"
				>
					{bar.sign}
				</text>
			) : null}
			{props.labelled ? (
				<text
					x={Math.min(middle, frame.width - bar.label.length * HALF_LETTER)}
					y={height - 5}
					text-anchor="middle"
				>
					{bar.label}
				</text>
			) : null}
		</g>
	);
}

/* Pixels that a label needs. */
const LABEL = 34;

/* Arrows go from bar to bar, Enter and Space choose. */
function onKey(event: KeyboardEvent): void {
	const bar = (event.target as Element).closest<SVGGElement>(".bar-column.opens");
	if (!bar || event.ctrlKey || event.metaKey || event.altKey) return;
	const next =
		event.key === "ArrowRight"
			? bar.nextElementSibling
			: event.key === "ArrowLeft"
				? bar.previousElementSibling
				: null;
	if (next?.matches(".bar-column")) (next as SVGGElement).focus();
	else if (event.key === "Enter" || event.key === " ")
		bar.dispatchEvent(new MouseEvent("click", { bubbles: true }));
	else if (!event.key.startsWith("Arrow")) return;
	event.preventDefault();
	event.stopPropagation();
}

export function Bars({ label, kinds, bars: all, chosen, onChoose, height = 180, level }: Props) {
	const [box, width] = useWidth<HTMLDivElement>(200, 800);
	const drawing = useRef<SVGSVGElement>(null);
	const bars = bandsOf(all, width - LEFT);
	const least = Math.max(1, level?.value ?? 0);
	const most = all.reduce((high, bar) => Math.max(high, wholeOf(bar)), least);
	const frame = frameOf(width, height, bars.length, most);
	const every = Math.ceil(LABEL / frame.pitch);
	const used = kinds.filter((_, i) => bars.some((bar) => (bar.parts[i] ?? 0) > 0));
	const y = frame.floor - (level?.value ?? 0) * frame.scale;
	const stop = Math.max(
		0,
		bars.findIndex((bar) => bar.id === chosen),
	);

	return (
		<div ref={box} class="bars">
			<svg
				ref={drawing}
				width={width}
				height={height}
				role={onChoose ? "group" : "img"}
				aria-label={label}
				onKeyDown={onKey}
			>
				<Hatch />
				<Axis frame={frame} most={most} />
				{bars.map((bar, i) => (
					<Column
						key={bar.id}
						{...{ bar, kinds, frame, onChoose }}
						at={i}
						labelled={i % every === 0 || (bar.marks ?? false)}
						chosen={chosen === bar.id}
						stop={i === stop}
					/>
				))}
				{level ? (
					<g class="level">
						<title>{level.says}</title>
						<line x1={LEFT} x2={width} y1={y} y2={y} />
					</g>
				) : null}
			</svg>
			{bars.length < all.length ? (
				<p class="soft bars-note">
					{formatCount(all.length)} in {formatCount(bars.length)} bands: each shows
					the one in its middle; the line goes from the lowest to the highest.
				</p>
			) : null}
			<div class="bars-foot">
				{used.length > 1 ? <Legend kinds={used} /> : null}
				<SavePicture of={() => drawing.current} name={label} />
			</div>
		</div>
	);
}

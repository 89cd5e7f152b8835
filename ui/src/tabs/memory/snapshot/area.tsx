/*
 * area.tsx - memory over time, stacked by who holds it: the largest at the bottom.
 * Dragging or the wheel zooms, a double click shows all; keys as on the timeline.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useOpened } from "../../../core/context";
import { formatBytes, formatCount, formatNs, formatPercent } from "../../../core/format";
import { beginDrawing, tokenOf, useTheme, useWidth } from "../../../parts/surface";
import { Failed, Loading } from "../../../parts/state";
import {
	type Area,
	type Axis,
	BEFORE,
	clampWindow,
	placeOf,
	readArea,
	type Series,
	seriesLook,
	ticksOf,
	type Window,
	words,
} from "./model";

const HEIGHT = 280;
const LEFT = 64;
const BOTTOM = 22;
/* Lines of the card beside the pointer. */
const TOLD = 6;

interface Props {
	snapshot: number;
	device: string | null;
	group: string;
	axis: Axis;
	length: number;
	window: Window;
	zoom: (window: Window) => void;
	search: string;
	marks: { event: number; label: string }[];
	choose: (event: number, stack: number) => void;
	label: string;
}

/* The window from the core; the last one stays until the next is there. */
function useArea(props: Props, pixels: number): { area: Area | null; error: string | null } {
	const { client } = useOpened();
	const [state, change] = useState<{ area: Area | null; error: string | null }>({
		area: null,
		error: null,
	});
	const { snapshot, device, group, axis, window } = props;
	useEffect(() => {
		if (pixels < 1) return;
		const stop = new AbortController();
		const asked = { snapshot, device, group, axis, ...window, pixels };
		client.bytes("memory", asked, stop.signal).then(
			(reply) => {
				const area = readArea(reply.bytes);
				if (!stop.signal.aborted)
					change({ area, error: area ? null : "An answer that is none." });
			},
			(error: unknown) => {
				if (!stop.signal.aborted) change({ area: null, error: String(error) });
			},
		);
		return () => stop.abort();
	}, [client, snapshot, device, group, axis, window.from, window.to, pixels]);
	return state;
}

function placeText(axis: Axis, value: number): string {
	return axis === "time" ? formatNs(value) : formatCount(value);
}

function matches(name: string, search: string): boolean {
	return !search || words(name).toLowerCase().includes(search.toLowerCase());
}

function drawSeries(
	context: CanvasRenderingContext2D,
	area: Area,
	width: number,
	top: (bytes: number) => number,
	search: string,
): void {
	const wide = width / area.pixels;
	const below = new Float64Array(area.pixels);
	area.series.forEach((series, index) => {
		const { token, pale } = seriesLook(series.name, index);
		context.fillStyle = tokenOf(token);
		context.globalAlpha = matches(series.name, search) ? (pale ? 0.55 : 0.9) : 0.12;
		context.beginPath();
		for (let i = 0; i < area.pixels; i++) {
			const base = below[i] ?? 0;
			const next = base + (series.parts[i] ?? 0);
			const y = top(next);
			if (next > base) context.rect(LEFT + i * wide, y, wide + 0.3, top(base) - y);
			below[i] = next;
		}
		context.fill();
	});
	context.globalAlpha = 1;
}

function drawReserved(
	context: CanvasRenderingContext2D,
	area: Area,
	width: number,
	top: (bytes: number) => number,
): void {
	context.strokeStyle = tokenOf("--text");
	context.setLineDash([5, 3]);
	context.beginPath();
	let begun = false;
	for (let i = 0; i < area.pixels; i++) {
		const bytes = area.reserved[i] ?? Number.NaN;
		if (Number.isNaN(bytes)) continue;
		const x = LEFT + ((i + 0.5) * width) / area.pixels;
		if (begun) context.lineTo(x, top(bytes));
		else context.moveTo(x, top(bytes));
		begun = true;
	}
	context.stroke();
	context.setLineDash([]);
}

function drawAxes(
	context: CanvasRenderingContext2D,
	props: Props,
	width: number,
	most: number,
	top: (bytes: number) => number,
): void {
	context.font = `11px ${tokenOf("--font")}`;
	context.fillStyle = tokenOf("--soft");
	context.strokeStyle = tokenOf("--line");
	context.textAlign = "right";
	context.textBaseline = "middle";
	for (let i = 0; i <= 4; i++) {
		const y = Math.round(top((most * i) / 4)) + 0.5;
		context.beginPath();
		context.moveTo(LEFT, y);
		context.lineTo(LEFT + width, y);
		context.stroke();
		context.fillText(formatBytes((most * i) / 4), LEFT - 6, Math.max(7, y));
	}
	context.textBaseline = "alphabetic";
	const { from, to } = props.window;
	for (const tick of ticksOf(from, to, Math.max(2, Math.floor(width / 120)))) {
		const x = (width * (tick - from)) / (to - from);
		context.textAlign = x < 30 ? "left" : x > width - 30 ? "right" : "center";
		context.fillText(placeText(props.axis, tick), LEFT + x, HEIGHT - 6);
	}
}

/* Failed allocations and the peak: a line with a word. */
function drawMarks(
	context: CanvasRenderingContext2D,
	props: Props,
	area: Area,
	width: number,
): void {
	props.marks.forEach((mark, index) => {
		const at = placeOf(area, props.axis, mark.event);
		if (at === null) return;
		const x = at * width;
		context.strokeStyle = tokenOf(mark.label === "peak" ? "--path" : "--bad");
		context.fillStyle = context.strokeStyle;
		context.beginPath();
		context.moveTo(LEFT + x, 0);
		context.lineTo(LEFT + x, HEIGHT - BOTTOM);
		context.stroke();
		context.textAlign = x > width / 2 ? "right" : "left";
		/* words of marks that stand together are below each other */
		const y = 11 + 13 * (index % 4);
		context.fillText(mark.label, LEFT + x + (x > width / 2 ? -4 : 4), y);
	});
}

function draw(canvas: HTMLCanvasElement, props: Props, area: Area, full: number): void {
	const context = beginDrawing(canvas, full, HEIGHT);
	if (!context) return;
	const width = full - LEFT;
	let most = 1;
	for (let i = 0; i < area.pixels; i++)
		most = Math.max(most, area.high[i] ?? 0, area.reserved[i] || 0);
	most *= 1.05;
	const top = (bytes: number) => (HEIGHT - BOTTOM) * (1 - bytes / most);
	drawAxes(context, props, width, most, top);
	drawSeries(context, area, width, top, props.search);
	drawReserved(context, area, width, top);
	drawMarks(context, props, area, width);
}

function Card(props: { area: Area; pixel: number; axis: Axis; unit: string }) {
	const { area, pixel, axis, unit } = props;
	const total = area.high[pixel] ?? 0;
	const event = area.event[pixel] ?? BEFORE;
	const reserved = area.reserved[pixel] ?? Number.NaN;
	const at = area.from + ((area.to - area.from) * pixel) / area.pixels;
	const shown = area.series
		.map((series, index) => ({ series, index, bytes: series.parts[pixel] ?? 0 }))
		.filter(({ bytes }) => bytes > 0)
		.sort((a, b) => b.bytes - a.bytes);
	return (
		<div class="area-card">
			<b>{formatBytes(total)}</b> active
			{Number.isNaN(reserved) ? "" : `, ${formatBytes(reserved)} reserved`} ·{" "}
			{event === BEFORE ? "before the first event" : `${unit} ${formatCount(event)}`}
			{axis === "time" ? ` · ${formatNs(at)}` : ""}
			{shown.slice(0, TOLD).map(({ series, index, bytes }) => (
				<div key={index} class="area-row">
					<Swatch name={series.name} index={index} /> {words(series.name)}
					<span class="area-bytes">
						{formatBytes(bytes)} · {formatPercent((100 * bytes) / total)}
					</span>
				</div>
			))}
			{shown.length > TOLD ? (
				<div class="soft">and {shown.length - TOLD} more below</div>
			) : null}
		</div>
	);
}

export function Swatch({ name, index }: { name: string; index: number }) {
	const { token, pale } = seriesLook(name, index);
	return (
		<span
			class="area-swatch"
			style={{ background: `var(${token})`, opacity: pale ? 0.55 : 0.9 }}
		/>
	);
}

/* An entry of the legend; with a stack it leads there. */
function Key(props: { series: Series; index: number; choose: () => void }) {
	const { series, index } = props;
	const most = Number.isNaN(series.most) ? "" : formatBytes(series.most);
	return (
		<button
			type="button"
			class="button quiet"
			title={most ? `${words(series.name)}: at most ${most}` : undefined}
			disabled={!series.stack}
			onClick={props.choose}
		>
			<Swatch name={series.name} index={index} /> {words(series.name)}{" "}
			<span class="soft">{most}</span>
		</button>
	);
}

/* The series under the pointer. */
function seriesAt(area: Area, pixel: number, bytes: number): number {
	let below = 0;
	for (let i = 0; i < area.series.length; i++) {
		below += area.series[i]?.parts[pixel] ?? 0;
		if (bytes < below) return i;
	}
	return -1;
}

export function AreaPlot(props: Props) {
	const [place, full] = useWidth<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const theme = useTheme();
	const width = Math.max(0, full - LEFT);
	const { area, error } = useArea(props, width);
	const [hover, point] = useState<number | null>(null);
	const drag = useRef<number | null>(null);
	const [select, mark] = useState<[number, number] | null>(null);
	const { from, to } = props.window;

	useEffect(() => {
		if (canvas.current && area && full > LEFT) draw(canvas.current, props, area, full);
	}, [area, full, theme, props.search, props.marks, props.window]);

	const xOf = (event: MouseEvent) => {
		const box = canvas.current?.getBoundingClientRect();
		return Math.min(Math.max(0, event.clientX - (box?.left ?? 0) - LEFT), width - 1);
	};
	const go = (next: Window) => props.zoom(clampWindow(next, props.length));
	const scale = (factor: number, at: number) => {
		const center = from + (to - from) * at;
		go({ from: center - (center - from) * factor, to: center + (to - center) * factor });
	};
	const press = (event: KeyboardEvent) => {
		const step = (to - from) / 4;
		const keys: Record<string, () => void> = {
			ArrowLeft: () => go({ from: from - step, to: to - step }),
			ArrowRight: () => go({ from: from + step, to: to + step }),
			"+": () => scale(0.5, 0.5),
			"-": () => scale(2, 0.5),
			w: () => scale(0.5, 0.5),
			s: () => scale(2, 0.5),
			a: () => go({ from: from - step, to: to - step }),
			d: () => go({ from: from + step, to: to + step }),
			Home: () => go({ from: 0, to: props.length }),
		};
		const act = keys[event.key];
		if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		act();
	};
	const leave = () => {
		point(null);
		drag.current = null;
		mark(null);
	};
	const release = (event: MouseEvent) => {
		const x = xOf(event);
		const begun = drag.current;
		leave();
		if (begun === null || !area) return;
		if (Math.abs(x - begun) >= 4) {
			const at = (value: number) => from + ((to - from) * value) / width;
			go({ from: at(Math.min(x, begun)), to: at(Math.max(x, begun)) });
			return;
		}
		const pixel = Math.floor((x * area.pixels) / width);
		const stack = area.series[pickedSeries(event, area, pixel, canvas.current)]?.stack ?? 0;
		props.choose(area.event[pixel] ?? BEFORE, stack);
	};
	if (error) return <Failed error={error} />;
	return (
		<div class="area" ref={place}>
			{area ? null : <Loading what="Drawing …" />}
			<canvas
				ref={canvas}
				tabIndex={0}
				role="img"
				aria-label={props.label}
				onKeyDown={press}
				onMouseMove={(event) => {
					const x = xOf(event);
					point(x);
					if (drag.current !== null) mark([drag.current, x]);
				}}
				onMouseDown={(event) => {
					if (event.button === 0) drag.current = xOf(event);
				}}
				onMouseUp={release}
				onMouseLeave={leave}
				onDblClick={() => go({ from: 0, to: props.length })}
				onWheel={(event) => {
					/* the page scrolls unless the chart was chosen */
					const chosen = document.activeElement === canvas.current;
					if (!chosen && !event.ctrlKey) return;
					event.preventDefault();
					scale(event.deltaY > 0 ? 1.25 : 0.8, xOf(event) / width);
				}}
			/>
			{select ? (
				<div
					class="area-select"
					style={{
						left: `${LEFT + Math.min(...select)}px`,
						width: `${Math.abs(select[1] - select[0])}px`,
					}}
				/>
			) : null}
			{area && hover !== null ? (
				<div
					class={hover > width / 2 ? "area-tip left" : "area-tip"}
					style={{ left: `${LEFT + hover}px` }}
				>
					<Card
						area={area}
						pixel={Math.min(area.pixels - 1, Math.floor((hover * area.pixels) / width))}
						axis={props.axis}
						unit={props.device === null ? "point" : "event"}
					/>
				</div>
			) : null}
			<ul class="area-legend" aria-label="Holders, the largest first">
				{area?.reserved.some((bytes) => !Number.isNaN(bytes)) ? (
					<li class="area-reserved">reserved</li>
				) : null}
				{area?.series.map((series, index) => (
					<li key={index} class={matches(series.name, props.search) ? "" : "off"}>
						<Key
							series={series}
							index={index}
							choose={() => props.choose(BEFORE, series.stack)}
						/>
					</li>
				))}
			</ul>
		</div>
	);
}

function pickedSeries(
	event: MouseEvent,
	area: Area,
	pixel: number,
	canvas: HTMLCanvasElement | null,
): number {
	let most = 1;
	for (let i = 0; i < area.pixels; i++)
		most = Math.max(most, area.high[i] ?? 0, area.reserved[i] || 0);
	const y = event.clientY - (canvas?.getBoundingClientRect().top ?? 0);
	return seriesAt(area, pixel, (1 - y / (HEIGHT - BOTTOM)) * most * 1.05);
}

/*
 * area.tsx - memory over time, stacked by who holds it: the largest at the bottom.
 * Dragging or the wheel zooms, a double click shows all; keys as on the timeline. The pointer
 * tells the stack of what is under it, a click pins it in the drawer.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useOpened } from "../../../core/context";
import { formatBytes, formatCount, formatNs, formatPercent } from "../../../core/format";
import { Failed, Loading } from "../../../parts/state";
import { useTheme, useWidth } from "../../../parts/surface";
import { draw, LEFT, type Mark, matches, seriesAt } from "./drawing";
import { ShortStack, useStack } from "./frames";
import { type Point, useGestures } from "./gestures";
import {
	type Area,
	type Axis,
	BEFORE,
	readArea,
	type Series,
	seriesLook,
	type Window,
	words,
} from "./model";

/* As the core calls the series of blocks without one. */
const NO_STACK = "no stack was recorded";

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
	jump: (to: "peak" | "next" | "previous") => void;
	search: string;
	marks: Mark[];
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

function Card(props: {
	area: Area;
	pixel: number;
	axis: Axis;
	unit: string;
	under: number; /* the series under the pointer; -1: none */
}) {
	const { area, pixel, axis, unit, under } = props;
	const total = area.high[pixel] ?? 0;
	const event = area.event[pixel] ?? BEFORE;
	const reserved = area.reserved[pixel] ?? Number.NaN;
	const at = area.from + ((area.to - area.from) * pixel) / area.pixels;
	const held = area.series
		.map((series, index) => ({ series, index, bytes: series.parts[pixel] ?? 0 }))
		.filter(({ bytes }) => bytes > 0)
		.sort((a, b) => b.bytes - a.bytes);
	/* what is pointed at is told, however small it is */
	const told = held.filter(({ index }, i) => i < TOLD || index === under);
	const more = held.length - told.length;
	return (
		<div class="area-card">
			<b>{formatBytes(total)}</b> active
			{Number.isNaN(reserved) ? "" : `, ${formatBytes(reserved)} reserved`} ·{" "}
			{event === BEFORE ? "before the first event" : `${unit} ${formatCount(event)}`}
			{axis === "time" ? ` · ${formatNs(at)}` : ""}
			{told.map(({ series, index, bytes }) => (
				<div key={index} class={index === under ? "area-row under" : "area-row"}>
					<Swatch name={series.name} index={index} /> {words(series.name)}
					<span class="area-bytes">
						{formatBytes(bytes)} · {formatPercent((100 * bytes) / total)}
					</span>
				</div>
			))}
			{more > 0 ? <div class="soft">and {more} more</div> : null}
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

function Legend({ area, props }: { area: Area | null; props: Props }) {
	return (
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
	);
}

/* The stack behind the series; of a category that of its largest block. */
function Under(props: { series: Series | undefined; plot: Props }) {
	const { series, plot } = props;
	const stack = useStack(plot, series?.stack ?? 0);
	if (series && series.name === NO_STACK)
		return (
			<p class="area-under soft">
				Made before the first event, or recorded without stacks: a larger max_entries
				keeps more.
			</p>
		);
	if (!series?.stack) return null;
	const many = plot.group !== "stack";
	return (
		<div class="area-under">
			<div class="soft">
				{words(series.name)}
				{many ? ": stack of its largest block" : ": stack"}
			</div>
			{stack ? <ShortStack stack={stack} /> : null}
		</div>
	);
}

function hintOf({ device }: Props): string {
	const click = device === null ? "click" : "click for a stack";
	return `Drag to zoom, Shift and drag to pan; ${click}, then the wheel and W A S D work, too.`;
}

/* More is active than what is reserved: sizes or segments were not recorded as they were. */
function isBeyond(area: Area): boolean {
	return area.high.some((bytes, i) => bytes > (area.reserved[i] ?? Number.NaN));
}

const BEYOND =
	" More is active than reserved: these events do not tell when segments came and went.";

function pixelAt(area: Area, x: number, width: number): number {
	return Math.min(area.pixels - 1, Math.floor((x * area.pixels) / width));
}

/* Beside the pointer, on the side where there is room. */
function Tip(props: { area: Area; at: Point; width: number; plot: Props }) {
	const { area, at, width, plot } = props;
	const pixel = pixelAt(area, at.x, width);
	const under = seriesAt(area, pixel, at.y);
	return (
		<div
			class={at.x > width / 2 ? "area-tip left" : "area-tip"}
			style={{ left: `${LEFT + at.x}px` }}
		>
			<Card
				area={area}
				pixel={pixel}
				axis={plot.axis}
				unit={plot.device === null ? "point" : "event"}
				under={under}
			/>
			<Under series={area.series[under]} plot={plot} />
		</div>
	);
}

export function AreaPlot(props: Props) {
	const [place, full] = useWidth<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const theme = useTheme();
	const width = Math.max(0, full - LEFT);
	const { area, error } = useArea(props, width);
	const { hover, select, handlers } = useGestures(canvas, width, props, ({ x, y }) => {
		if (!area) return;
		const pixel = pixelAt(area, x, width);
		const stack = area.series[seriesAt(area, pixel, y)]?.stack ?? 0;
		props.choose(area.event[pixel] ?? BEFORE, stack);
	});

	useEffect(() => {
		if (canvas.current && area && full > LEFT) draw(canvas.current, props, area, full);
	}, [area, full, theme, props.search, props.marks, props.window]);

	if (error) return <Failed error={error} />;
	return (
		<div class="area" ref={place}>
			{area ? null : <Loading what="Drawing …" />}
			<canvas
				ref={canvas}
				tabIndex={0}
				role="img"
				aria-label={props.label}
				{...handlers}
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
				<Tip area={area} at={hover} width={width} plot={props} />
			) : null}
			<Legend area={area} props={props} />
			<p class="soft area-hint">
				{hintOf(props)}
				{area && isBeyond(area) ? BEYOND : ""}
			</p>
		</div>
	);
}

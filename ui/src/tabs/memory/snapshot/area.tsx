/*
 * area.tsx - memory over time, stacked by who holds it: the largest at the bottom.
 * Dragging or the wheel zooms, a double click shows all; keys as on the timeline.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useOpened } from "../../../core/context";
import { formatBytes, formatCount, formatNs, formatPercent } from "../../../core/format";
import { Failed, Loading } from "../../../parts/state";
import { useTheme, useWidth } from "../../../parts/surface";
import { draw, LEFT, matches, seriesAt } from "./drawing";
import { useGestures } from "./gestures";
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

/* Beside the pointer, on the side where there is room. */
function Tip(props: { area: Area; at: number; width: number; plot: Props }) {
	const { area, at, width, plot } = props;
	return (
		<div
			class={at > width / 2 ? "area-tip left" : "area-tip"}
			style={{ left: `${LEFT + at}px` }}
		>
			<Card
				area={area}
				pixel={Math.min(area.pixels - 1, Math.floor((at * area.pixels) / width))}
				axis={plot.axis}
				unit={plot.device === null ? "point" : "event"}
			/>
		</div>
	);
}

export function AreaPlot(props: Props) {
	const [place, full] = useWidth<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const theme = useTheme();
	const width = Math.max(0, full - LEFT);
	const { area, error } = useArea(props, width);
	const { hover, select, handlers } = useGestures(canvas, width, props, (x, y) => {
		if (!area) return;
		const pixel = Math.floor((x * area.pixels) / width);
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
		</div>
	);
}

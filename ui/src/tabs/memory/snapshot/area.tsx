/* SPDX-License-Identifier: Apache-2.0 */
/*
 * area.tsx - memory over time, stacked by holder with the largest at the bottom; or one band per
 * allocation with the earliest at the bottom. Drag or wheel to zoom, double click to show all;
 * keys as on the timeline. Hovering shows a stack, a click pins it in the drawer.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useOpened } from "../../../core/context";
import { formatBytes, formatCount, formatNs, formatPercent } from "../../../core/format";
import { Failed, Loading } from "../../../parts/state";
import { SavePicture } from "../../../parts/picture";
import { beginDrawing, useTheme, useWidth } from "../../../parts/surface";
import { drawnBy } from "../../../parts/vector";
import { BandCard } from "./band-card";
import { type Bands, mostBands, readBands, REST_LOOK, type Under, underAt } from "./bands";
import { bytesAt, draw, drawPointed, HEIGHT, LEFT, type Mark, matches, seriesAt } from "./drawing";
import { ShortStack, useStack } from "./frames";
import { type Jump, type Point, useGestures } from "./gestures";
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
	banded: boolean; /* a band an allocation */
	axis: Axis;
	length: number;
	window: Window;
	zoom: (window: Window) => void;
	jump: (to: Jump) => void;
	search: string;
	marks: Mark[];
	choose: (event: number, stack: number) => void;
	chooseBand: (event: number, bands: Bands, band: number) => void;
	label: string;
}

interface Drawn {
	area: Area | null;
	bands: Bands | null;
	error: string | null;
}

/* The window from the core; the last one stays until the next is there. */
function useArea(props: Props, pixels: number): Drawn {
	const { client } = useOpened();
	const [state, change] = useState<Drawn>({ area: null, bands: null, error: null });
	const { snapshot, device, group, axis, window, banded } = props;
	useEffect(() => {
		if (pixels < 1) return;
		const stop = new AbortController();
		const asked = { snapshot, device, group, axis, ...window, pixels };
		const load = async (): Promise<Drawn> => {
			const [held, laid] = await Promise.all([
				client.bytes("memory", asked, stop.signal),
				banded
					? client.bytes("bands", { ...asked, most: mostBands(pixels) }, stop.signal)
					: null,
			]);
			const area = readArea(held.bytes);
			const bands = laid ? readBands(laid.bytes) : null;
			const whole = area && (bands || !banded);
			return whole
				? { area, bands, error: null }
				: { area: null, bands: null, error: "The answer has an unknown format." };
		};
		load()
			.catch((error: unknown) => ({ area: null, bands: null, error: String(error) }))
			.then((drawn) => {
				if (!stop.signal.aborted) change(drawn);
			});
		return () => stop.abort();
	}, [client, snapshot, device, group, banded, axis, window.from, window.to, pixels]);
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
	/* what the pointer is on is named, however small it is */
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
			title={most ? `${words(series.name)}: peak ${most}` : undefined}
			disabled={!series.stack}
			onClick={props.choose}
		>
			<Swatch name={series.name} index={index} /> {words(series.name)}{" "}
			<span class="soft">{most}</span>
		</button>
	);
}

/* In a picture of bands: what they leave over. */
function RestKeys({ bands }: { bands: Bands }) {
	const rests = [
		{ text: "smaller allocations", bytes: bands.smaller },
		{ text: "unknown blocks", bytes: bands.loose },
	];
	return (
		<>
			{rests
				.filter(({ bytes }) => bytes.some((amount) => amount > 0))
				.map(({ text }) => (
					<li key={text} class="map-kind">
						<span
							class="area-swatch"
							style={{
								background: `var(${REST_LOOK.token})`,
								opacity: REST_LOOK.alpha,
							}}
						/>{" "}
						{text}
					</li>
				))}
		</>
	);
}

function Legend(legend: { area: Area | null; bands: Bands | null; props: Props }) {
	const { area, bands, props } = legend;
	return (
		<ul class="area-legend" aria-label="Holders, largest first">
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
			{bands ? <RestKeys bands={bands} /> : null}
		</ul>
	);
}

/* The stack behind the series; of a category that of its largest block. */
function Behind(props: { series: Series | undefined; plot: Props }) {
	const { series, plot } = props;
	const stack = useStack(plot, series?.stack ?? 0);
	if (series && series.name === NO_STACK)
		return (
			<p class="area-under soft">
				Allocated before the first event, or recorded without stacks. A larger max_entries
				keeps more events.
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

function hintOf({ device, banded }: Props): string {
	const stack = banded ? "Click to select an allocation" : "Click to select a stack";
	const click = device === null ? "Click" : stack;
	return `Drag to zoom, Shift+drag to pan. ${click}; then the wheel and W A S D also work.`;
}

/* More is active than what is reserved: sizes or segments were not recorded as they were. */
function isBeyond(area: Area): boolean {
	return area.high.some((bytes, i) => bytes > (area.reserved[i] ?? Number.NaN));
}

const BEYOND =
	" More is active than reserved: these events do not show when segments were reserved.";

function pixelAt(area: Area, x: number, width: number): number {
	return Math.min(area.pixels - 1, Math.floor((x * area.pixels) / width));
}

/* Beside the pointer, on the side where there is room. */
function Tip(props: { drawn: Drawn; area: Area; at: Point; width: number; plot: Props }) {
	const { drawn, area, at, width, plot } = props;
	const pixel = pixelAt(area, at.x, width);
	const under = seriesAt(area, pixel, at.y);
	const unit = plot.device === null ? "point" : "event";
	return (
		<div
			class={at.x > width / 2 ? "area-tip left" : "area-tip"}
			style={{ left: `${LEFT + at.x}px` }}
		>
			{drawn.bands ? (
				<BandCard
					bands={drawn.bands}
					area={area}
					pixel={pixel}
					under={underAt(drawn.bands, pixel, bytesAt(area, at.y))}
					device={plot}
				/>
			) : (
				<>
					<Card area={area} pixel={pixel} axis={plot.axis} unit={unit} under={under} />
					<Behind series={area.series[under]} plot={plot} />
				</>
			)}
		</div>
	);
}

/* The band at a place of the picture. */
function bandAt({ area, bands }: Drawn, at: Point | null, width: number): number | null {
	if (!area || !bands || !at) return null;
	const under: Under | null = underAt(bands, pixelAt(area, at.x, width), bytesAt(area, at.y));
	return under?.what === "band" ? under.band : null;
}

/* What a drag chooses. */
export function Selected({ pixels }: { pixels: [number, number] | null }) {
	if (!pixels) return null;
	const left = LEFT + Math.min(...pixels);
	const width = Math.abs(pixels[1] - pixels[0]);
	return <div class="area-select" style={{ left: `${left}px`, width: `${width}px` }} />;
}

export function AreaPlot(props: Props) {
	const [place, full] = useWidth<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const above = useRef<HTMLCanvasElement>(null);
	const theme = useTheme();
	const width = Math.max(0, full - LEFT);
	const drawn = useArea(props, width);
	const { area, bands, error } = drawn;
	const { hover, select, handlers } = useGestures(canvas, width, props, (at) => {
		if (!area) return;
		const pixel = pixelAt(area, at.x, width);
		const event = area.event[pixel] ?? BEFORE;
		const band = bandAt(drawn, at, width);
		if (bands && band !== null) props.chooseBand(event, bands, band);
		else
			props.choose(
				event,
				bands ? 0 : (area.series[seriesAt(area, pixel, at.y)]?.stack ?? 0),
			);
	});
	const band = bandAt(drawn, hover, width);

	useEffect(() => {
		if (!canvas.current || !area || full <= LEFT) return;
		const context = beginDrawing(canvas.current, full, HEIGHT);
		if (context) draw(context, props, { area, bands }, full);
	}, [area, bands, full, theme, props.search, props.marks, props.window]);
	useEffect(() => {
		if (above.current && area && bands && full > LEFT)
			drawPointed(above.current, area, bands, band, full);
	}, [area, bands, band, full, theme]);

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
			{bands ? (
				// biome-ignore lint/a11y/noAriaHiddenOnFocusable: it has no tabindex
				<canvas ref={above} class="area-above" aria-hidden="true" />
			) : null}
			<Selected pixels={select} />
			{area && hover !== null ? (
				<Tip drawn={drawn} area={area} at={hover} width={width} plot={props} />
			) : null}
			<Legend area={area} bands={bands} props={props} />
			<p class="soft area-hint">
				{hintOf(props)}
				{area && isBeyond(area) ? BEYOND : ""}{" "}
				{area ? (
					<SavePicture
						of={() =>
							drawnBy(full, HEIGHT, (context) =>
								draw(context, props, { area, bands }, full),
							)
						}
						name={props.label}
					/>
				) : null}
			</p>
		</div>
	);
}

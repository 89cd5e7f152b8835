/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.ts - the core's answers about snapshots: areas, segments with blocks, stacks.
 */
import type { Block, BlocksAnswer, Segment, SnapshotDevice } from "../../../core/types";
import { formatCount } from "../../../core/format";
import { Columns, HEAD_BYTES } from "./columns";

export type Axis = "event" | "time";

export interface Window {
	from: number;
	to: number;
}

export interface Series {
	name: string;
	most: number; /* at any moment; NaN of the rest */
	stack: number;
	parts: Float64Array; /* of high, one a pixel */
}

export interface Area {
	pixels: number;
	from: number;
	to: number;
	high: Float64Array;
	low: Float64Array;
	reserved: Float64Array; /* NaN: not known */
	event: Uint32Array; /* whose state is shown; BEFORE: that before the first one */
	series: Series[];
}

export const BEFORE = 0xffffffff;

const MAGIC = 0x314d5353;

/* The answer of the route memory; null where it is none. */
export function readArea(bytes: ArrayBuffer): Area | null {
	const view = new DataView(bytes);
	if (bytes.byteLength < HEAD_BYTES || view.getUint32(0, true) !== MAGIC) return null;
	const pixels = view.getUint32(4, true);
	const count = view.getUint32(8, true);
	const read = new Columns(bytes);
	const [high, low] = [read.doubles(pixels), read.doubles(pixels)];
	const reserved = read.doubles(pixels);
	const parts = Array.from({ length: count }, () => read.doubles(pixels));
	const most = read.doubles(count);
	const event = read.numbers(pixels);
	const stacks = read.numbers(count);
	const starts = read.numbers(count + 1);
	const words = new TextDecoder();
	const series = parts.map((values, i) => ({
		name: words.decode(
			new Uint8Array(
				bytes,
				read.at + (starts[i] ?? 0),
				(starts[i + 1] ?? 0) - (starts[i] ?? 0),
			),
		),
		most: most[i] ?? Number.NaN,
		stack: stacks[i] ?? 0,
		parts: values,
	}));
	const from = view.getFloat64(16, true);
	return { pixels, from, to: view.getFloat64(24, true), high, low, reserved, event, series };
}

/* The block that begins at an address. */
export function findBlock(blocks: BlocksAnswer, address: string): [Segment, Block] | null {
	const at = BigInt(address);
	for (const segment of blocks.segments) {
		const offset = at - BigInt(segment.address);
		if (offset < 0n || offset >= BigInt(segment.bytes)) continue;
		const block = segment.blocks.find((one) => BigInt(one[0]) === offset);
		if (block) return [segment, block];
	}
	return null;
}

export function addressOf(segment: Segment, block: Block): string {
	return `0x${(BigInt(segment.address) + BigInt(block[0])).toString(16)}`;
}

/* What a block is for; of a free one that it is. */
export function stateWords([, , state, category]: Block): string {
	if (state === "free") return "free";
	if (state === "pending") return "freed, still used by a stream";
	return words(category ?? "unknown");
}

/* One colour a category, the same in the curve and in the map of blocks. */
const CATEGORIES: Record<string, string> = {
	parameter: "--c-compute",
	optimizer_state: "--c-optimizer",
	gradient: "--c-communication",
	activation: "--c-copy",
	temporary: "--c-runtime",
	input: "--c-input",
	autograd_detail: "--c-operator",
	unknown: "--c-other",
};

const LINES = [
	"--c-compute",
	"--c-communication",
	"--c-copy",
	"--c-optimizer",
	"--c-runtime",
	"--c-input",
	"--c-operator",
	"--c-idle",
];

export const REST = "everything else";

export function categoryToken(category: string | null): string {
	return CATEGORIES[category ?? "unknown"] ?? "--c-other";
}

/* The token of a series, and whether it is the second one with this colour. */
export function seriesLook(name: string, index: number): { token: string; pale: boolean } {
	const category = CATEGORIES[name];
	if (category) return { token: category, pale: false };
	if (name === REST) return { token: "--c-range", pale: true };
	return {
		token: LINES[index % LINES.length] ?? "--c-other",
		pale: index >= LINES.length,
	};
}

/* "1 block", "2,345 blocks" */
export function countOf(count: number, what: string): string {
	return `${formatCount(count)} ${what}${count === 1 ? "" : "s"}`;
}

/* Categories as people say them; lines stay what they are. */
export function words(name: string): string {
	return CATEGORIES[name] ? name.replaceAll("_", " ") : name;
}

/* Where a mark stands in the window, from 0 to 1; null: outside of it. */
export function placeOf(area: Area, axis: Axis, event: number): number | null {
	if (axis === "event") {
		const at = (event + 0.5 - area.from) / (area.to - area.from);
		return at >= 0 && at <= 1 ? at : null;
	}
	/* states of pixels only go on; the one before the first event is no number */
	const state = (pixel: number) => {
		const found = area.event[pixel] ?? BEFORE;
		return found === BEFORE ? -1 : found;
	};
	if (event < state(0) || event > state(area.pixels - 1)) return null;
	let pixel = 0;
	while (pixel < area.pixels - 1 && state(pixel) < event) pixel++;
	return (pixel + 0.5) / area.pixels;
}

/* Round numbers inside of a window, at most this number of them. */
export function ticksOf(from: number, to: number, most: number): number[] {
	const raw = Math.max((to - from) / most, 1);
	const power = 10 ** Math.floor(Math.log10(raw));
	const step = power * ([1, 2, 5, 10].find((one) => one * power >= raw) ?? 10);
	const ticks: number[] = [];
	for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
	return ticks;
}

/* How long the axis is: events, or ns where times were recorded. */
export function axisLength(
	device: SnapshotDevice | null,
	points: number,
	axis: Axis,
): number {
	if (axis === "time" && device?.span_ns) return device.span_ns + 1;
	return device ? device.events : points;
}

/* A window of the same width, or narrower, that lies inside of the axis. */
export function clampWindow(window: Window, length: number): Window {
	const width = Math.min(Math.max(Math.round(window.to - window.from), 8), length);
	const from = Math.min(Math.max(0, Math.round(window.from)), length - width);
	return { from, to: from + width };
}

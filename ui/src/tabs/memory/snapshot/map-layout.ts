/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map-layout.ts - where blocks are drawn: one row per segment, or all segments one after
 * another, wrapped like text, so that all memory is visible at once.
 */
import type { BlocksAnswer } from "../../../core/types";
import { formatBytes } from "../../../core/format";

export const ROW = 14;
const GAP = 3;
export const PITCH = ROW + GAP;
export const LEFT = 72;

/* Between two segments that stand in one row: less where there are many, so that what is seen
 * is memory; and the least width of one. */
const BETWEEN = 4;
const MANY = 300;
const LEAST = 1;

/* Pixels of the canvas that are not scrolled. */
export interface Piece {
	x: number;
	row: number;
	width: number;
}

/* A block, by its numbers. */
export interface Spot {
	segment: number;
	block: number;
}

export interface Layout {
	rows: number;
	/* What stands before a row. */
	label: (row: number) => string;
	/* Bytes of a segment; several pieces where they go over the end of a row. */
	pieces: (segment: number, from: number, to: number) => Piece[];
	/* The segments that a row has something of: from the first up to the last. */
	within: (row: number) => [first: number, last: number];
	/* The segment at a place, and the byte of it. */
	at: (row: number, x: number) => { segment: number; byte: number } | null;
}

/* The last of ascending numbers that is not above it; -1: all are. */
function lastUpTo(numbers: Float64Array, value: number): number {
	let [low, high] = [0, numbers.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((numbers[middle] ?? 0) <= value) low = middle + 1;
		else high = middle;
	}
	return low - 1;
}

/* One row per segment, all to one scale. */
export function rowsLayout({ segments }: BlocksAnswer, width: number): Layout {
	const largest = segments.reduce((most, one) => Math.max(most, one.bytes), 1);
	const scale = Math.max(0, width - LEFT - 4) / largest;
	return {
		rows: segments.length,
		label: (row) => formatBytes(segments[row]?.bytes ?? 0),
		pieces: (segment, from, to) => [
			{ x: LEFT + from * scale, row: segment, width: Math.max(0.5, (to - from) * scale) },
		],
		within: (row) => [row, row],
		at: (row, x) => {
			const byte = (x - LEFT) / scale;
			const bytes = segments[row]?.bytes ?? -1;
			return x >= LEFT && byte <= bytes ? { segment: row, byte } : null;
		},
	};
}

/* All in this number of rows; in more where segments would be too small to see. */
export function joinedLayout({ segments }: BlocksAnswer, width: number, least: number): Layout {
	const line = Math.max(1, width - LEFT - 4);
	const total = segments.reduce((sum, one) => sum + one.bytes, 0) || 1;
	const between = segments.length > MANY ? 1 : BETWEEN;
	const lost = segments.length * (between + LEAST);
	const rows = Math.max(least, Math.ceil((2 * lost) / line));
	const scale = (rows * line - lost) / total;
	const starts = new Float64Array(segments.length);
	const before = new Float64Array(segments.length);
	let [at, bytes] = [0, 0];
	segments.forEach((one, i) => {
		starts[i] = at;
		before[i] = bytes;
		at += Math.max(LEAST, one.bytes * scale) + between;
		bytes += one.bytes;
	});
	const find = (place: number) => {
		const segment = lastUpTo(starts, place);
		return { segment, byte: (place - (starts[segment] ?? 0)) / scale };
	};
	const end = at;
	return {
		rows: Math.max(1, Math.ceil(end / line)),
		label: (row) => {
			const { segment, byte } = find(row * line);
			const inside = Math.min(byte, segments[segment]?.bytes ?? 0);
			return formatBytes(Math.round((before[segment] ?? 0) + inside));
		},
		pieces: (segment, from, to) => {
			const found: Piece[] = [];
			const start = starts[segment] ?? 0;
			const last = start + Math.max(LEAST, to * scale);
			let place = start + from * scale;
			for (let row = Math.floor(place / line); place < last; row++) {
				const stop = Math.min(last, (row + 1) * line);
				found.push({ x: LEFT + place - row * line, row, width: stop - place });
				place = stop;
			}
			return found;
		},
		within: (row) => [
			Math.max(0, lastUpTo(starts, row * line)),
			lastUpTo(starts, (row + 1) * line),
		],
		at: (row, x) => {
			if (x < LEFT || x > LEFT + line) return null;
			const { segment, byte } = find(row * line + x - LEFT);
			return byte <= (segments[segment]?.bytes ?? -1) ? { segment, byte } : null;
		},
	};
}

/* The block that an arrow leads to: beside it, or nearest in the next segment. */
export function spotBeside(
	{ segments }: BlocksAnswer,
	spot: Spot | null,
	key: string,
): Spot | null {
	const way: Record<string, [segments: number, blocks: number]> = {
		ArrowLeft: [0, -1],
		ArrowRight: [0, 1],
		ArrowUp: [-1, 0],
		ArrowDown: [1, 0],
	};
	const [up, side] = way[key] ?? [0, 0];
	if (!up && !side) return null;
	if (!spot) return segments[0]?.blocks.length ? { segment: 0, block: 0 } : null;
	const segment = segments[spot.segment];
	const block = spot.block + side;
	if (!up) return segment?.blocks[block] ? { segment: spot.segment, block } : spot;
	const next = segments[spot.segment + up];
	if (!next?.blocks.length) return spot;
	const offset = segment?.blocks[spot.block]?.[0] ?? 0;
	const found = next.blocks.findLastIndex((one) => one[0] <= offset);
	return { segment: spot.segment + up, block: Math.max(0, found) };
}

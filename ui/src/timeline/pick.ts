/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.ts - finds what is under the pointer.
 */
import type { Sheet } from "./decode";
import { NO_CAUSE, NO_LABEL } from "./decode";
import type { FlagBox } from "./draw/overlay";
import { firstAfter, shownLanes } from "./draw/slices";
import { laneAt, type Row, rowAt } from "./model";
import type { TrackSheet } from "./sheets";
import type { Stage } from "./stage";

export interface Entry {
	sheet: Sheet;
	index: number;
}

export interface Hover {
	x: number;
	y: number;
	ns: number;
	row: Row;
	pinned: boolean; /* in the zone of the pinned rows */
	lane: number;
	entry: Entry | null;
	flag: FlagBox | null;
}

const PYTHON = 5;

/* A slice of one pixel is hit from this number of pixels away. */
const NEAR = 4;

export function labelOf({ sheet, index }: Entry): string | null {
	const label = sheet.label[index] ?? NO_LABEL;
	return label === NO_LABEL ? null : (sheet.labels[label] ?? null);
}

export function isGap({ sheet, index }: Entry): boolean {
	return sheet.cause[index] !== NO_CAUSE;
}

/* The entry at a moment; else the nearest one that is near enough. */
export function entryAt(
	row: Row,
	held: TrackSheet,
	lane: number,
	ns: number,
	near: number,
): Entry | null {
	const { sheet } = held;
	const [lanes, order] = shownLanes(row, held);
	const own = lanes.find((one) => one.lane === lane);
	if (!own) return null;
	const at = firstAfter(sheet, own, ns, order);
	let best = -1;
	let distance = near;
	for (const place of [at, at - 1]) {
		if (place < own.begin || place >= own.end) continue;
		const index = order ? (order[place] ?? 0) : place;
		const start = sheet.start[index] ?? 0;
		const end = start + (sheet.dur[index] ?? 0);
		const away = ns < start ? start - ns : ns > end ? ns - end : 0;
		if (best < 0 ? away <= distance : away < distance) {
			best = index;
			distance = away;
		}
	}
	return best < 0 ? null : { sheet, index: best };
}

/* The lane that a row shows of a slice: without Python frames around it where they are
 * hidden; -1: it is one of them. */
export function shownLane(
	row: Row,
	held: TrackSheet | null | undefined,
	lane: number,
	ns: number,
): number {
	if (!row.plain || !held?.plain) return lane;
	const own = held.lanes.find((one) => one.lane === lane);
	if (!own) return Math.min(lane, row.lanes - 1);
	const entry = Math.min(firstAfter(held.sheet, own, ns, null), own.end - 1);
	if (held.sheet.color[entry] === PYTHON && held.sheet.count[entry] === 1) return -1;
	return held.plain.depths[entry - held.plain.base] ?? 0;
}

export function pick(stage: Stage, x: number, y: number): Hover | null {
	if (y < stage.top) return null;
	const pinned = y < stage.rowsTop;
	const { sticky, layout } = stage;
	const flag =
		stage.flagBoxes.find(
			(one) =>
				x >= one.x &&
				x < one.x + one.width &&
				y >= one.y &&
				y < one.y + one.height,
		) ?? null;
	const top = pinned ? stage.top : stage.shift;
	const stuck = sticky && !pinned && y - top < sticky.y + sticky.height ? sticky : null;
	const row = stuck ?? rowAt(pinned ? layout.pinned : layout.rows, y - top);
	if (!row) return null;
	const ns = stage.nsOf(x);
	const lane = row.kind === "track" ? laneAt(row, y - top) : 0;
	const kept = row.kind === "track" ? stage.supply.tiles.of(row.key) : undefined;
	const near = (NEAR * (stage.span.to - stage.span.from)) / stage.width;
	const held = kept?.now && ns >= kept.now.from && ns <= kept.now.to ? kept.now : kept?.base;
	const entry =
		held && lane >= 0 && lane < row.lanes ? entryAt(row, held, lane, ns, near) : null;
	return { x, y, ns, row, pinned, lane, entry, flag };
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.ts - which ranks are open and which rows are folded, so that everything a jump leads to
 * is visible at once.
 */
import type { Job } from "../core/client";
import type { Spotted } from "./draw/overlay";
import type { Jumped } from "./jump";
import type { Look } from "./look";
import { foldRow, GROUP, LANE_OF_STREAM, laneTop, PAD, type Row, trackKey } from "./model";

/* Of a rank: one strip, the rows that a jump needs, or all rows. */
export type Way = "strip" | "some" | "all";

/* In `deep`: the rows that a jump folded are shown. */
export function foldKey(file: number): string {
	return `${file}.fold`;
}

export function isFoldKey(key: string): boolean {
	return key.endsWith(".fold");
}

/* How high the rank of a member is: its name, and its row down to the member. */
function memberHeight(jumped: Jumped, file: number): number {
	const lane = jumped.files.get(file)?.[0]?.lane ?? 0;
	return GROUP + (lane + 1) * LANE_OF_STREAM + 2 * PAD;
}

/* Members whose row is shown: as many as fit beside the strips of the others, two at least. */
function membersShown(jumped: Jumped, job: Job, viewport: number, strip: number): Set<number> {
	const shown = new Set<number>();
	let left = viewport - job.files.length * strip;
	for (const file of jumped.order ?? []) {
		left -= memberHeight(jumped, file) - strip;
		if (left < 0 && shown.size >= 2) break;
		shown.add(file);
	}
	return shown;
}

export function openWays(
	job: Job,
	look: Look,
	jumped: Jumped | null,
	viewport: number,
	strip: number,
): (file: number) => Way {
	const isOpen = (file: number) => look.open.has(file);
	if (!jumped) return (file) => (isOpen(file) ? "all" : "strip");
	if (!jumped.order)
		return (file) => (isOpen(file) || jumped.files.has(file) ? "all" : "strip");
	const shown = membersShown(jumped, job, viewport, strip);
	return (file) => {
		if (!jumped.files.has(file) || look.deep.has(foldKey(file)))
			return isOpen(file) ? "all" : "strip";
		return shown.has(file) || isOpen(file) ? "some" : "strip";
	};
}

/* The row down to a lane; deeper ones are hidden. */
export function cut(row: Row, lanes: number): Row {
	if (lanes >= row.lanes) return row;
	const less = row.lanes - lanes;
	return { ...row, lanes, hidden: row.hidden + less, height: row.height - less * row.lane };
}

/* Folds the rows between those that a jump needs, where they are too far apart to be seen at
 * once; of a deep row that is higher than the window what is below the call is cut off. */
export function foldBetween(
	rows: Row[],
	spots: Spotted[],
	look: Look,
	viewport: number,
): Row[] {
	const wanted = new Map(spots.map((spot) => [trackKey(spot.file, spot.track), spot]));
	const first = rows.findIndex((row) => wanted.has(row.key));
	const last = rows.findLastIndex((row) => wanted.has(row.key));
	const file = rows[first]?.file;
	if (first === last || file === undefined) return rows;
	const room = viewport - GROUP;
	/* from the slice in the first row, not from the top of the row */
	const begin = rows[first];
	const lane = begin ? Math.min(wanted.get(begin.key)?.lane ?? 0, begin.lanes - 1) : 0;
	const above = begin && !begin.plain ? laneTop({ ...begin, y: 0 }, lane) : 0;
	const height = rows.slice(first, last + 1).reduce((sum, row) => sum + row.height, 0);
	const open = look.deep.has(foldKey(file));
	if (height - above <= room && !open) return rows;
	const between = rows.slice(first + 1, last);
	const folded = between.filter((row) => !wanted.has(row.key));
	const kept = open ? between : between.filter((row) => wanted.has(row.key));
	const shorten = (row: Row) => {
		const spot = wanted.get(row.key);
		const isHigh = spot && !row.plain && !open && row.height > room / 2;
		return isHigh ? cut(row, spot.lane + 2) : row;
	};
	return [
		...rows.slice(0, first),
		...rows.slice(first, first + 1).map(shorten),
		...(folded.length ? [foldRow(file, folded, open)] : []),
		...kept.map(shorten),
		...rows.slice(last),
	];
}

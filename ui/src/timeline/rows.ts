/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.ts - the rows of a range: those that a drag covers, and how the address and requests name
 * them: 0-3-9_2 means tracks 3 and 9 of file 0, and all of file 2.
 */
import type { Job } from "../core/client";
import type { Layout, Row } from "./model";

/* Tracks by file; none: all of the file. */
export type Rows = Map<number, number[]>;

export function readRows(text: string): Rows {
	const rows: Rows = new Map();
	for (const group of text.split("_")) {
		const [file = -1, ...tracks] = group.split("-").map(Number);
		rows.set(file, tracks);
	}
	return rows;
}

export function writeRows(rows: Rows): string {
	return [...rows]
		.sort(([a], [b]) => a - b)
		.map(([file, tracks]) => [file, ...tracks.toSorted((a, b) => a - b)].join("-"))
		.join("_");
}

/* The folded strip of a rank stands for all of it, and so does the ribbon of its steps where
 * none of its rows is meant. */
function collect(over: Row[], job: Job): Rows {
	const rows: Rows = new Map();
	for (const { file, track } of over) {
		if (!track || job.files[file]?.problem !== null) continue;
		const tracks = rows.get(file) ?? [];
		if (!tracks.includes(track.track)) tracks.push(track.track);
		rows.set(file, tracks);
	}
	for (const { file, kind } of over)
		if (kind === "group" && !rows.has(file) && job.files[file]?.problem === null)
			rows.set(file, []);
	return rows;
}

/* Where the zones of the rows lie on the canvas. */
interface Zones {
	layout: Layout;
	top: number;
	rowsTop: number; /* below the pinned rows */
	shift: number;
}

/* The rows between two heights of the canvas. */
function rowsOver({ layout, top, rowsTop, shift }: Zones, from: number, to: number): Row[] {
	const between = (rows: Row[], by: number, least: number, most: number) =>
		rows.filter((row) => {
			const begin = Math.max(row.y + by, least);
			const end = Math.min(row.y + row.height + by, most);
			return begin < end && begin <= to && end > from;
		});
	return [
		...between(layout.pinned, top, top, rowsTop),
		...between(layout.rows, shift, rowsTop, Infinity),
	];
}

/* The text of the rows that a drag went over; undefined: over none, or over all ranks whole. */
export function draggedRows(zones: Zones, job: Job, a: number, b: number): string | undefined {
	const rows = collect(rowsOver(zones, Math.min(a, b), Math.max(a, b)), job);
	const readable = job.files.filter((file) => file.problem === null).length;
	const whole = [...rows.values()].every((tracks) => tracks.length === 0);
	if (!rows.size || (whole && rows.size === readable)) return undefined;
	return writeRows(rows);
}

/* Whether a row of the timeline is one of them. */
export function hasRow(rows: Rows, { file, kind, track, open }: Row): boolean {
	const tracks = rows.get(file);
	if (!tracks) return false;
	if (kind === "group") return !open || !tracks.length;
	return !tracks.length || (track !== null && tracks.includes(track.track));
}

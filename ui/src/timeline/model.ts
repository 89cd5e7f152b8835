/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.ts - the rows of the timeline: which exist, their heights and positions.
 */
import type { Job } from "../core/client";
import type { CurveOffer, JobFile, Track, TracksAnswer } from "../core/types";
import type { Spotted } from "./draw/overlay";
import { cut, foldBetween, foldKey, openWays, type Way } from "./fold";
import type { Jumped } from "./jump";
import type { Look } from "./look";
import type { Depth } from "./sheets";

export interface Row {
	key: string;
	kind: "group" | "track" | "curve" | "note" | "others";
	file: number;
	y: number; /* from the top of its zone */
	height: number;
	title: string;
	about: string;
	track: Track | null;
	curve: CurveOffer | null;
	lanes: number; /* shown */
	hidden: number; /* lanes that are not */
	lane: number; /* height of one */
	plain: boolean; /* without Python frames */
	open: boolean; /* a group whose rows are shown */
	some: boolean; /* but only those that a jump needs */
	pinned: boolean;
}

export interface Layout {
	rows: Row[];
	height: number;
	pinned: Row[];
	pinnedHeight: number;
	groups: Row[];
	find: Map<string, Row>; /* by key; rows of the scrolled zone */
}

export const GROUP = 26;
const NOTE = 28; /* room for a button of 24 px */
const CURVE = 40;
export const PAD = 3; /* above and below the lanes of a row */
const LANE_OF_THREAD = 16;
export const LANE_OF_STREAM = 18;
const LANE_OF_IDLE = 14;

/* Operators nest this deep; Python frames, 30 deep and more, are hidden at first. Rows have
 * this height before anything of them is known, so that they do not move. */
const LANES_AT_FIRST = 8;

/* A folded rank is as high as the others leave it, so that all can be seen at once. */
const STRIP_MOST = 25;

/* High strips show an area, low ones its colour alone. */
const AREA_LEAST = 10;
export const AREA_ROWS = 12;

export function paintedRows(height: number): number {
	return height >= AREA_LEAST ? AREA_ROWS : 1;
}

export function trackKey(file: number, track: number): string {
	return `${file}.${track}`;
}

function curveKey(file: number, curve: CurveOffer): string {
	return `${file}.${curve.curve}.${curve.device ?? ""}.${curve.name.replaceAll(",", " ")}`;
}

export function rankTitle(file: JobFile): string {
	return file.rank === null ? (file.path.split("/").pop() ?? file.path) : `rank ${file.rank}`;
}

export function rowCentre(row: Row, lane: number): number {
	if (row.kind !== "track") return row.y + row.height / 2;
	return row.y + PAD + (Math.min(lane, row.lanes - 1) + 0.5) * row.lane;
}

export function laneTop(row: Row, lane: number): number {
	return row.y + PAD + lane * row.lane;
}

export function laneAt(row: Row, y: number): number {
	return Math.floor((y - row.y - PAD) / row.lane);
}

function laneHeight(track: Track): number {
	if (track.kind === "idle") return LANE_OF_IDLE;
	return track.device === null ? LANE_OF_THREAD : LANE_OF_STREAM;
}

/* Room below the name of a low row for the words that open it. */
const MORE = 14;

/* More threads than these rarely matter; they are one click away. */
const THREADS_AT_FIRST = 4;

type Depths = Map<string, Depth>;

const PLAIN = {
	track: null,
	curve: null,
	lanes: 0,
	hidden: 0,
	lane: 0,
	plain: false,
	open: false,
	some: false,
	pinned: false,
};

function trackRow(file: number, track: Track, look: Look, depths: Depths): Row {
	const key = trackKey(file, track.track);
	const all = look.allDeep || look.deep.has(key);
	const plain = !all && track.device === null;
	const depth = depths.get(key);
	const first = plain && depth?.onlyFrames ? 1 : LANES_AT_FIRST;
	const lanes = Math.max(1, all ? track.lanes : Math.min(track.lanes, first));
	const lane = laneHeight(track);
	return {
		...PLAIN,
		key,
		kind: "track",
		file,
		y: 0,
		height: lanes * lane + 2 * PAD + (plain && lanes < 2 && track.lanes > 1 ? MORE : 0),
		title: track.name,
		about: track.about ?? "",
		track,
		lanes,
		hidden: depth || track.device !== null ? Math.max(0, track.lanes - lanes) : 0,
		lane,
		plain,
	};
}

function curveRow(file: number, curve: CurveOffer): Row {
	return {
		...PLAIN,
		key: curveKey(file, curve),
		kind: "curve",
		file,
		y: 0,
		height: CURVE,
		title: curve.name,
		about: curve.device === null ? "" : `device ${curve.device}`,
		curve,
	};
}

function groupRow(file: JobFile, way: Way, strip: number): Row {
	const open = way !== "strip";
	const parts = [file.device, file.host, file.path].filter((part) => part);
	return {
		...PLAIN,
		key: String(file.file),
		kind: "group",
		file: file.file,
		y: 0,
		height: open || file.problem !== null ? GROUP : strip,
		title: rankTitle(file),
		about: parts.join(" · "),
		open,
		some: way === "some",
	};
}

function noteRow(file: number, title: string): Row {
	return {
		...PLAIN,
		key: `${file}.note`,
		kind: "note",
		file,
		y: 0,
		height: NOTE,
		title,
		about: "",
	};
}

/* Every word of the filter must be somewhere in what the row says. */
function filterOf(text: string): (...parts: (string | null | undefined)[]) => boolean {
	const wanted = text
		.toLowerCase()
		.split(/\s+/)
		.filter((word) => word !== "");
	return (...parts) => {
		const said = parts.join(" ").toLowerCase();
		return wanted.every((word) => said.includes(word));
	};
}

/* Ranges over streams, the profiler itself, and threads beyond the busiest few. */
function isOther(track: Track, busiest: Set<number>): boolean {
	if (track.kind === "other") return true;
	return (track.kind === "thread" || track.kind === "loader") && !busiest.has(track.track);
}

/* Stands for rows that are not shown; a click shows them. */
function standIn(key: string, file: number, rows: Row[], open: boolean, word: string): Row {
	const names = [...new Set(rows.map((row) => row.title))];
	return {
		...PLAIN,
		key,
		kind: "others",
		file,
		y: 0,
		height: NOTE,
		title: `${rows.length} ${word} ${rows.length === 1 ? "row" : "rows"}`,
		about: names.slice(0, 12).join(", "),
		open,
	};
}

function othersRow(file: number, rows: Row[], open: boolean): Row {
	return standIn(othersKey(file), file, rows, open, "other");
}

export function foldRow(file: number, rows: Row[], open: boolean): Row {
	return standIn(foldKey(file), file, rows, open, "folded");
}

export function othersKey(file: number): string {
	return `${file}.others`;
}

function tracksOfFile(file: JobFile, tracks: Track[], look: Look, depths: Depths): Row[] {
	const threads = tracks.filter((one) => one.kind === "thread" || one.kind === "loader");
	threads.sort((a, b) => b.slices - a.slices || a.track - b.track);
	const busiest = new Set(threads.slice(0, THREADS_AT_FIRST).map((one) => one.track));
	const rowOf = (one: Track) => trackRow(file.file, one, look, depths);
	const main = tracks.filter((one) => !isOther(one, busiest)).map(rowOf);
	const others = tracks.filter((one) => isOther(one, busiest)).map(rowOf);
	if (look.filter || !others.length) return [...main, ...others];
	const open = look.deep.has(othersKey(file.file));
	return [...main, othersRow(file.file, others, open), ...(open ? others : [])];
}

function rowsOfFile(
	file: JobFile,
	tracks: TracksAnswer | undefined,
	look: Look,
	depths: Depths,
): Row[] {
	const passes = filterOf(look.filter);
	const rank = rankTitle(file);
	if (file.problem !== null) return [noteRow(file.file, file.problem)];
	if (file.digest)
		return [noteRow(file.file, "A digest has no events: “Open its trace” above shows them.")];
	if (!tracks) return [noteRow(file.file, "Reading the rows…")];
	const wanted = tracks.tracks.filter((one) =>
		passes(rank, one.name, one.kind, one.about, file.host),
	);
	const curves = tracks.curves.filter((one) => passes(rank, one.name, one.curve, file.host));
	const rows = tracksOfFile(file, wanted, look, depths);
	/* what a device does stays together: its curves stand before the rest */
	const rest = rows.findIndex((row) => row.kind === "others");
	const at = rest < 0 ? rows.length : rest;
	rows.splice(at, 0, ...curves.map((one) => curveRow(file.file, one)));
	if (tracks.tracks.length === 0) rows.push(noteRow(file.file, "Nothing ran in this file."));
	return rows;
}

/* The rows that a jump needs, down to what it led to. */
function someRows(rows: Row[], spots: Spotted[]): Row[] {
	return rows.flatMap((row) => {
		const spot = spots.find((one) => trackKey(one.file, one.track) === row.key);
		return spot ? [cut(row, spot.lane + 1)] : [];
	});
}

function pinRows(rows: Map<string, Row>, job: Job, look: Look): { rows: Row[]; height: number } {
	const pinned: Row[] = [];
	let y = 0;
	for (const key of look.pins) {
		const row = rows.get(key);
		if (!row) continue;
		const file = job.files[row.file];
		const rank = file ? rankTitle(file) : "";
		pinned.push({
			...row,
			y,
			title: job.files.length > 1 ? `${rank}: ${row.title}` : row.title,
		});
		y += row.height;
	}
	return { rows: pinned, height: y };
}

/* Ranks that are folded share the height that is there. */
function stripHeight(job: Job, viewport: number): number {
	const fits = Math.floor(viewport / Math.max(1, job.files.length));
	return Math.min(STRIP_MOST, Math.max(1, fits));
}

export function layOut(
	job: Job,
	tracks: Map<number, TracksAnswer>,
	look: Look,
	depths: Depths,
	viewport: number,
	jumped: Jumped | null = null,
): Layout {
	const strip = stripHeight(job, viewport);
	const wayOf = openWays(job, look, jumped, viewport, strip);
	const passes = filterOf(look.filter);
	const isNamed = (file: JobFile) => passes(rankTitle(file), file.host, file.device);
	const named = look.filter !== "" && job.files.some(isNamed);
	const shown: Row[] = [];
	const known = new Map<string, Row>();
	for (const file of job.files) {
		const way = wayOf(file.file);
		const open = way !== "strip";
		const spots = jumped?.files.get(file.file) ?? [];
		const all = rowsOfFile(file, tracks.get(file.file), look, depths);
		for (const row of all) known.set(row.key, row);
		const rows =
			way === "some" && tracks.has(file.file)
				? someRows(all, spots)
				: spots.length > 1
					? foldBetween(all, spots, look, viewport)
					: all;
		const group = groupRow(file, way, strip);
		/* rows of a folded rank may match: it goes only when ranks are meant */
		if (named && !isNamed(file) && (!open || rows.length === 0)) continue;
		shown.push(group);
		if (open || file.problem !== null) shown.push(...rows);
	}
	let y = 0;
	for (const row of shown) {
		row.y = y;
		row.pinned = look.pins.includes(row.key);
		y += row.height;
	}
	const pins = pinRows(known, job, look);
	return {
		rows: shown,
		height: y,
		pinned: pins.rows,
		pinnedHeight: pins.height,
		groups: shown.filter((row) => row.kind === "group"),
		find: new Map(shown.map((row) => [row.key, row])),
	};
}

/* Rows that are at least partly between two heights; rows are in order. */
export function rowsBetween(rows: Row[], top: number, bottom: number): Row[] {
	let low = 0;
	let high = rows.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		const row = rows[middle];
		if (row && row.y + row.height > top) high = middle;
		else low = middle + 1;
	}
	let end = low;
	while (end < rows.length && (rows[end]?.y ?? bottom) < bottom) end++;
	return rows.slice(low, end);
}

export function rowAt(rows: Row[], y: number): Row | null {
	return rowsBetween(rows, y, y + 1e-6)[0] ?? null;
}

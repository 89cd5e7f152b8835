/*
 * place.ts - where a row of a table is on the timeline: at its own moment where it has one,
 * else at the longest slice of its name.
 */
import type { Client } from "../core/client";
import { type Selection, showOnTimeline } from "../core/store";
import type { Cell, Job, JobFile, Place, TableDocument, Tracks } from "../core/types";
import { decodeTiles } from "../timeline/decode";

export interface Spot {
	start: number;
	duration: number;
	selected: Selection | null;
}

/* Cells by name; of a table over all ranks the median stands for its column. */
export function cellReader(document: TableDocument, row: Cell[]) {
	const at = new Map(document.columns.map((column, index) => [column.name, index]));
	return (name: string): Cell => {
		const index = at.get(name);
		return index === undefined ? null : (row[index] ?? null);
	};
}

export type Read = (name: string) => Cell;

function numberOf(cell: Cell): number | null {
	return typeof cell === "number" ? cell : null;
}

function fileOf(job: Job, rank: Cell): JobFile | null {
	const good = job.files.filter((file) => file.problem === null);
	return (
		good.find((file) => file.rank === rank) ??
		(good.length === 1 ? (good[0] ?? null) : null)
	);
}

/* Moments count from the first event of the file. */
const MOMENTS = ["at_ns", "start_ns", "peak_at_ns", "first_ns"];
const LENGTHS = ["dur_ns", "longest_ns", "idle_ns", "lifetime_ns"];

/* Moments of some views of the whole job count from elsewhere. */
async function zeroOf(client: Client, job: Job, view: string, read: Read): Promise<number | null> {
	if (view === "collectives") return job.collectives_ns ?? null;
	if (view === "critical-path") {
		const all = { from: 0, to: job.span_ns, pixels: 1 };
		const path = await client.json<{ pieces: { start_ns: number }[] }>("path", all);
		return path.pieces[0]?.start_ns ?? null;
	}
	const good = job.files.filter((file) => file.problem === null && file.steps?.length);
	if (view === "idle-together") {
		const first = good.toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0))[0];
		return first?.steps?.find((step) => !step.dropped)?.start_ns ?? null;
	}
	return fileOf(job, read("rank"))?.start_ns ?? null;
}

/* The step that a row is about, where it is about nothing smaller. */
function stepSpot(file: JobFile, step: Cell): Spot | null {
	const found = file.steps?.find((one) => one.number === step);
	if (!found) return null;
	const duration = found.end_ns - found.start_ns;
	return {
		start: found.start_ns,
		duration,
		selected: { kind: "range", from: found.start_ns, to: found.end_ns },
	};
}

/* A collective lasts from the first that comes to the end of the transfer. */
function lengthOf(read: Read): number {
	const spread = numberOf(read("spread_ns"));
	if (spread !== null) return spread + (numberOf(read("transfer_ns")) ?? 0);
	return LENGTHS.map((one) => numberOf(read(one))).find((ns) => ns !== null) ?? 0;
}

function momentSpot(zero: number, read: Read): Spot | null {
	for (const name of MOMENTS) {
		const at = numberOf(read(name));
		if (at === null) continue;
		const start = zero + at;
		const duration = lengthOf(read);
		const range: Selection = { kind: "range", from: start, to: start + duration };
		return { start, duration, selected: duration ? range : null };
	}
	return null;
}

/* The gap of a device that begins at this moment: the one that the tiles of its track hold. */
async function gapAt(
	client: Client,
	file: JobFile,
	device: Cell,
	start: number,
): Promise<Selection | null> {
	const { tracks } = await client.json<Tracks>("tracks", { file: file.file });
	const track = tracks.find((one) => one.kind === "idle" && one.device === device)?.track;
	if (track === undefined) return null;
	const window = { from: start, to: start + 1000, pixels: 1000 };
	const asked = { file: file.file, tracks: track, ...window };
	const sheet = decodeTiles((await client.bytes("tiles", asked)).bytes);
	const at = sheet.start.findIndex(
		(from, i) => Math.abs(from - start) < 2 && sheet.count[i] === 1,
	);
	const gap = sheet.row[at];
	return gap === undefined ? null : { kind: "gap", file: file.file, track, gap };
}

/* Columns that name slices, the most exact first; the kind narrows the search. */
const NAMES: [string, string | null][] = [
	["name", null],
	["kernel", "kernel"],
	["call", null],
	["op", null],
	["leaf", null],
	["frame", null],
	["module", null],
	["hider", null],
	["next", null],
	["collective", null],
	["sequence", "kernel"],
];

/* Requests have a limit of length; so much of a name tells it from others. */
const NAME_MOST = 400;

/* With a "?" for the last letter only names of this form and length are found, not those
 * that hold it. */
function wholeName(name: string): string {
	return name.length > NAME_MOST ? `${name.slice(0, NAME_MOST)}*` : `${name.slice(0, -1)}?`;
}

/* What a short name of the core still shares with the full one: its first word. */
function firstWord(name: string): string {
	return /^[\w:]+/.exec(name)?.[0] ?? name;
}

async function search(client: Client, q: string, more: Record<string, string | number | null>) {
	const found = await client.json<{ hits: Place[] }>("search", { q, longest: 1, ...more });
	const hit = found.hits[0];
	if (!hit) return null;
	return {
		start: hit.start_ns,
		duration: hit.dur_ns,
		selected: { kind: "slice", file: hit.file, row: hit.row } as Selection,
	};
}

async function namedSpot(
	client: Client,
	view: string,
	file: JobFile | null,
	step: number | null,
	read: Read,
): Promise<Spot | null> {
	for (const [column, kind] of NAMES) {
		const name = read(column);
		if (typeof name !== "string" || !name) continue;
		const where = {
			kind: view === "kernels" ? "kernel" : kind,
			files: file ? file.file : null,
			step,
		};
		const spot =
			(await search(client, wholeName(name), where)) ??
			(where.kind ? await search(client, firstWord(name), where) : null);
		if (spot) return spot;
	}
	return null;
}

export async function spotOf(
	client: Client,
	job: Job,
	view: string,
	document: TableDocument,
	row: Cell[],
): Promise<Spot | null> {
	const read = cellReader(document, row);
	const file = fileOf(job, read("rank") ?? read("last") ?? read("worst"));
	const step = numberOf(read("step"));

	if (file && view === "steps") return stepSpot(file, step);
	const zero = await zeroOf(client, job, view, read);
	const moment = zero === null ? null : momentSpot(zero, read);
	if (moment && file && view === "gaps" && document.group === "gap")
		moment.selected =
			(await gapAt(client, file, read("device"), moment.start)) ??
			moment.selected;
	if (moment) return moment;
	return (
		(await namedSpot(client, view, file, step, read)) ??
		(file ? stepSpot(file, step) : null)
	);
}

/* Whether any row of a table can be found on the timeline: sums of many things cannot. */
export function hasPlaces({ columns, rows }: TableDocument): boolean {
	const names = new Set(["step", ...MOMENTS, ...NAMES.map(([column]) => column)]);
	const found = columns.flatMap((column, i) => (names.has(column.name) ? [i] : []));
	return rows.some((row) => found.some((i) => (row[i] ?? null) !== null));
}

/* Goes there; the sentence says why not. */
export async function showRow(
	client: Client,
	job: Job,
	view: string,
	document: TableDocument,
	row: Cell[],
): Promise<string | null> {
	try {
		const spot = await spotOf(client, job, view, document, row);
		if (!spot) return "This row has no place of its own on the timeline.";
		showOnTimeline(spot.start, spot.duration, spot.selected);
		return null;
	} catch (error) {
		return error instanceof Error ? error.message : String(error);
	}
}

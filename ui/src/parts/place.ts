/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.ts - finds a table row on the timeline: at its own time if it has one, otherwise at the
 * longest slice with its name.
 */
import type { Job } from "../core/client";
import type { Cell, ColumnOffer, JobFile, Step, TableDocument, ViewOffer } from "../core/types";
import type { Client } from "../core/client";
import { type Selection, showOnTimeline } from "../core/store";
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

/* What moments of a view count from. */
async function zeroOf(client: Client, job: Job, offer: ViewOffer, read: Read) {
	if (offer.zero === "collectives") return job.collectives_ns ?? null;
	if (offer.zero === "path") {
		const all = { from: 0, to: job.span_ns, pixels: 1 };
		const path = await client.json("path", all);
		return path.pieces[0]?.start_ns ?? null;
	}
	const good = job.files.filter((file) => file.problem === null && file.steps?.length);
	if (offer.zero === "steps") {
		const first = good.toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0))[0];
		return first?.steps?.find((step) => !step.dropped)?.start_ns ?? null;
	}
	return fileOf(job, read("rank"))?.start_ns ?? null;
}

/* What is known in the columns that say this about the place of a row. */
function figuresOf(offer: ViewOffer, place: ColumnOffer["place"], read: Read): number[] {
	return offer.columns
		.filter((column) => column.place === place)
		.map((column) => numberOf(read(column.name)))
		.filter((ns) => ns !== null);
}

function momentSpot(zero: number, offer: ViewOffer, read: Read): Spot | null {
	const at = figuresOf(offer, "moment", read)[0];
	if (at === undefined) return null;
	const start = zero + at;
	const length = figuresOf(offer, "length", read).at(-1);
	const more = figuresOf(offer, "longer", read).reduce((sum, ns) => sum + ns, 0);
	const duration = length === undefined ? 0 : length + more;
	const range: Selection = { kind: "range", from: start, to: start + duration };
	return { start, duration, selected: duration ? range : null };
}

/* The gap of a device that begins at this moment: the one that the tiles of its track hold. */
async function gapAt(
	client: Client,
	file: JobFile,
	device: Cell,
	start: number,
): Promise<Selection | null> {
	const { tracks } = await client.json("tracks", { file: file.file });
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

/* The innermost slice at a moment, on the thread or stream of the row, else on the thread that runs
 * the steps. */
async function sliceAt(
	client: Client,
	file: JobFile,
	at: number,
	read: Read,
): Promise<Spot | null> {
	const { tracks } = await client.json("tracks", { file: file.file });
	const [pid, tid] = [read("pid"), read("tid")];
	const isOwn = (about: string) => about.includes(` ${pid}, `) && about.endsWith(` ${tid}`);
	const found = tracks.find(({ kind, about }) =>
		tid === null ? kind === "main" : isOwn(about),
	);
	if (!found) return null;
	const asked = { file: file.file, tracks: found.track, from: at, to: at + 1000, pixels: 1000 };
	const { start, dur, row, count } = decodeTiles((await client.bytes("tiles", asked)).bytes);
	const open = [...row.keys()].filter((i) => {
		const from = start[i] ?? 0;
		return count[i] === 1 && from < at + 2 && from + (dur[i] ?? 0) >= at;
	});
	const inner = open.toSorted((a, b) => (dur[a] ?? 0) - (dur[b] ?? 0))[0];
	if (inner === undefined) return null;
	return {
		start: start[inner] ?? at,
		duration: dur[inner] ?? 0,
		selected: { kind: "slice", file: file.file, row: row[inner] ?? 0 },
	};
}

/* Requests have a limit of length; so much of a name tells it from others. */
const NAME_MOST = 400;

/* In longer patterns the core takes a "?" as it is. */
const FORM_MOST = 256;

/* With a "?" for the last letter only names of this form and length are found, not those
 * that hold it; of long names those that begin so. */
export function wholeName(name: string): string {
	const isLong = new TextEncoder().encode(name).length > FORM_MOST;
	return isLong ? `${name.slice(0, NAME_MOST)}*` : `${name.slice(0, -1)}?`;
}

/* What a short name of the core still shares with the full one: its first word. */
function firstWord(name: string): string {
	return /^[\w:]+/.exec(name)?.[0] ?? name;
}

async function search(client: Client, q: string, more: Record<string, string | number | null>) {
	const found = await client.json("search", { q, longest: 1, ...more });
	const hit = found.hits[0];
	if (!hit) return null;
	return {
		start: hit.start_ns,
		duration: hit.dur_ns,
		selected: { kind: "slice", file: hit.file, row: hit.row } as Selection,
	};
}

/* Ranks that are searched; collectives that are compared. */
const FILES_MOST = 64;
const COLLECTIVES_MOST = 20_000;

/* By its whole name; else the longest kernel that has the first word of a short name. */
async function namedSpot(
	client: Client,
	job: Job,
	offer: ViewOffer,
	file: JobFile | null,
	step: number | null,
	read: Read,
): Promise<Spot | null> {
	const named = offer.columns.flatMap(({ name: column, place }) => {
		const name = read(column);
		const isName = (place === "slice" || place === "kernel") && typeof name === "string";
		const kind = place === "kernel" ? "kernel" : null;
		return isName && name ? [{ name, kind }] : [];
	});
	const good = file ? [file] : job.files.filter(({ problem, digest }) => !problem && !digest);
	const files = good.slice(0, FILES_MOST).map((one) => one.file);
	const at = { files: files.join(","), step };
	for (const { name, kind } of named) {
		/* frames of modules have names of their own; a class is all of them */
		const module = `nn.Module: ${name.trim()}`;
		const names = [wholeName(name.trim())];
		if (offer.name === "modules") names.push(wholeName(module), `${module}_*`);
		for (const one of names) {
			const spot = await search(client, one, { kind, ...at });
			if (spot) return spot;
		}
	}
	/* a collective without a name of its own goes by its kernel's */
	const onDevice = read("where") === "device";
	for (const { name, kind } of named) {
		if (!kind && !onDevice) continue;
		const spot = await search(client, firstWord(name), { kind: "kernel", ...at });
		if (spot) return spot;
	}
	return null;
}

/* "all_to_allv", "all-to-all" */
function letters(cell: Cell): string {
	return String(cell ?? "").replaceAll(/[^a-z]/gi, "");
}

/* Collectives of the kind, group and size of a row: the one that is waited for longest. */
async function collectiveSpot(client: Client, job: Job, read: Read): Promise<Spot | null> {
	const kind = letters(read("collective"));
	if (!kind) return null;
	const each = await client.view("collectives", { group: "each", top: COLLECTIVES_MOST });
	const rows = each.rows
		.map((row) => ({ row, of: cellReader(each, row) }))
		.filter(({ of }) => {
			const other = letters(of("collective"));
			const isKind = other !== "" && kind.startsWith(other);
			const isSame = (name: string) => (read(name) ?? of(name)) === of(name);
			return isKind && isSame("group") && isSame("message_bytes");
		});
	const wait = (of: Read) => Number(of("wait_ns") ?? 0);
	const first = rows.toSorted((a, b) => wait(b.of) - wait(a.of))[0];
	return first ? spotOf(client, job, "collectives", each, first.row) : null;
}

/* The step that a row is about, where it is about nothing smaller; of a rank its longest one. */
async function stepSpot(client: Client, file: JobFile, step: Cell): Promise<Spot | null> {
	const length = (one: Step) => one.end_ns - one.start_ns;
	const kept = file.steps?.filter((one) => one.dropped === null) ?? [];
	const found =
		step === null
			? kept.toSorted((a, b) => length(b) - length(a))[0]
			: file.steps?.find((one) => one.number === step);
	if (!found) return null;
	const { name, start_ns: from, end_ns: to } = found;
	/* its annotation says which rank it is of */
	const spot = name ? await search(client, wholeName(name), { files: file.file }) : null;
	return spot ?? { start: from, duration: to - from, selected: { kind: "range", from, to } };
}

function hasScope(read: Read): boolean {
	return ["rank", "step", "worst"].some((name) => typeof read(name) === "number");
}

export async function spotOf(
	client: Client,
	job: Job,
	view: string,
	document: TableDocument,
	row: Cell[],
): Promise<Spot | null> {
	const offer = await client.offer(view);
	if (!offer) return null;
	const read = cellReader(document, row);
	const file = fileOf(job, read("rank") ?? read("last") ?? read("worst"));
	const step = numberOf(read("step"));

	const zero = await zeroOf(client, job, offer, read);
	const moment = zero === null ? null : momentSpot(zero, offer, read);
	/* A row that happened once may be a gap: it begins at that very moment. */
	if (moment && file && offer.events.includes(document.group ?? ""))
		moment.selected =
			(await gapAt(client, file, read("device"), moment.start)) ??
			moment.selected;
	if (moment && file && !moment.selected)
		return (await sliceAt(client, file, moment.start, read)) ?? moment;
	if (moment) return moment;
	return (
		(await namedSpot(client, job, offer, file, step, read)) ??
		(await collectiveSpot(client, job, read)) ??
		(file && hasScope(read) ? stepSpot(client, file, step) : null)
	);
}

/* Whether any row of a table can be found on the timeline: sums of many things cannot. */
export function hasPlaces({ columns, rows }: TableDocument, offer: ViewOffer): boolean {
	const placed = offer.columns.filter(
		({ place }) => place === "moment" || place === "slice" || place === "kernel",
	);
	const names = new Set(["step", ...placed.map((column) => column.name)]);
	const found = columns.flatMap((column, i) => (names.has(column.name) ? [i] : []));
	return rows.some((row) => found.some((i) => (row[i] ?? null) !== null));
}

/* Whether this one can: what is of a rank has a place there. */
export function hasPlace(document: TableDocument, row: Cell[], offer: ViewOffer): boolean {
	const alone = { ...document, rows: [row] };
	return hasPlaces(alone, offer) || hasScope(cellReader(document, row));
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
		if (!spot) return "This row has no single place on the timeline.";
		showOnTimeline(spot.start, spot.duration, spot.selected);
		return null;
	} catch (error) {
		return error instanceof Error ? error.message : String(error);
	}
}

/*
 * place.ts - where a row of a table is on the timeline: at its own moment where it has one,
 * else at the longest slice of its name.
 */
import type { Client } from "../core/client";
import { type Selection, showOnTimeline } from "../core/store";
import type { Cell, Job, JobFile, Place, TableDocument } from "../core/types";

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

type Read = (name: string) => Cell;

function numberOf(cell: Cell): number | null {
	return typeof cell === "number" ? cell : null;
}

function fileOf(job: Job, rank: Cell): JobFile | null {
	const good = job.files.filter((file) => file.problem === null);
	return good.find((file) => file.rank === rank) ?? (good.length === 1 ? (good[0] ?? null) : null);
}

/* Moments count from the first event of the file. */
const MOMENTS = ["at_ns", "start_ns", "peak_at_ns", "first_ns"];
const LENGTHS = ["dur_ns", "longest_ns", "idle_ns", "lifetime_ns"];

/* Views whose moments count from elsewhere: they are looked for by name. */
const OTHER_CLOCK = new Set(["collectives", "idle-together", "critical-path"]);

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

function momentSpot(file: JobFile, read: Read): Spot | null {
	for (const name of MOMENTS) {
		const at = numberOf(read(name));
		if (at === null || file.start_ns === undefined) continue;
		const start = file.start_ns + at;
		const duration = LENGTHS.map((one) => numberOf(read(one))).find((ns) => ns !== null) ?? 0;
		const range: Selection = { kind: "range", from: start, to: start + duration };
		return { start, duration, selected: duration ? range : null };
	}
	return null;
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
];

/* Requests have a limit of length; so much of a name tells it from others. */
const NAME_MOST = 400;

function pattern(name: string): string {
	const cut = name.length > NAME_MOST ? name.slice(0, NAME_MOST) : name;
	return /[*?]/.test(cut) && cut !== name ? `${cut}*` : cut;
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
		const spot = await search(client, pattern(name), {
			kind: view === "kernels" ? "kernel" : kind,
			files: file ? file.file : null,
			step,
		});
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
	const moment = file && !OTHER_CLOCK.has(view) ? momentSpot(file, read) : null;
	if (moment) return moment;
	return (
		(await namedSpot(client, view, file, step, read)) ?? (file ? stepSpot(file, step) : null)
	);
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

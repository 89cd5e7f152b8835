/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.ts - all calls of one name: how long they take, in which steps, on which ranks.
 */
import type { Job } from "../core/client";
import type { Cell, JobFile, TableDocument, ViewOffer } from "../core/types";
import { cellReader, type Read } from "../parts/place";

/* A call, as the route search has it. */
export interface Call {
	file: number;
	row: number;
	start_ns: number;
	dur_ns: number;
}

/* A bar of a small chart. */
export interface Tally {
	label: string;
	value: number;
	calls: number;
}

/* Lengths double or so from bucket to bucket: 1, 2, 5, 10 µs. */
const EDGES = [1, 2, 5];

function edgeBelow(ns: number): number {
	if (ns < 1) return 0;
	const power = 10 ** Math.floor(Math.log10(ns));
	const found = EDGES.filter((times) => times * power <= ns).at(-1) ?? 1;
	return found * power;
}

function edgeAfter(edge: number): number {
	if (edge < 1) return 1;
	const power = 10 ** Math.floor(Math.log10(edge) + 1e-9);
	const times = Math.round(edge / power);
	return times === 1 ? 2 * power : times === 2 ? 5 * power : 10 * power;
}

export interface Bucket {
	from_ns: number;
	to_ns: number;
	calls: number;
	total_ns: number;
}

/* How many calls take how long; buckets without a call between others stay. */
export function histogramOf(calls: Call[]): Bucket[] {
	const found = new Map<number, Bucket>();
	let [least, most] = [Infinity, 0];
	for (const { dur_ns } of calls) {
		const from = edgeBelow(dur_ns);
		const bucket = found.get(from) ?? {
			from_ns: from,
			to_ns: edgeAfter(from),
			calls: 0,
			total_ns: 0,
		};
		bucket.calls++;
		bucket.total_ns += dur_ns;
		found.set(from, bucket);
		least = Math.min(least, from);
		most = Math.max(most, from);
	}
	const buckets: Bucket[] = [];
	for (let from = least; from <= most; from = edgeAfter(from))
		buckets.push(
			found.get(from) ?? {
				from_ns: from,
				to_ns: edgeAfter(from),
				calls: 0,
				total_ns: 0,
			},
		);
	return buckets;
}

function tallied(keys: Map<string, Tally>, label: string, ns: number): void {
	const tally = keys.get(label) ?? { label, value: 0, calls: 0 };
	tally.value += ns;
	tally.calls++;
	keys.set(label, tally);
}

function stepOf(file: JobFile | undefined, call: Call): string {
	const step = file?.steps?.find(
		(one) => one.start_ns <= call.start_ns && call.start_ns < one.end_ns,
	);
	return step ? String(step.number) : "outside";
}

/* Time by step, in their order; calls outside of steps last. */
export function byStep(calls: Call[], job: Job): Tally[] {
	const files = new Map(job.files.map((file) => [file.file, file]));
	const found = new Map<string, Tally>();
	for (const call of calls) tallied(found, stepOf(files.get(call.file), call), call.dur_ns);
	const order = (label: string) => (label === "outside" ? Infinity : Number(label));
	return [...found.values()].sort((a, b) => order(a.label) - order(b.label));
}

export function byRank(calls: Call[], job: Job): Tally[] {
	const ranks = new Map(job.files.map((file) => [file.file, file.rank]));
	const found = new Map<string, Tally>();
	for (const call of calls) tallied(found, String(ranks.get(call.file) ?? "?"), call.dur_ns);
	return [...found.values()].sort((a, b) => Number(a.label) - Number(b.label));
}

export interface Summary {
	calls: number;
	total_ns: number;
	min_ns: number;
	median_ns: number;
	p90_ns: number;
	max_ns: number;
}

export function summaryOf(calls: Call[]): Summary | null {
	if (!calls.length) return null;
	const sorted = calls.map((call) => call.dur_ns).sort((a, b) => a - b);
	const at = (part: number) =>
		sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
	return {
		calls: sorted.length,
		total_ns: sorted.reduce((all, ns) => all + ns, 0),
		min_ns: sorted[0] ?? 0,
		median_ns: at(0.5),
		p90_ns: at(0.9),
		max_ns: sorted.at(-1) ?? 0,
	};
}

/* Rows that pass by their `names`, summed over ranks by the text of a column: the most first. */
export interface Line {
	text: string;
	calls: number;
	ns: number;
}

export function summedBy(
	document: TableDocument,
	column: string,
	time: string,
	passes: (names: Cell[]) => boolean,
	names: string[],
): Line[] {
	const found = new Map<string, Line>();
	const number = (cell: Cell) => (typeof cell === "number" ? cell : 0);
	for (const row of document.rows) {
		const read = cellReader(document, row);
		const text = read(column);
		if (typeof text !== "string" || !passes(names.map(read))) continue;
		const line = found.get(text) ?? { text, calls: 0, ns: 0 };
		line.calls += number(read("calls"));
		line.ns += number(read(time));
		found.set(text, line);
	}
	return [...found.values()].sort((a, b) => b.ns - a.ns);
}

/* Whether a sentence names it: not a longer name that begins or ends with it. */
export function speaksOf(sentence: string, name: string): boolean {
	const part = /[\w:.]/;
	for (let at = sentence.indexOf(name); at >= 0; at = sentence.indexOf(name, at + 1)) {
		const after = sentence.slice(at + name.length).replace(/^s?[.:,]*(?=\s|$)/, "");
		if (!part.test(sentence[at - 1] ?? " ") && !part.test(after[0] ?? " ")) return true;
	}
	return false;
}

/* --- queries ------------------------------------------------------------------------------ */

function inSql(value: Cell): string {
	return typeof value === "number" ? String(value) : `'${asText(value).replaceAll("'", "''")}'`;
}

export function asText(cell: Cell): string {
	return cell === null ? "?" : String(cell);
}

/* The query that gives the calls of a name by rank and step. */
export function sqlOf(name: string): string {
	return (
		"select rank, step, count(*) as calls, sum(duration_ns) as total_ns,\n" +
		"  median(duration_ns) as median_ns, max(duration_ns) as max_ns\n" +
		`from events\nwhere name = ${inSql(name)}\ngroup by rank, step\norder by rank, step;`
	);
}

/* What tells a row from the others of its table; rank and step are the scope of it. */
export type Key = [name: string, value: string | number];

const SCOPE = ["rank", "step", "last", "worst"];

/* Figures that tell rows apart: collectives of two sizes are two rows. */
const SIZES = ["group_size", "members", "message_bytes"];

/* A figure of a row; of all ranks its median. */
export function figureOf(read: Read, name: string): Cell {
	return read(name) ?? read(name.replace(/(_ns|_bytes|_percent)?$/, "_median$1"));
}

export function keysOf(offer: ViewOffer, read: Read): Key[] {
	const sizes = offer.columns.flatMap(({ name }): Key[] => {
		const value = SIZES.includes(name) ? figureOf(read, name) : null;
		return value === null ? [] : [[name, value]];
	});
	const found = (detail: boolean) =>
		offer.columns.flatMap(({ name, type, detail: more }): Key[] => {
			const value = read(name);
			const isKey = (type === "text" || type === "id") && more === detail;
			return isKey && value !== null && !SCOPE.includes(name) ? [[name, value]] : [];
		});
	const keys = [...found(false), ...sizes];
	return keys.some(([, value]) => typeof value === "string") ? keys : [...keys, ...found(true)];
}

/* Words that SQL has for itself. */
const RESERVED = /^(group|for|where|last|call)$/;

/* The rows of a view that this row stands for, rank by rank. */
export function viewSql(
	offer: ViewOffer,
	group: string,
	keys: Key[],
	scope: { rank: number | null; step: number | null },
): string {
	const own = group && group !== offer.groups[0] ? [`by := '${group}'`] : [];
	const chosen = (["rank", "step"] as const).flatMap((name) =>
		scope[name] === null || (name === "step" && offer.of_job)
			? []
			: [`${name} := ${scope[name]}`],
	);
	const asked = [...own, ...chosen].join(", ");
	const wheres = keys.map(
		([name, value]) => `${RESERVED.test(name) ? `"${name}"` : name} = ${inSql(value)}`,
	);
	return (
		`select *\nfrom ${offer.name.replaceAll("-", "_")}${asked ? `(${asked})` : ""}` +
		`${wheres.length ? `\nwhere ${wheres.join("\n  and ")}` : ""};`
	);
}

/* --- facts to paste elsewhere ------------------------------------------------------------- */

export type Fact = [name: string, value: string | number | null];

function inTable(text: string): string {
	return text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");
}

export function factsMarkdown(title: string, facts: Fact[]): string {
	const rows = facts.map(
		([name, value]) => `| ${inTable(name)} | ${inTable(String(value ?? "–"))} |`,
	);
	return [`**${title.replaceAll("*", "\\*")}**`, "", "| | |", "|---|---|", ...rows, ""].join(
		"\n",
	);
}

export function factsJson(title: string, facts: Fact[]): string {
	const found = new Map<string, unknown>();
	/* a name that comes twice has a list */
	for (const [name, value] of [["name", title] as Fact, ...facts])
		found.set(name, found.has(name) ? [found.get(name), value].flat() : value);
	return JSON.stringify(Object.fromEntries(found), null, 2);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.ts - all calls of one name: how long they take, in which steps, on which ranks.
 */
import type { Job, JobFile } from "../core/types";

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

/* The query that gives the calls of a name by rank and step. */
export function sqlOf(name: string): string {
	const quoted = name.replaceAll("'", "''");
	return (
		"select rank, step, count(*) as calls, sum(dur_ns) as total_ns,\n" +
		"  median(dur_ns) as median_ns, max(dur_ns) as max_ns\n" +
		`from slices\nwhere name = '${quoted}'\ngroup by rank, step\norder by rank, step;`
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
	const all = [["name", title] as Fact, ...facts];
	return JSON.stringify(Object.fromEntries(all), null, 2);
}

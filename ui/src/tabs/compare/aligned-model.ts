/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aligned-model.ts - two runs on one axis: which ranks and steps go together, which rows are shown,
 * and how operators of a range differ.
 */
import type { Job } from "../../core/client";
import type {
	Cell,
	Finding,
	JobFile,
	RangeName,
	Step,
	TableDocument,
	Track,
} from "../../core/types";
import { plural, shortDevice, stepCount } from "../../core/words";
import { cellReader } from "../../parts/place";

/* A file of each run, by rank; runs without ranks by the order of their files. */
export function pairsOf(a: Job, b: Job): { title: string; files: [JobFile, JobFile] }[] {
	const good = (job: Job) =>
		job.files.filter((file) => file.problem === null && !file.digest);
	const [left, right] = [good(a), good(b)];
	const byRank = left.flatMap((one) => {
		const other = right.find((two) => two.rank === one.rank);
		return one.rank !== null && other
			? [{ title: `rank ${one.rank}`, files: [one, other] as [JobFile, JobFile] }]
			: [];
	});
	if (byRank.length) return byRank;
	return left.flatMap((one, i) => {
		const other = right[i];
		return other
			? [{ title: `file ${i + 1}`, files: [one, other] as [JobFile, JobFile] }]
			: [];
	});
}

/* Measured steps in their order: the first of one goes with the first of the other. */
export function stepsOf(file: JobFile): Step[] {
	const whole = (file.steps ?? []).filter((step) => step.dropped === null);
	if (whole.length) return whole;
	const { start_ns = 0, end_ns = 0 } = file;
	return [{ number: 0, name: null, start_ns, end_ns, dropped: null }];
}

/* Rows of one run that fit beside those of another. What runs the step, and what ranks wait in,
 * whatever it holds; then the fullest streams. */
const ALWAYS = ["main", "autograd", "communication"];
const MOST_ROWS = 6;

export function rowsOf(tracks: Track[]): Track[] {
	const always = (track: Track) => ALWAYS.includes(track.kind);
	const kept = tracks
		.filter((track) => always(track) || (track.stream !== null && track.kind !== "other"))
		.sort((a, b) => Number(always(b)) - Number(always(a)) || b.slices - a.slices)
		.slice(0, MOST_ROWS);
	return tracks.filter((track) => kept.includes(track));
}

export interface Difference {
	name: string;
	where: string;
	a: number | null /* own time; null: it did not run */;
	b: number | null;
	change: number;
	calls: [number, number];
}

/* Operators and kernels of both ranges, those that changed most first. */
export function differencesOf(a: RangeName[], b: RangeName[]): Difference[] {
	const found = new Map<string, Difference>();
	const add = (names: RangeName[], side: "a" | "b") => {
		for (const { where, name, self_ns, count } of names) {
			if (where !== "host" && where !== "device") continue;
			const key = `${where} ${name}`;
			const one = found.get(key) ?? {
				...{ name, where, a: null, b: null, change: 0 },
				calls: [0, 0] as [number, number],
			};
			one[side] = (one[side] ?? 0) + self_ns;
			one.calls[side === "a" ? 0 : 1] += count;
			one.change = (one.b ?? 0) - (one.a ?? 0);
			found.set(key, one);
		}
	};
	add(a, "a");
	add(b, "b");
	return [...found.values()].sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
}

export interface FindingRow {
	rule: string;
	titles: string[] /* of both runs, if they differ */;
	change: string;
	a: number | null /* what it costs a step */;
	b: number | null;
	number: number | null /* of the finding in the verdict of A */;
}

/* What changed, as the command says it, and below it what else costs a step. */
export function findingsOf(changed: TableDocument, a: Finding[], b: Finding[]): FindingRow[] {
	const row = (rule: string, change: string, title: string, costs: [Cell, Cell]): FindingRow => {
		const at = a.findIndex((one) => one.rule === rule);
		const before = change === "new" || change === "onlyB" ? undefined : a[at]?.title;
		const [x, y] = costs.map((cost) => (typeof cost === "number" ? cost : null));
		return {
			rule,
			change,
			titles: before && before !== title ? [before, title] : [title],
			a: change === "new" ? null : (x ?? null),
			b: change === "gone" ? null : (y ?? null),
			number: at < 0 ? null : at + 1,
		};
	};
	const rows = changed.rows.map((cells) => {
		const read = cellReader(changed, cells);
		const text = (name: string) => String(read(name) ?? "");
		const costs: [Cell, Cell] = [read("cost_a_ns"), read("cost_b_ns")];
		return row(text("rule"), text("change"), text("finding"), costs);
	});
	const both = a.flatMap((one) => {
		const other = b.find((two) => two.rule === one.rule);
		const known = rows.some((two) => two.rule === one.rule);
		if (!other || known || one.level !== "warning") return [];
		return [row(one.rule, "both", other.title, [one.cost_ns, other.cost_ns])];
	});
	/* runs that cannot be compared have nothing that changed, but findings of their own */
	const known = new Set([...rows, ...both].map((one) => one.rule));
	const alone = (all: Finding[], change: string, costs: (cost: number | null) => [Cell, Cell]) =>
		all
			.filter((one) => one.level === "warning" && !known.has(one.rule))
			.map((one) => row(one.rule, change, one.title, costs(one.cost_ns)));
	return [
		...rows,
		...both,
		...alone(a, "onlyA", (cost) => [cost, null]),
		...alone(b, "onlyB", (cost) => [null, cost]),
	];
}

function devicesOf(job: Job): string {
	const names = new Set(
		job.files.flatMap((file) => (file.device ? [shortDevice(file.device)] : [])),
	);
	return [...names].sort().join(", ") || "no GPU";
}

function ranksOf(job: Job): number {
	return job.files.filter((file) => file.problem === null).length;
}

/* What makes the runs unlike before anything was changed: machines, ranks, steps. */
export function unlike(a: Job, b: Job): string[] {
	const said: string[] = [];
	const [x, y] = [devicesOf(a), devicesOf(b)];
	if (x !== y) said.push(`The machines differ: A ran on ${x}, B on ${y}.`);
	if (ranksOf(a) !== ranksOf(b))
		said.push(
			`A has ${plural(ranksOf(a), "rank")}, B ${plural(ranksOf(b), "rank")}: ` +
				"a rank's share of the work differs.",
		);
	const [m, n] = [stepCount(a), stepCount(b)];
	if (m !== n) said.push(`A recorded ${plural(m, "step")}, B ${plural(n, "step")}.`);
	const digests = [a, b].map((job) => job.files.some((file) => file.digest));
	if (digests.some(Boolean))
		said.push("A digest has no events, so its ranks have no timeline here.");
	return said;
}

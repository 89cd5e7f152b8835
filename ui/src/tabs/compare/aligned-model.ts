/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aligned-model.ts - two runs on one axis: which ranks and steps go together, which rows are shown,
 * and how operators of a range differ.
 */
import type { Finding, Job, JobFile, Step, Track } from "../../core/types";
import { plural, shortDevice, stepCount } from "../../core/words";
import type { RangeName } from "../../timeline/answers";

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

/* Rows of one run that fit beside those of another: a thread that runs the step, and streams. */
const LEAST_SHARE = 0.02;
const MOST_ROWS = 6;

export function rowsOf(tracks: Track[]): Track[] {
	const kinds = (track: Track) =>
		track.kind === "main" || (track.stream !== null && track.kind !== "other");
	const most = Math.max(1, ...tracks.filter(kinds).map((track) => track.slices));
	return tracks
		.filter((track) => kinds(track) && track.slices >= most * LEAST_SHARE)
		.slice(0, MOST_ROWS);
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

export interface FindingChange {
	rule: string;
	title: string;
	state: "gone" | "new" | "smaller" | "larger" | "same";
	a: number | null /* what it costs a step */;
	b: number | null;
	weight: number;
}

/* Below a twentieth it is the same: one step differs more from the next. */
const SAME = 0.05;

function stateOf(a: Finding | undefined, b: Finding | undefined): FindingChange["state"] {
	if (!b) return "gone";
	if (!a) return "new";
	const [x, y] = [a.cost_ns ?? 0, b.cost_ns ?? 0];
	if (Math.abs(x - y) <= SAME * Math.max(x, y)) return "same";
	return y < x ? "smaller" : "larger";
}

/* Warnings of both runs by their rule; of one rule the costliest stands for all. */
export function findingsOf(a: Finding[], b: Finding[]): FindingChange[] {
	const warnings = (all: Finding[]) => all.filter((one) => one.level === "warning");
	const [left, right] = [warnings(a), warnings(b)];
	const rules = [...new Set([...left, ...right].map((one) => one.rule))];
	return rules
		.map((rule) => {
			const one = left.find((finding) => finding.rule === rule);
			const two = right.find((finding) => finding.rule === rule);
			const [x, y] = [one?.cost_ns ?? null, two?.cost_ns ?? null];
			return {
				rule,
				title: (two ?? one)?.title ?? rule,
				state: stateOf(one, two),
				a: x,
				b: y,
				weight: Math.max(Math.abs((y ?? 0) - (x ?? 0)), 0),
			};
		})
		.sort((x, y) => y.weight - x.weight);
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

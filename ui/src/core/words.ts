/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.ts - describes the run in a few words: name, ranks, steps, GPU.
 */
import type { Job } from "./client";
import { formatNs } from "./format";

export function plural(count: number, one: string, many = `${one}s`): string {
	return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/* How far clocks may be apart. Ranks of one host have one clock: there is nothing between them. */
export function clocksWithin(errorNs: number): string {
	return errorNs ? `clocks ±${formatNs(errorNs)}` : "all ranks share one clock";
}

/* The file's name, or the folder that holds all of them. */
export function runName(job: Job): string {
	const all = job.files.length ? job.files : job.snapshots;
	const paths = all.map((file) => file.path.split(/[/\\]/).filter(isName));
	const first = paths[0];
	if (!first) return job.dumps ? "flight recorder" : job.lives ? "running job" : "no files";
	if (paths.length === 1) return trimName(first[first.length - 1] ?? "");
	let depth = 0;
	while (paths.every((path) => path.length > depth + 1 && path[depth] === first[depth]))
		depth++;
	const own = trimName(first[first.length - 1] ?? "");
	return depth ? (first[depth - 1] ?? "") : `${own} and ${paths.length - 1} more`;
}

function isName(word: string): boolean {
	return word !== "" && word !== "." && word !== "..";
}

function trimName(name: string): string {
	return name.replace(/((\.pt)?(\.trace)?\.json|\.pickle)(\.gz|\.zst)?$/, "");
}

const MAKERS = /^(NVIDIA|AMD|Intel|Tesla|Instinct|Graphics|Data|Center|GPU)$/i;
const MEMORY = /^(\d+\s?GB|HBM\w*|PCIe|SXM\d?)$/i;

/* "NVIDIA H100 80GB HBM3" -> "H100". */
export function shortDevice(device: string): string {
	const words = device
		.replace(/\((R|TM)\)/gi, "")
		.split(/[\s_]+/)
		.filter((word) => !MAKERS.test(word) && !MEMORY.test(word));
	return words.join(" ") || device;
}

function deviceWords(job: Job): string | null {
	const names = new Set(job.files.flatMap((file) => (file.device ? [file.device] : [])));
	const [only] = names;
	if (!only)
		return job.files.some((file) => file.device_slices) ? "unknown GPU" : null;
	return names.size === 1 ? shortDevice(only) : `${names.size} GPU models`;
}

export function stepCount(job: Job): number {
	return Math.max(0, ...job.files.map((file) => file.steps?.length ?? 0));
}

/* As in the command: warnings have numbers, what is small or open has a dash. */
export function markOf({ level }: { level: string }, number: number): string {
	return level === "warning" ? String(number) : "–";
}

/* "8 ranks · 5 steps · H100" */
export function runWords(job: Job): string {
	const snapshots = job.snapshots.length;
	const events = job.snapshots.reduce((all, one) => all + (one.events ?? 0), 0);
	const points = job.snapshots.reduce((all, one) => all + one.points, 0);
	const held = [plural(snapshots, "memory snapshot")];
	if (events || !points) held.push(plural(events, "event"));
	if (points) held.push(plural(points, "point"));
	if (!job.files.length && job.dumps) return plural(job.dumps, "dump");
	if (!job.files.length && job.lives) return plural(job.lives, "rank");
	if (!job.files.length && snapshots) return held.join(" · ");
	const good = job.files.filter((file) => file.problem === null);
	const ranks = good.filter((file) => file.rank !== null).length;
	const words = [ranks > 0 ? plural(ranks, "rank") : plural(good.length, "file")];
	const steps = stepCount(job);
	words.push(steps ? plural(steps, "step") : "no steps");
	words.push(deviceWords(job) ?? "no GPU");
	const bad = job.files.length - good.length;
	if (bad) words.push(`${plural(bad, "file")} unreadable`);
	if (snapshots) words.push(plural(snapshots, "memory snapshot"));
	return words.join(" · ");
}

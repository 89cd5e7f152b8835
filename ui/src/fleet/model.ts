/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.ts - what the server says about all runs of a store.
 */
import type { Cell, TableDocument } from "../core/types";
import { formatCount, formatNs, formatPercent } from "../core/format";
import type { TableColumn } from "../parts/columns";

/* The answer of the route fleet. */
export interface FleetAnswer {
	store: string;
	error: string | null;
	table?: TableDocument;
	/* Of the series: rows at which the step changes for good. */
	changes?: Change[];
}

export interface Change {
	row: number;
	before_ns: number;
	after_ns: number;
}

export interface Point {
	run: string;
	started: string;
	ns: number;
	commit: string | null;
	change: Change | null;
}

export interface Series {
	job: string;
	points: Point[];
}

/* The column of a table by its name. */
export function cellOf(table: TableDocument, row: number, name: string): Cell {
	const at = table.columns.findIndex((column) => column.name === name);
	return table.rows[row]?.[at] ?? null;
}

export function numberOf(table: TableDocument, row: number, name: string): number {
	return Number(cellOf(table, row, name) ?? 0);
}

/* The unit in which GPU time is read best: hours, of little less. */
export function unitOf(seconds: number): { word: string; seconds: number } {
	if (seconds >= 7200) return { word: "hours", seconds: 3600 };
	return seconds >= 120 ? { word: "minutes", seconds: 60 } : { word: "seconds", seconds: 1 };
}

/* "12.3 GPU hours" */
export function formatGpu(seconds: number): string {
	const unit = unitOf(seconds);
	const value = seconds / unit.seconds;
	const shown = value < 99.95 ? String(Number(value.toPrecision(3))) : formatCount(value);
	return `${shown} GPU ${unit.word}`;
}

export function seriesOf(table: TableDocument, changes: Change[]): Series[] {
	const found = new Map<string, Series>();
	const changed = new Map(changes.map((change) => [change.row, change]));
	table.rows.forEach((_, row) => {
		const job = String(cellOf(table, row, "job"));
		const series = found.get(job) ?? { job, points: [] };
		const commit = cellOf(table, row, "commit");
		found.set(job, series);
		series.points.push({
			run: String(cellOf(table, row, "run_id")),
			started: String(cellOf(table, row, "started") ?? "").slice(0, 19),
			ns: numberOf(table, row, "step_median_ns"),
			commit: commit === null ? null : String(commit),
			change: changed.get(row) ?? null,
		});
	});
	return [...found.values()];
}

/* "from 412 ms to 450 ms (9.2 % slower) since 2026-11-17 10:00, commit 1a2b3c4" */
export function changeWords(point: Point): string {
	if (!point.change) return "";
	const { before_ns, after_ns } = point.change;
	const share = formatPercent((100 * Math.abs(after_ns - before_ns)) / before_ns);
	const way = after_ns > before_ns ? "slower" : "faster";
	const commit = point.commit ? `, commit ${point.commit.slice(0, 12)}` : "";
	const levels = `from ${formatNs(before_ns)} to ${formatNs(after_ns)}`;
	return `${levels} (${share} ${way}) since ${point.started}${commit}`;
}

/* `gpu`: seconds of GPUs, whose unit depends on how much there is. */
export type Draft = Pick<TableColumn, "name" | "type" | "about"> &
	Partial<TableColumn> & { gpu?: string };

/* The rows of a table of the fleet, with the columns that are named, in this order. */
export function drawnOf(
	table: TableDocument,
	drafts: Draft[],
): { columns: TableColumn[]; rows: Cell[][] } {
	const at = (draft: Draft) => table.columns.findIndex(({ name }) => name === draft.name);
	const known = drafts.filter((draft) => at(draft) >= 0);
	const gpu = known.filter((draft) => draft.gpu).map(at);
	const most = Math.max(
		0,
		...table.rows.flatMap((row) => gpu.map((index) => Number(row[index] ?? 0))),
	);
	const unit = unitOf(most);
	const columns = known.map(({ gpu: word, ...draft }, index) => ({
		detail: false,
		bar: false,
		...draft,
		...(word ? { title: `GPU ${unit.word} ${word}` } : {}),
		index,
	}));
	const rows = table.rows.map((row) =>
		known.map((draft) => {
			const cell = row[at(draft)] ?? null;
			return draft.gpu && typeof cell === "number" ? cell / unit.seconds : cell;
		}),
	);
	return { columns, rows };
}

export const LOSSES: Draft[] = [
	{ name: "value", type: "text", about: "value of the label" },
	{ name: "title", type: "text", about: "what is wrong", title: "cause" },
	{
		name: "lost_s",
		type: "number",
		about: "what it costs in the recorded steps of all runs",
		gpu: "lost",
		bar: true,
	},
	{
		name: "share_percent",
		type: "percent",
		about: "of the GPU time recorded by runs with this value",
		title: "of recorded",
	},
	{ name: "runs", type: "count", about: "runs with this finding" },
	{ name: "of_runs", type: "count", about: "all runs with this value", title: "of runs" },
	{ name: "cause", type: "text", about: "rule: stepscope explain RULE", title: "rule" },
];

export const DAYS: Draft[] = [
	{ name: "day", type: "text", about: "day the runs started (UTC)" },
	{ name: "runs", type: "count", about: "runs of that day" },
	{
		name: "lost_s",
		type: "number",
		about: "lost in the recorded steps",
		gpu: "lost",
		bar: true,
	},
	{
		name: "recorded_s",
		type: "number",
		about: "ranks × recorded steps × mean step",
		gpu: "recorded",
	},
	{
		name: "lost_percent",
		type: "percent",
		about: "lost, of recorded",
		title: "of recorded",
	},
];

export const LATE: Draft[] = [
	{ name: "host", type: "text", about: "host of the rank" },
	{ name: "gpu", type: "id", about: "number of the GPU on the host", title: "GPU" },
	{
		name: "late_runs",
		type: "count",
		about: "its rank is late by 3 % of the step and 4 times as much as the median rank",
		title: "late in runs",
		bar: true,
	},
	{ name: "runs", type: "count", about: "runs in which it took part", title: "of runs" },
	{ name: "late_ns", type: "ns", about: "per step, median of those runs", title: "late" },
	{ name: "late_percent", type: "percent", about: "of the step", title: "of step" },
	{ name: "jobs", type: "text", about: "jobs in which it is late" },
];

export const CHANGES: Draft[] = [
	{ name: "job", type: "text", about: "job" },
	{ name: "time", type: "text", about: "when the new level began, to ten minutes (UTC)" },
	{ name: "step", type: "id", about: "number of its first step" },
	{ name: "before_ns", type: "ns", about: "median step before, since the last change" },
	{ name: "after_ns", type: "ns", about: "median step after, up to the next change" },
	{ name: "change_percent", type: "percent", about: "of before", title: "change", bar: true },
	{ name: "part", type: "text", about: "the part of a rank that explains half of it" },
	{ name: "rank", type: "id", about: "rank whose part changed most" },
	{ name: "host", type: "text", about: "its host" },
];

export const RUNS: Draft[] = [
	{ name: "run_id", type: "text", about: "id of the run", title: "run" },
	{ name: "started", type: "text", about: "first event (UTC)" },
	{ name: "job", type: "text", about: "job" },
	{ name: "commit", type: "text", about: "commit of the training code" },
	{ name: "labels", type: "text", about: "labels of the run" },
	{ name: "ranks", type: "count", about: "ranks" },
	{ name: "step_median_ns", type: "ns", about: "median step", title: "step" },
	{ name: "step_p95_ns", type: "ns", about: "95th percentile of the steps", detail: true },
	{ name: "cause", type: "text", about: "rule of the first finding" },
	{ name: "lost_ns", type: "ns", about: "what it costs per step", title: "lost per step" },
	{
		name: "gain_percent",
		type: "percent",
		about: "what the fixes of all warnings save, of the step",
		title: "gain",
		bar: true,
	},
	{ name: "device", type: "text", about: "GPU", detail: true },
	{ name: "steps", type: "count", about: "recorded steps", detail: true },
	{ name: "source", type: "text", about: "where the traces are", detail: true },
];

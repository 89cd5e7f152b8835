/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.ts - types of the core's answers, as described in docs/formats/viewer.md. Those that have a
 * JSON Schema are made of it (diagnosis.ts, tables.ts).
 */
import type { Cause, Coloring } from "./colors";
import type { Quality } from "./diagnosis";

export type {
	Account,
	Diagnosis,
	Doubt,
	Evidence,
	Finding,
	GpuUse,
	Quality,
	Spread,
} from "./diagnosis";

export interface Column {
	name: string;
	unit: "" | "ns" | "bytes" | "percent" | "count" | "number";
	about: string;
}

export type Cell = string | number | null;

export interface TableDocument {
	schema: string;
	group?: string;
	columns: Column[];
	rows: Cell[][];
	row_count: number;
	/* What figures are sums or means of: "sum over 4 steps". */
	basis?: string;
	/* Sums over all rows, null where a column does not add up. */
	totals?: Cell[];
	notes: string[];
	quality: Quality;
}

export interface Step {
	number: number;
	name: string | null;
	start_ns: number;
	end_ns: number;
	dropped: string | null;
}

export interface JobFile {
	file: number;
	rank: number | null;
	path: string;
	problem: string | null;
	host?: string | null;
	device?: string | null;
	start_ns?: number;
	end_ns?: number;
	slices?: number;
	device_slices?: number;
	digest?: boolean; /* there are no events, only what the job needs of the rank */
	aligned?: boolean;
	clock_error_ns?: number | null;
	steps?: Step[];
}

/* The memory of one device in a snapshot. */
export interface SnapshotDevice {
	device: string;
	events: number;
	segments: number;
	exact: boolean; /* every block is known at every moment */
	span_ns: number | null; /* null: times were not recorded */
	peak_event: number | null; /* null: before the first event, or not known */
	ooms: number[];
}

export interface JobSnapshot {
	snapshot: number;
	path: string;
	rank: number | null;
	of_trace: boolean; /* made of the memory events of a trace */
	bytes: number;
	events: number;
	points: number; /* of a memory timeline, which has no devices */
	devices: SnapshotDevice[];
}

/* A trace with memory events: its snapshot is made when it is asked for. */
export type JobTraced = Omit<JobSnapshot, "devices">;

export interface Job {
	version: string;
	runs: number;
	span_ns: number;
	bytes: number;
	events: number;
	seconds: number;
	failed: number;
	skipped: number;
	dumps: number; /* of the flight recorder, and stack files */
	lives: number; /* files of live numbers */
	/* When the first collective began; null where ranks did not meet. */
	collectives_ns: number | null;
	files: JobFile[];
	snapshots: JobSnapshot[]; /* files */
	traced: JobTraced[];
}

export interface Track {
	track: number;
	kind: string;
	name: string;
	about: string | null;
	lanes: number;
	slices: number;
	device: number | null;
	stream: number | null;
	start_ns: number;
	end_ns: number;
}

export interface CurveOffer {
	curve: string;
	device: number | null;
	name: string;
	unit: string;
	high: number | null; /* null: known when it is drawn */
}

export interface Tracks {
	file: number;
	tracks: Track[];
	curves: CurveOffer[];
}

/* A slice as lists have it. */
export interface Place {
	file: number;
	row: number;
	track: number;
	lane: number;
	start_ns: number;
	dur_ns: number;
	name: string;
}

/* What can be asked for: views with groups and columns. */
export interface ColumnOffer {
	name: string;
	type: "id" | "text" | "ns" | "bytes" | "percent" | "count" | "number";
	about: string;
	detail: boolean;
	bar: boolean;
	/* Where a row is on the timeline: it begins there, lasts so long (and so much longer), or
	 * is the longest of the slices or kernels of this name. */
	place?: "moment" | "length" | "longer" | "slice" | "kernel";
	sums: boolean;
}

/* How a part of a step is drawn; a colour is a number of core/colors.ts. */
export interface PartLook {
	name: string;
	color: number;
	hatched: boolean;
	waits: boolean; /* for other ranks */
	about: string;
}

export interface ViewOffer {
	name: string;
	summary: string;
	empty: string;
	of_job: boolean;
	of_snapshot: boolean;
	/* Of dumps of the flight recorder, or of live numbers: traces have neither. */
	of_dumps: boolean;
	groups: string[];
	/* Rows with the most of these stand first; none: they have an order of their own, and so
	 * have those of the groups in own_order. */
	order: string[];
	own_order: string[];
	events: string[]; /* groups whose rows happened once: ranks have no median of them */
	zero: "file" | "collectives" | "steps" | "path"; /* moments count from there */
	columns: ColumnOffer[];
}

export interface Offers {
	views: ViewOffer[];
	causes: Cause[]; /* of idle time */
	colorings: Coloring[]; /* what can give slices their colour */
	terms: { name: string; text: string }[]; /* of the glossary */
	phases: PartLook[]; /* parts of the view phases, in the order in which they are drawn */
	rank_parts: PartLook[]; /* of the view ranks, group part */
	routes: { name: string; summary: string; parameters: string; apart: boolean }[];
}

/* Where a finding is on the timeline. */
export interface FlagPlace {
	file: number;
	track: number;
	lane: number | null;
	row: number | null /* nothing is recorded there */;
	start_ns: number;
	end_ns: number;
	ns: number;
}

/* Places that cost most, those of each stretch of the run, and how many there are. */
export interface Flag {
	number: number;
	rule: string;
	level: string;
	title: string;
	count: number;
	places: FlagPlace[];
	spread: FlagPlace[];
	collective: Place | null; /* where the other ranks wait longest for the one it is about */
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.ts - tables as `stepscope schema table` describes them, and the answers of routes as each
 * route declares its own. Made by tools/ui_types.py; a test fails when they differ.
 */
import type { Quality, Run, RunOfFiles } from "./diagnosis";

export type * from "./diagnosis";

export type Unit = "" | "ns" | "bytes" | "percent" | "count" | "number";

export type Cell = string | number | null;

export interface Column {
	/* name of the column; the unit last */
	name: string;
	/* ns, bytes, percent, count, number, or empty for names and ids */
	unit: Unit;
	/* what it is */
	about: string;
}

export interface TableDocument {
	/* what this document is; the number changes if readers break */
	schema: string;
	/* what a row stands for (--group) */
	group?: string;
	/* what times and counts refer to; absent if steps do not matter */
	basis?: string;
	/* the columns, in the order of the cells */
	columns: Column[];
	/* each row an array of cells; null: not recorded, or does not apply */
	rows: ((string | number | null)[])[];
	/* rows before --top */
	row_count: number;
	/* sentences about the whole table */
	notes: string[];
	/* sums of the columns that add up, over all rows; null for the others */
	totals?: (string | number | null)[];
	/* the run that the files are of; absent in lists and in parts of reports */
	run?: Run;
	/* how far the files can be trusted; absent in parts of reports */
	quality?: Quality;
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
	slices?: number;
	device_slices?: number;
	digest?: true;
	start_ns?: number;
	end_ns?: number;
	aligned?: boolean;
	clock_error_ns?: number | null;
	steps?: Step[];
}

export interface SnapshotDevice {
	device: string;
	events: number;
	segments: number;
	exact: boolean;
	span_ns: number | null;
	peak_event: number | null;
	ooms: number[];
}

export interface JobSnapshot {
	snapshot: number;
	path: string;
	rank: number | null;
	of_trace: boolean;
	bytes: number;
	events: number | null;
	points: number;
	devices: SnapshotDevice[] | null;
}

export interface JobAnswer {
	schema: "stepscope.job/1";
	version: string;
	runs: number;
	span_ns: number;
	bytes: number;
	events: number;
	seconds: number;
	failed: number;
	skipped: number;
	dumps: number;
	lives: number;
	collectives_ns: number | null;
	files: JobFile[];
	snapshots: JobSnapshot[];
	run: Run;
	recorded_runs: RunOfFiles[];
}

export interface Track {
	track: number;
	kind: "main" | "autograd" | "loader" | "thread" | "idle" | "compute" |
		"communication" | "copy" | "other";
	name: string;
	about: string;
	lanes: number;
	slices: number;
	device: number | null;
	stream: number | null;
	start_ns: number;
	end_ns: number;
}

export interface CurveOffer {
	curve: "utilization" | "memory" | "reserved" | "queue" | "counter";
	device: number | null;
	name: string;
	unit: string;
	high: number | null;
}

export interface TracksAnswer {
	schema: "stepscope.tracks/1";
	file: number;
	tracks: Track[];
	curves: CurveOffer[];
}

export interface ColorsAnswer {
	schema: "stepscope.colors/1";
	color: string;
	colors: { number: number; name: string }[];
	missing: string | null;
}

export interface RowName {
	row: number;
	name: string;
}

export interface Flow extends Place {
	kind: "launch" | "operator" | "backward";
	way: "from" | "to";
}

export interface Member extends Place {
	rank: number | null;
	wait_ns: number | null;
}

export interface Collective {
	kind: string;
	bytes: number | null;
	transfer_ns: number | null;
	wait_ns: number | null;
	last_rank: number | null;
	members: (Member | { file: null; rank: number | null; wait_ns: number | null })[];
}

export interface SliceGap extends GapSpot {
	is_cause: boolean;
}

export interface SliceAnswer extends Place {
	schema: "stepscope.slice/1";
	rank: number | null;
	short: string;
	kind: string;
	category: string | null;
	color: number;
	self_ns: number | null;
	step: number | null;
	args: { name: string; value: string; own?: true }[];
	stack: string[];
	stack_of: RowName | null;
	missing: string[];
	parents: RowName[];
	flows: Flow[];
	flow_count: number;
	gap: SliceGap | null;
	before?: GapSpot;
	collective: Collective | null;
}

export interface GapCause extends Partial<Spot> {
	cause: string;
	number: number;
	ns: number;
	op?: string | null;
	line?: string | null;
}

export interface GapAnswer extends GapSpot {
	schema: "stepscope.gap/1";
	file: number;
	rank: number | null;
	device: number;
	step: number;
	causes: GapCause[];
	during: Spot | null;
	next: Spot | null;
	says: string;
}

export interface GapSpot {
	gap: number;
	track: number;
	lane: number;
	start_ns: number;
	dur_ns: number;
	name: string;
}

export type NearAnswer = Spot | GapSpot | null;

export interface Spot {
	row: number;
	track: number;
	lane: number;
	start_ns: number;
	dur_ns: number;
	name: string;
}

export interface Place extends Spot {
	file: number;
}

export interface SearchAnswer {
	schema: "stepscope.search/1";
	count: number;
	names: number;
	total_ns: number;
	hits: Place[];
	next?: number;
	marks?: number[];
}

export interface RangeTrack {
	file: number;
	rank: number | null;
	track: number;
	name: string;
	kind: Track["kind"];
	busy_ns: number;
	count: number;
}

export type Where = "host" | "device" | "other" | "idle";

export interface RangeName {
	where: Where;
	name: string;
	color: number;
	count: number;
	total_ns: number;
	self_ns: number;
	file: number;
	longest_row?: number;
	longest_gap?: number;
	track?: number;
}

export interface RangeColor {
	where: Where;
	color: number;
	count: number;
	self_ns: number;
}

export interface RangeDevice {
	file: number;
	rank: number | null;
	device: number;
	busy_ns: number;
	track: number | null;
	causes: { cause: string; number: number; ns: number; count: number; longest_gap:
		number }[];
	outside_ns: number;
}

export type RangeNode = [parent: number, text: number, color: number, count: number,
	total_ns: number, self_ns: number, rest_ns: number];

export interface RangeAnswer {
	schema: "stepscope.range/1";
	from_ns: number;
	to_ns: number;
	tracks: RangeTrack[];
	names: RangeName[];
	name_count: number;
	devices: RangeDevice[];
	colors: RangeColor[];
	texts: string[];
	tree: RangeNode[];
	tree_rest_ns: number;
}

export interface PathPiece {
	file: number;
	track: number | null;
	lane: number | null;
	row: number | null;
	start_ns: number;
	end_ns: number;
	part: string;
	count: number;
}

export interface PathAnswer {
	schema: "stepscope.path/1";
	length_ns: number;
	parts: { part: string; ns: number }[];
	pieces: PathPiece[];
}

export interface FlagPlace {
	file: number;
	track: number | null;
	lane: number | null;
	row: number | null;
	start_ns: number;
	end_ns: number;
	ns: number;
}

export interface Flag {
	number: number;
	rule: string;
	level: "warning" | "info";
	title: string;
	count: number;
	places: FlagPlace[];
	spread: FlagPlace[];
	collective: Place | null;
}

export interface FlagsAnswer {
	schema: "stepscope.flags/1";
	flags: Flag[];
}

export interface SnapshotAnswer {
	schema: "stepscope.snapshot/1";
	entry: JobSnapshot;
}

export type Block = [offset: number, bytes: number, state: "used" | "pending" | "free",
	category: string | null, requested_bytes: number | null, stack: number | null, event: number
	| null];

export interface Segment {
	address: string;
	bytes: number;
	stream?: number;
	type?: string;
	expandable?: boolean;
	blocks: Block[];
}

export interface BlocksAnswer {
	schema: "stepscope.blocks/1";
	event: number | null;
	segments: Segment[];
}

export interface Frame {
	line: number;
	file: string | null;
	name: string | null;
	own: boolean;
	noise: boolean;
}

export interface StackAnswer {
	schema: "stepscope.stack/1";
	stack: number;
	line: string | null;
	frames: Frame[];
	made?: number;
	freed?: number;
	peak_bytes?: number;
	peak_blocks?: number;
	end_bytes?: number;
	end_blocks?: number;
}

export interface StackSums {
	stack: number;
	text: string | null;
	peak_bytes?: number;
	peak_blocks?: number;
	end_bytes: number;
	end_blocks: number;
	made: number;
	freed: number;
}

export interface StacksAnswer {
	schema: "stepscope.stacks/1";
	line: string | null;
	count: number;
	stacks: StackSums[];
}

export interface OtherEvent {
	event: number;
	at_ns: number | null;
	stack: number;
	line: string | null;
}

export interface MemoryEvent {
	schema: "stepscope.event/1";
	event: number;
	action: string;
	at_ns: number | null;
	address: string;
	bytes: number | null;
	requested_bytes: number | null;
	stack: number;
	line: string | null;
	category: string | null;
	freed: OtherEvent | null;
	made: OtherEvent | null;
	active_bytes: number;
	reserved_bytes: number | null;
	peak: number | null;
	peaks: number;
}

export type EventAnswer = MemoryEvent | null;

export interface ColumnOffer {
	name: string;
	type: "id" | "text" | Unit;
	about: string;
	detail: boolean;
	bar: boolean;
	sums: boolean;
	place?: "moment" | "length" | "longer" | "slice" | "kernel";
}

export interface ViewOffer {
	name: string;
	summary: string;
	empty: string;
	of_job: boolean;
	of_snapshot: boolean;
	of_dumps: boolean;
	groups: string[];
	own_order: string[];
	events: string[];
	zero: "file" | "collectives" | "steps" | "path";
	order: string[];
	columns: ColumnOffer[];
}

export interface RouteOffer {
	name: string;
	summary: string;
	parameters: string;
	apart: boolean;
	answer: string | null;
}

export interface Cause {
	name: string;
	color: number;
	about: string;
}

export interface Coloring {
	name: string;
	about: string;
}

export interface PartLook {
	name: string;
	color: number;
	hatched: boolean;
	waits: boolean;
	about: string;
}

export interface OffersAnswer {
	schema: "stepscope.offers/1";
	views: ViewOffer[];
	routes: RouteOffer[];
	causes: Cause[];
	colorings: Coloring[];
	terms: { name: string; text: string }[];
	phases: PartLook[];
	rank_parts: PartLook[];
}

/* What routes answer. */
export interface Answers {
	job: JobAnswer;
	tracks: TracksAnswer;
	colors: ColorsAnswer;
	slice: SliceAnswer;
	gap: GapAnswer;
	near: NearAnswer;
	search: SearchAnswer;
	range: RangeAnswer;
	path: PathAnswer;
	flags: FlagsAnswer;
	snapshot: SnapshotAnswer;
	blocks: BlocksAnswer;
	stack: StackAnswer;
	stacks: StacksAnswer;
	event: EventAnswer;
	offers: OffersAnswer;
}

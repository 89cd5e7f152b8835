/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.ts - the verdict, as `stepscope schema diagnose` describes it. Made by
 * tools/ui_types.py; a test fails when they differ.
 */

export interface Account {
	/* the mean step: the sum of the next six */
	step_ns: number;
	/* what the fixes of all findings save together */
	explained_ns: number;
	/* necessary computing */
	compute_ns: number;
	/* necessary communication, with waiting for stages of a pipeline */
	communication_ns: number;
	/* necessary copies */
	copies_ns: number;
	/* launches and Python that limit the step when the fixes are in place */
	host_ns: number;
	/* what no finding explains */
	unexplained_ns: number;
	/* parts of explained_ns */
	of_explained: { warnings_ns: number; smaller_ns: number };
	/* parts of communication_ns */
	of_communication: { transfers_ns: number; waiting_for_stages_ns: number };
	/* parts of unexplained_ns */
	of_unexplained: { idle_ns: number; waiting_for_ranks_ns: number };
}

export interface Diagnosis {
	/* what this document is; the number changes if readers break */
	schema: "stepscope.diagnose/1";
	/* the mean step */
	step_ns: number | null;
	/* the predicted step with all warnings fixed */
	fixed_step_ns: number | null;
	/* the shorter bound: if fixes do more than expected */
	fixed_low_ns: number | null;
	/* the longer bound: if they do less than expected */
	fixed_high_ns: number | null;
	/* the same, and GPU work at the rates that are reached */
	ceiling_ns: number | null;
	/* of the step: first calls, which a steady step lacks */
	start_up_ns: number | null;
	/* steps of the rank that has most */
	steps: number;
	/* ranks that were examined */
	ranks: number;
	/* memory snapshots that were examined */
	snapshots: number;
	/* how far the unchanged replay is off, of the step */
	replay_error_percent: number | null;
	/* problems of the files */
	warnings: Doubt[];
	/* all runs that the files belong to, by time */
	runs: RunOfFiles[];
	/* what the command prints about them */
	runs_text: string | null;
	/* how much steps differ; null with fewer than three */
	spread: Spread | null;
	/* where the mean step goes; null without steps */
	account: Account | null;
	/* how busy the GPUs are, as the command prints it */
	gpu_text: string | null;
	/* how busy the GPUs are; null without GPUs in the steps */
	gpu: GpuUse | null;
	/* how fast the step could become, as the command prints it */
	ceiling_text: string | null;
	/* what-if: the step on another GPU */
	other_gpu: OtherGpu | null;
	/* what counts as a step where none is marked */
	steps_text: string | null;
	/* why the figures cannot be known from these files */
	blind_text: string | null;
	/* the bottleneck after the fixes */
	next: string | null;
	/* what-if: fixes that do not apply to these files */
	not_found: string | null;
	/* findings before --top */
	finding_count: number;
	/* findings, the one that saves most first */
	findings: Finding[];
	/* the replay misses the step by more than 5 %: use low and high only */
	only_bounds: boolean;
	/* uncertainty of the least certain clock */
	clock_error_ns: number | null;
	/* ranks of the job of which there is no file */
	missing_ranks: number;
	/* ranks whose clocks cannot be compared */
	unaligned_ranks: number;
	/* collectives that were not found on other ranks */
	unmatched_collectives: number;
	/* waits of streams for each other that were recorded */
	recorded_waits: number;
	/* waits inferred from when work started */
	inferred_waits: number;
	/* the run that the files are of */
	run: Run;
	/* how far the files can be trusted: sums of the view quality */
	quality: Quality;
}

export interface Doubt {
	/* kind of the problem: cut, damaged, snapshot-cut, no-device-events, ... */
	what: string;
	/* files that have it */
	files: number;
	/* files in all */
	of_files: number;
	/* the sentence that the command prints */
	text: string;
}

export interface Evidence {
	/* the sentence */
	text: string;
	/* line of the user's program */
	line: string | null;
	/* its time per step, mean over the affected ranks */
	weight_ns: number | null;
	/* of memory: number of the file among the snapshots of the run, sorted by name */
	snapshot?: number;
	/* of memory: number of the device */
	device?: number;
}

export interface Finding {
	/* name of the rule: stepscope explain RULE */
	rule: string;
	/* warning or info */
	level: string;
	/* what is wrong */
	title: string;
	/* the rank that causes it */
	rank: number | null;
	/* the affected ranks; null for a file without a rank */
	ranks: (number | null)[];
	/* saving per step when the fixes before it are in place */
	cost_ns: number | null;
	/* the same if the fix does less than expected */
	cost_low_ns: number | null;
	/* the same if it does more than expected */
	cost_high_ns: number | null;
	/* saving of this fix on its own */
	alone_ns: number | null;
	/* cost_ns in percent of step_ns */
	share_percent: number | null;
	/* true: no fix saves it, but a steady step does not have it */
	is_start_up?: boolean;
	/* memory that it concerns, from a snapshot */
	bytes?: number;
	/* what the bytes are */
	bytes_are?: string | null;
	/* low, medium or high */
	confidence: string;
	/* reason for the confidence */
	reason: string | null;
	/* what is assumed beyond the evidence */
	beyond_evidence: string | null;
	/* sentences, heaviest first */
	evidence: Evidence[];
	/* what to do */
	fix: string | null;
	/* what to record to be more certain */
	surer: string | null;
}

export interface GpuUse {
	/* time in which GPUs work, of their steps: mean over ranks */
	busy_percent: number;
	/* time in which they compute */
	compute_percent: number;
	/* time in which they only communicate */
	exposed_communication_percent: number;
	/* time in which they only copy */
	exposed_copies_percent: number;
	/* busy_percent of the least busy rank */
	busy_min_percent: number;
	/* busy_percent of the busiest rank */
	busy_max_percent: number;
	/* idle time with the largest cause, of the steps */
	idle_cause_percent: number;
	/* the largest cause of idle time, as in the view gaps */
	idle_cause: string | null;
	/* FLOPs of the model, of what the GPUs could do in the steps */
	mfu_percent: number | null;
	/* the same with what backward computes a second time */
	hfu_percent: number | null;
	/* kernel time of operators whose FLOPs are known, of all kernel time */
	flops_known_percent: number | null;
	/* why MFU is unknown */
	mfu_unknown: string | null;
	/* kernel time by kind, the largest first */
	kernels: { kind: string; percent: number }[];
}

export interface GpuWork {
	/* what limits it: as in the view roofline, collectives or copies */
	limit: string;
	/* its time per step, mean over ranks */
	now_ns: number;
	/* the same on the other GPU */
	then_ns: number;
	/* the shorter bound */
	low_ns: number;
	/* the longer bound */
	high_ns: number;
}

export interface OtherGpu {
	/* as in the table of GPUs */
	name: string;
	/* the step there, with the fixes that --fix names */
	step_ns: number;
	/* the shorter bound */
	low_ns: number;
	/* the longer bound */
	high_ns: number;
	/* GPU work per step, by what limits it */
	work: GpuWork[];
}

export interface Outlier {
	/* number of the step */
	step: number;
	/* it is the first step */
	first: boolean;
	/* its duration */
	step_ns: number;
	/* how much it exceeds the median */
	excess_ns: number;
	/* by how much its cause exceeds that part of the median step */
	cause_ns: number | null;
	/* the part of the step that exceeds the median step most */
	cause: string | null;
}

export interface Quality {
	/* number of files */
	files: number;
	/* files that could not be read */
	unreadable_files: number;
	/* events that are lost */
	lost: number;
	/* events that were repaired */
	mended: number;
	/* things worth knowing that lose nothing */
	notes: number;
	/* kinds of data that were not recorded */
	absent: number;
}

export interface Run {
	/* id of the run: recorded by the program, else the profiler's trace_id if all files
	 * have the same one */
	id: string | null;
	/* wall-clock time of the first event, in ns since 1970 */
	start_ns: number | null;
	/* the same to the second, in UTC: 2026-11-16T05:16:12Z */
	start: string | null;
	/* host name of the first file that records one */
	host: string | null;
	/* number of different host names in the files */
	hosts: number | null;
	/* command that started the program */
	command: string | null;
	/* commit of the training code */
	commit: string | null;
}

export interface RunOfFiles {
	/* number for --run */
	number: number;
	/* name for --run */
	name: string;
	/* path of its first file */
	first_file: string;
	/* wall-clock time of its first event, in ns since 1970 */
	start_ns: number | null;
	/* wall-clock time of its last event */
	end_ns: number | null;
	/* its files */
	files: number;
	/* its ranks */
	ranks: number;
	/* number of ranks in the job, as recorded */
	world_size: number | null;
	/* files that are truncated */
	cut_files: number;
	/* all ranks are present and no file is truncated */
	complete: boolean;
	/* this output is about it */
	chosen: boolean;
}

export interface Spread {
	/* longest and shortest step differ by more than 20 % of the median */
	uneven: boolean;
	/* median step */
	median_ns: number;
	/* 10th percentile */
	p10_ns: number;
	/* 90th percentile */
	p90_ns: number;
	/* shortest step */
	min_ns: number;
	/* longest step */
	max_ns: number;
	/* steps that exceed the median by more than 20 % */
	outlier_count: number;
	/* the longest of them, at most three */
	outliers: Outlier[];
	/* the command's sentence about them */
	outliers_text: string | null;
}

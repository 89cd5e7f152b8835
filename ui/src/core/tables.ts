/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.ts - the views of the core, their columns and what they hold. Made by
 * tools/ui_types.py from the declarations in C; a test fails when they differ.
 */
export const VIEWS = {
	utilization: {
		rank: "id", device: "id", span_ns: "ns", gpu_percent: "percent",
		sm_percent: "percent", occupancy_percent: "percent", tensor_percent: "percent",
		tensor_eligible_percent: "percent", busy_ns: "ns", idle_ns: "ns", kernel_ns: "ns",
		compute_ns: "ns", exposed_comm_ns: "ns", exposed_copy_ns: "ns",
	},
	breakdown: {
		rank: "id", step: "id", name: "text", start_ns: "ns", phase: "text", dur_ns: "ns",
		kernel_ns: "ns", memcpy_ns: "ns", memset_ns: "ns", communication_ns: "ns",
		runtime_ns: "ns", dataloader_ns: "ns", cpu_ns: "ns", other_ns: "ns", part: "text",
		mean_ns: "ns", step_percent: "percent", total_ns: "ns",
	},
	phases: {
		rank: "id", device: "id", step: "id", phase: "text", host_ns: "ns",
		host_percent: "percent", device_ns: "ns", device_percent: "percent",
	},
	budget: {
		rank: "id", device: "id", step: "id", dur_ns: "ns", compute_ns: "ns",
		exposed_comm_ns: "ns", exposed_copy_ns: "ns", idle_ns: "ns", comm_ns: "ns",
		overlap_percent: "percent", part: "text", mean_ns: "ns", step_percent: "percent",
		total_ns: "ns",
	},
	gaps: {
		rank: "id", device: "id", step: "id", cause: "text", idle_ns: "ns",
		step_percent: "percent", gaps: "count", longest_ns: "ns", at_ns: "ns", host: "text",
		op: "text", line: "text", next: "text",
	},
	syncs: {
		rank: "id", step: "id", call: "text", op: "text", idle_ns: "ns",
		idle_percent: "percent", blocked_ns: "ns", per_step: "number", calls: "count",
		longest_ns: "ns", at_ns: "ns", line: "text",
	},
	launches: {
		rank: "id", step: "id", device: "id", stream: "id", thread: "text", op: "text",
		graph: "id", call: "text", calls: "count", nodes: "number", device_events: "count",
		call_ns: "ns", call_mean_ns: "ns", call_max_ns: "ns", device_ns: "ns",
		delay_median_ns: "ns", delay_max_ns: "ns", short_percent: "percent",
		late_percent: "percent", queue_mean: "number", queue_max: "count",
	},
	operators: {
		rank: "id", name: "text", shapes: "text", line: "text", module: "text",
		calls: "count", host_self_ns: "ns", host_total_ns: "ns", host_mean_ns: "ns",
		device_self_ns: "ns", device_total_ns: "ns", device_percent: "percent",
		tensor_percent: "percent", tensor_eligible: "text", gflop: "number",
		tflop_per_s: "number", category: "text", types: "text", allocated_bytes: "bytes",
		host_allocated_bytes: "bytes",
	},
	compile: {
		rank: "id", step: "id", name: "text", calls: "count", version: "id", host_ns: "ns",
		host_total_ns: "ns", compile_ns: "ns", guard_ns: "ns", lookups: "count",
		graph_breaks: "count", kernels: "count", device_ns: "ns", device_percent: "percent",
		triton_percent: "percent", eager_kernels: "count", eager_ns: "ns",
		between_kernels: "count", graph: "text",
	},
	modules: {
		rank: "id", module: "text", share_percent: "percent", device_total_ns: "ns",
		device_self_ns: "ns", backward_ns: "ns", host_total_ns: "ns", calls: "count",
		backward_host_ns: "ns", host_self_ns: "ns", operators: "count",
		backward_self_ns: "ns", operators_ns: "ns", depth: "count", path: "text",
	},
	stacks: {
		rank: "id", frame: "text", stack: "text", time_ns: "ns", share_percent: "percent",
		self_ns: "ns", calls: "count", frames: "count", leaf: "text", depth: "count",
		path: "text",
	},
	kernels: {
		rank: "id", kernel: "text", op: "text", device: "id", stream: "id", line: "text",
		calls: "count", total_ns: "ns", share_percent: "percent", mean_ns: "ns",
		max_ns: "ns", occupancy_percent: "percent", tensor_cores: "text", name: "text",
		category: "text", kind: "text", min_ns: "ns", std_ns: "ns", blocks_per_sm: "number",
		grid: "text", block: "text", registers: "count", shared_bytes: "bytes",
	},
	durations: {
		rank: "id", category: "text", bucket: "text", from_ns: "ns", to_ns: "ns",
		calls: "count", calls_percent: "percent", total_ns: "ns", time_percent: "percent",
	},
	sequences: {
		rank: "id", share_percent: "percent", calls: "count", kernels: "count",
		total_ns: "ns", mean_ns: "ns", span_ns: "ns", gap_ns: "ns", op: "text",
		sequence: "text",
	},
	roofline: {
		rank: "id", step: "id", name: "text", shapes: "text", calls: "count", dur_ns: "ns",
		device_ns: "ns", host_ns: "ns", peak_percent: "percent", reach_percent: "percent",
		best_percent: "percent", mfu_percent: "percent", hfu_percent: "percent",
		bound: "text", limit: "text", tflop_per_s: "number", gb_per_s: "number",
		dtype: "text", gflop: "number", moved_bytes: "bytes", flop_per_byte: "number",
		kind: "text",
	},
	copies: {
		rank: "id", name: "text", op: "text", line: "text", calls: "count",
		moved_bytes: "bytes", total_ns: "ns", blocked_ns: "ns", gb_per_s: "number",
		host_memory: "text", host_ns: "ns",
	},
	communication: {
		rank: "id", collective: "text", group: "text", description: "text",
		group_size: "count", hider: "text", calls: "count", hidden_ns: "ns",
		share_percent: "percent", message_bytes: "bytes", total_ns: "ns", exposed_ns: "ns",
		overlap_percent: "percent", moved_bytes: "bytes", mean_ns: "ns", min_ns: "ns",
		busbw: "number", mean_busbw: "number", algbw: "number", dtype: "text",
		group_ranks: "text", where: "text",
	},
	inference: {
		rank: "id", step: "id", kind: "text", steps: "count", batch: "count",
		batch_mean: "number", tokens: "count", context_tokens: "count",
		generated_tokens: "count", tokens_per_s: "number", dur_ns: "ns", total_ns: "ns",
		mean_ns: "ns", median_ns: "ns", p99_ns: "ns", busy_ns: "ns", idle_ns: "ns",
		busy_percent: "percent", gap_before_ns: "ns", kernels: "count",
		graph_launches: "count", start_ns: "ns", name: "text",
	},
	memory: {
		rank: "id", device: "text", events: "count", peak_allocated_bytes: "bytes",
		peak_percent: "percent", peak_reserved_bytes: "bytes", gap_bytes: "bytes",
		net_bytes: "bytes", peak_at_ns: "ns", totals: "text", out_of_memory: "count",
		name: "text", memory_bytes: "bytes",
	},
	"memory-steps": {
		rank: "id", device: "text", step: "id", name: "text", min_bytes: "bytes",
		growth_bytes: "bytes", peak_bytes: "bytes", peak_reserved_bytes: "bytes",
		start_bytes: "bytes", end_bytes: "bytes", allocations: "count",
		allocated_bytes: "bytes", net_bytes: "bytes", kept_bytes: "bytes",
	},
	"memory-ops": {
		rank: "id", device: "text", op: "text", line: "text", module: "text",
		at_peak_bytes: "bytes", at_peak_percent: "percent", allocated_bytes: "bytes",
		allocations: "count", size_increase_bytes: "bytes", calls: "count",
		self_allocated_bytes: "bytes", self_allocations: "count",
		self_increase_bytes: "bytes",
	},
	allocations: {
		rank: "id", device: "text", up_to: "text", allocations: "count",
		size_bytes: "bytes", op: "text", line: "text", at_ns: "ns", lifetime_ns: "ns",
		step: "id", freed: "count", freed_ns: "ns", allocator: "text", address: "text",
	},
	"memory-curve": {
		rank: "id", device: "text", at_ns: "ns", min_bytes: "bytes", max_bytes: "bytes",
		reserved_bytes: "bytes", allocated_percent: "percent", events: "count",
	},
	streams: {
		rank: "id", device: "id", stream: "id", events: "count", busy_ns: "ns",
		host_wait_ns: "ns", kernel_wait_ns: "ns", other_wait_ns: "ns",
	},
	temporal: {
		rank: "id", device: "id", total_ns: "ns", compute_ns: "ns", exposed_comm_ns: "ns",
		exposed_copy_ns: "ns", idle_ns: "ns", comm_ns: "ns", overlap_percent: "percent",
	},
	files: {
		rank: "id", file: "text", folder: "text", events: "count", steps: "count",
		median_step_ns: "ns", span_ns: "ns", device_events: "count", oddities: "count",
		problem: "text", device: "text", world_size: "count", backend: "text",
		process_groups: "count", host: "text", run_id: "text", start_ns: "id",
		command: "text", commit: "text", trace_id: "text", software: "text", flags: "text",
		kept_events: "count", unpacked_bytes: "bytes", base_time_ns: "id", origin_ns: "id",
		path: "text", packed_of: "text", disk_bytes: "bytes",
	},
	devices: {
		rank: "id", device: "id", name: "text", kernels: "count", comm_kernels: "count",
		memcpys: "count", memsets: "count", orphans: "count", memory_bytes: "bytes",
		multiprocessors: "count", compute: "text", warp_size: "count",
	},
	categories: {
		rank: "id", category: "text", files: "count", events: "count",
		share_percent: "percent",
	},
	tracks: {
		rank: "id", track: "text", name: "text", pid: "text", tid: "text", events: "count",
		busy_ns: "ns", share_percent: "percent", depth: "count", first_ns: "ns",
		last_ns: "ns",
	},
	steps: {
		rank: "id", step: "id", name: "text", dur_ns: "ns", start_ns: "ns", end_ns: "ns",
		host_dur_ns: "ns", host_start_ns: "ns", host_end_ns: "ns", device_events: "count",
		file_start_ns: "ns", file_end_ns: "ns", anchor: "text", dropped: "text",
	},
	events: {
		rank: "id", row: "id", track: "text", pid: "text", tid: "text", category: "text",
		name: "text", start_ns: "ns", duration_ns: "ns", step: "id", depth: "count",
		parent: "id", link: "id", correlation: "id",
	},
	quality: {
		rank: "id", oddity: "text", severity: "text", files: "count", count: "count",
		first_byte: "id", time_ns: "ns", share_percent: "percent", meaning: "text",
	},
	ranks: {
		rank: "id", host: "text", step: "id", for: "id", steps: "count", step_ns: "ns",
		compute_ns: "ns", comm_ns: "ns", overlap_percent: "percent", exposed_ns: "ns",
		wait_ns: "ns", lateness_ns: "ns", last: "count", collectives: "count",
		idle_ns: "ns", part: "text", part_ns: "ns", part_percent: "percent",
	},
	stragglers: {
		rank: "id", pattern: "text", late_ns: "ns", step_percent: "percent", steps: "count",
		of_steps: "count", inherited_ns: "ns", last_by_ns: "ns", lost_ns: "ns",
		cause: "text", host: "text",
	},
	collectives: {
		rank: "id", number: "id", collective: "text", group: "text", step: "id",
		calls: "count", members: "count", message_bytes: "bytes", transfer_ns: "ns",
		wait_ns: "ns", spread_ns: "ns", arrival_ns: "ns", last: "id", busbw: "number",
		best_percent: "percent", at_ns: "ns", causality: "text",
	},
	imbalance: {
		rank: "id", name: "text", excess_ns: "ns", excess_percent: "percent",
		median_ns: "ns", max_ns: "ns", min_ns: "ns", worst: "id", calls_percent: "percent",
		ranks: "count",
	},
	"idle-together": {
		rank: "id", cause: "text", idle_ns: "ns", step_percent: "percent", times: "count",
		longest_ns: "ns", ranks_percent: "percent", at_ns: "ns", host: "text",
	},
	clocks: {
		rank: "id", host: "text", offset_ns: "ns", error_ns: "ns", drift_ppb: "id",
		anchors: "count", residual_p50_ns: "ns", residual_p90_ns: "ns", violations: "count",
		component: "id",
	},
	"hang-causes": {
		rank: "id", cause: "text", ranks: "text", operation: "text", process_group: "text",
		sequence: "id", line: "text", waiting: "count", waiting_ranks: "text",
		since_ns: "ns", sentence: "text", fix: "text",
	},
	"hang-ranks": {
		rank: "id", state: "text", ranks: "text", count: "count", operation: "text",
		process_group: "text", sequence: "id", line: "text", place: "text", since_ns: "ns",
		dropped: "count",
	},
	"hang-groups": {
		rank: "id", process_group: "text", members: "count", called: "id",
		called_by_all: "id", pending: "id", operation: "text", waiting: "count",
		absent: "count", absent_ranks: "text",
	},
	"hang-map": {
		rank: "id", process_group: "text", ranks: "text", count: "count", first: "id",
		calls: "text", operation: "text", line: "text", place: "text", stack: "text",
	},
	"live-changes": {
		rank: "id", step: "id", time: "text", before_ns: "ns", after_ns: "ns",
		change_percent: "percent", part: "text", part_before_ns: "ns", part_after_ns: "ns",
		sentence: "text",
	},
	"live-ranks": {
		rank: "id", host: "text", step: "id", behind: "count", silent_ns: "ns",
		step_ns: "ns", data_ns: "ns", gc_ns: "ns", optimizer_ns: "ns", gpu_ns: "ns",
		steps: "count", job: "text", begin_ns: "ns",
	},
	"live-steps": {
		rank: "id", time: "text", step: "id", steps: "count", ranks: "count", step_ns: "ns",
		longest_ns: "ns", longest_rank: "id", data_ns: "ns", longest_data_ns: "ns",
		longest_data_rank: "id", gc_ns: "ns", gpu_ns: "ns", recorded: "count",
	},
	"critical-path": {
		rank: "id", part: "text", name: "text", path_ns: "ns", path_percent: "percent",
		pieces: "count", longest_ns: "ns", at_ns: "ns", step: "id", longest_rank: "id",
	},
	places: {
		rank: "id", place: "text", time_ns: "ns", share_percent: "percent", excess_ns: "ns",
		kind: "text", calls: "count", type: "text", depth: "count",
	},
	"snapshot-findings": {
		finding: "text", severity: "text", device: "text", bytes: "bytes", evidence: "text",
		fix: "text",
	},
	"snapshot-summary": {
		device: "text", reserved_bytes: "bytes", allocated_bytes: "bytes",
		peak_active_bytes: "bytes", peak_reserved_bytes: "bytes", external_bytes: "bytes",
		releasable_bytes: "bytes", largest_free_bytes: "bytes", active_bytes: "bytes",
		requested_bytes: "bytes", internal_bytes: "bytes", peak_requested_bytes: "bytes",
		peak_at_ns: "ns", segments: "count", blocks: "count", events: "count",
		allocations: "count", out_of_memory: "count", replay: "text",
	},
	"snapshot-holders": {
		device: "text", line: "text", category: "text", peak_bytes: "bytes",
		peak_percent: "percent", peak_blocks: "count", end_bytes: "bytes",
		end_blocks: "count", repeats: "count", checkpoint_bytes: "bytes", stack: "text",
	},
	"snapshot-phases": {
		device: "text", step: "id", phase: "text", steps: "count", peaks: "count",
		peak_bytes: "bytes", peak_percent: "percent", rise_bytes: "bytes",
		net_bytes: "bytes", line: "text", event: "id", at_ns: "ns",
	},
	"snapshot-timeline": {
		device: "text", at_ns: "ns", event: "id", min_bytes: "bytes", max_bytes: "bytes",
		active_percent: "percent", reserved_bytes: "bytes", parameter_bytes: "bytes",
		optimizer_state_bytes: "bytes", gradient_bytes: "bytes", activation_bytes: "bytes",
		temporary_bytes: "bytes", input_bytes: "bytes", autograd_detail_bytes: "bytes",
		unknown_bytes: "bytes", events: "count", line: "text", line_bytes: "bytes",
		stack: "text",
	},
	"snapshot-allocations": {
		device: "text", bytes: "bytes", requested_bytes: "bytes", allocations: "count",
		held_gb_s: "number", held_percent: "percent", line: "text", category: "text",
		at_ns: "ns", lifetime_ns: "ns", freed: "count", step: "id", event: "id",
		address: "text", freed_by: "text", stack: "text",
	},
	"snapshot-leaks": {
		device: "text", line: "text", grows: "text", step_bytes: "bytes", steps: "count",
		kept_bytes: "bytes", kept_blocks: "count", allocations: "count", category: "text",
		first_ns: "ns", last_ns: "ns", stack: "text",
	},
	"snapshot-oom": {
		device: "text", event: "id", at_ns: "ns", asked_bytes: "bytes",
		device_free_bytes: "bytes", cached_free_bytes: "bytes", largest_free_bytes: "bytes",
		missing_bytes: "bytes", active_bytes: "bytes", reserved_bytes: "bytes",
		activation_bytes: "bytes", leaked_bytes: "bytes", line: "text", why: "text",
		would_help: "text", stack: "text",
	},
	"snapshot-segments": {
		device: "text", address: "text", bytes: "bytes", active_bytes: "bytes",
		active_percent: "percent", largest_free_bytes: "bytes", blocks: "count",
		state: "text", requested_bytes: "bytes", type: "text", expandable: "text",
		pool: "text", stream: "text", line: "text", category: "text", segment: "id",
		stack: "text",
	},
	"snapshot-settings": {
		setting: "text", value: "text", about: "text",
	},
	"snapshot-diff": {
		line: "text", category: "text", change_bytes: "bytes", before_bytes: "bytes",
		after_bytes: "bytes", before_blocks: "count", after_blocks: "count",
	},
} as const;

export type ViewName = keyof typeof VIEWS;

type CellOf<Type> = Type extends "text" ? string | null : number | null;

/* A row of a view, by the names of its columns. */
export type RowOf<View extends ViewName> = {
	[Column in keyof (typeof VIEWS)[View]]: CellOf<(typeof VIEWS)[View][Column]>;
};

export interface UtilizationRow extends RowOf<"utilization"> {}
export interface BreakdownRow extends RowOf<"breakdown"> {}
export interface PhasesRow extends RowOf<"phases"> {}
export interface BudgetRow extends RowOf<"budget"> {}
export interface GapsRow extends RowOf<"gaps"> {}
export interface SyncsRow extends RowOf<"syncs"> {}
export interface LaunchesRow extends RowOf<"launches"> {}
export interface OperatorsRow extends RowOf<"operators"> {}
export interface CompileRow extends RowOf<"compile"> {}
export interface ModulesRow extends RowOf<"modules"> {}
export interface StacksRow extends RowOf<"stacks"> {}
export interface KernelsRow extends RowOf<"kernels"> {}
export interface DurationsRow extends RowOf<"durations"> {}
export interface SequencesRow extends RowOf<"sequences"> {}
export interface RooflineRow extends RowOf<"roofline"> {}
export interface CopiesRow extends RowOf<"copies"> {}
export interface CommunicationRow extends RowOf<"communication"> {}
export interface InferenceRow extends RowOf<"inference"> {}
export interface MemoryRow extends RowOf<"memory"> {}
export interface MemoryStepsRow extends RowOf<"memory-steps"> {}
export interface MemoryOpsRow extends RowOf<"memory-ops"> {}
export interface AllocationsRow extends RowOf<"allocations"> {}
export interface MemoryCurveRow extends RowOf<"memory-curve"> {}
export interface StreamsRow extends RowOf<"streams"> {}
export interface TemporalRow extends RowOf<"temporal"> {}
export interface FilesRow extends RowOf<"files"> {}
export interface DevicesRow extends RowOf<"devices"> {}
export interface CategoriesRow extends RowOf<"categories"> {}
export interface TracksRow extends RowOf<"tracks"> {}
export interface StepsRow extends RowOf<"steps"> {}
export interface EventsRow extends RowOf<"events"> {}
export interface QualityRow extends RowOf<"quality"> {}
export interface RanksRow extends RowOf<"ranks"> {}
export interface StragglersRow extends RowOf<"stragglers"> {}
export interface CollectivesRow extends RowOf<"collectives"> {}
export interface ImbalanceRow extends RowOf<"imbalance"> {}
export interface IdleTogetherRow extends RowOf<"idle-together"> {}
export interface ClocksRow extends RowOf<"clocks"> {}
export interface HangCausesRow extends RowOf<"hang-causes"> {}
export interface HangRanksRow extends RowOf<"hang-ranks"> {}
export interface HangGroupsRow extends RowOf<"hang-groups"> {}
export interface HangMapRow extends RowOf<"hang-map"> {}
export interface LiveChangesRow extends RowOf<"live-changes"> {}
export interface LiveRanksRow extends RowOf<"live-ranks"> {}
export interface LiveStepsRow extends RowOf<"live-steps"> {}
export interface CriticalPathRow extends RowOf<"critical-path"> {}
export interface PlacesRow extends RowOf<"places"> {}
export interface SnapshotFindingsRow extends RowOf<"snapshot-findings"> {}
export interface SnapshotSummaryRow extends RowOf<"snapshot-summary"> {}
export interface SnapshotHoldersRow extends RowOf<"snapshot-holders"> {}
export interface SnapshotPhasesRow extends RowOf<"snapshot-phases"> {}
export interface SnapshotTimelineRow extends RowOf<"snapshot-timeline"> {}
export interface SnapshotAllocationsRow extends RowOf<"snapshot-allocations"> {}
export interface SnapshotLeaksRow extends RowOf<"snapshot-leaks"> {}
export interface SnapshotOomRow extends RowOf<"snapshot-oom"> {}
export interface SnapshotSegmentsRow extends RowOf<"snapshot-segments"> {}
export interface SnapshotSettingsRow extends RowOf<"snapshot-settings"> {}
export interface SnapshotDiffRow extends RowOf<"snapshot-diff"> {}

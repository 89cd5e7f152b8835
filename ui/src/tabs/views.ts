/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.ts - which tab shows each view of the core. A view that no tab shows is a compile error.
 */
import type { ViewName } from "../core/tables";

export interface ViewPlace {
	view: ViewName;
	title: string;
}

/* By tab; the first one is shown when the tab is opened. */
export const VIEW_PLACES = {
	overview: [
		{ view: "breakdown", title: "Step breakdown" },
		{ view: "budget", title: "GPU budget" },
		{ view: "phases", title: "Phases" },
		{ view: "places", title: "Places" },
		{ view: "utilization", title: "Utilization" },
		{ view: "temporal", title: "Whole files" },
		{ view: "devices", title: "Devices" },
	],
	operators: [
		{ view: "operators", title: "Operators" },
		{ view: "roofline", title: "Roofline" },
		{ view: "launches", title: "Launches" },
		{ view: "compile", title: "torch.compile" },
		{ view: "stacks", title: "Stacks" },
	],
	kernels: [
		{ view: "kernels", title: "Kernels" },
		{ view: "durations", title: "Durations" },
		{ view: "sequences", title: "Sequences" },
		{ view: "copies", title: "Copies" },
		{ view: "streams", title: "Streams" },
	],
	gaps: [
		{ view: "gaps", title: "Gaps" },
		{ view: "syncs", title: "Host syncs" },
		{ view: "idle-together", title: "All ranks idle" },
	],
	communication: [
		{ view: "communication", title: "By kind and size" },
		{ view: "collectives", title: "Collectives" },
	],
	steps: [
		{ view: "steps", title: "Steps" },
		{ view: "critical-path", title: "Critical path" },
		{ view: "inference", title: "Inference" },
	],
	ranks: [
		{ view: "ranks", title: "Ranks" },
		{ view: "stragglers", title: "Stragglers" },
		{ view: "imbalance", title: "Imbalance" },
	],
	hang: [
		{ view: "hang-map", title: "Map as a table" },
		{ view: "hang-causes", title: "Who lets others wait" },
		{ view: "hang-ranks", title: "What ranks wait for" },
		{ view: "hang-groups", title: "Process groups" },
	],
	live: [
		{ view: "live-ranks", title: "Ranks" },
		{ view: "live-steps", title: "Minutes" },
		{ view: "live-changes", title: "Changes" },
	],
	memory: [
		{ view: "memory", title: "Peaks" },
		{ view: "memory-steps", title: "Steps" },
		{ view: "memory-ops", title: "Operators" },
		{ view: "allocations", title: "Allocations" },
		{ view: "memory-curve", title: "Curve" },
		{ view: "snapshot-findings", title: "Snapshot: findings" },
		{ view: "snapshot-summary", title: "Snapshot: summary" },
		{ view: "snapshot-holders", title: "Snapshot: holders" },
		{ view: "snapshot-phases", title: "Snapshot: phases" },
		{ view: "snapshot-timeline", title: "Snapshot: timeline" },
		{ view: "snapshot-allocations", title: "Snapshot: allocations" },
		{ view: "snapshot-leaks", title: "Snapshot: leaks" },
		{ view: "snapshot-oom", title: "Snapshot: out of memory" },
		{ view: "snapshot-segments", title: "Snapshot: segments" },
		{ view: "snapshot-settings", title: "Snapshot: settings" },
		{ view: "snapshot-diff", title: "Snapshot: comparison" },
	],
	modules: [{ view: "modules", title: "Modules" }],
	quality: [
		{ view: "quality", title: "Notes" },
		{ view: "files", title: "Files" },
		{ view: "clocks", title: "Clocks" },
		{ view: "categories", title: "Events" },
		{ view: "tracks", title: "Threads and streams" },
		{ view: "events", title: "All events" },
	],
} as const satisfies Record<string, readonly ViewPlace[]>;

export type PlacedTab = keyof typeof VIEW_PLACES;

type Placed = (typeof VIEW_PLACES)[PlacedTab][number]["view"];
type Homeless = Exclude<ViewName, Placed>;

/* Names the views that stand nowhere, where there are any. */
export const ALL_PLACED: [Homeless] extends [never] ? true : Homeless = true;

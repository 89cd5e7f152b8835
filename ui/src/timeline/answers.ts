/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.ts - types of the timeline's documents, as described in docs/formats/viewer.md.
 */
import type { Flag } from "../core/types";

export interface Spot {
	file?: number;
	row: number;
	track: number;
	lane: number;
	start_ns: number;
	dur_ns: number;
	name: string;
}

/* A neighbour on an idle track has the number of a gap in place of a row. */
export type Neighbour = Partial<Spot> & { gap?: number };

export interface Flow {
	kind: string;
	way: "from" | "to";
	file: number;
	row: number;
	name: string;
	track: number;
	lane: number;
	start_ns: number;
	dur_ns: number;
}

export interface Member {
	file: number;
	rank: number | null;
	row: number;
	track: number;
	lane: number;
	start_ns: number;
	dur_ns: number;
	wait_ns: number | null;
}

export interface Collective {
	kind: string;
	bytes: number | null;
	transfer_ns: number | null;
	wait_ns: number | null;
	last_rank: number | null;
	members: Member[];
}

/* The gap that waits for a call, or in which it ran. */
export interface SliceGap {
	gap: number;
	track: number;
	lane: number;
	start_ns: number;
	dur_ns: number;
	name: string;
	is_cause: boolean;
}

export interface SliceAnswer {
	file: number;
	rank: number | null;
	row: number;
	name: string;
	short: string | null;
	kind: string;
	category: string | null;
	color: number;
	track: number;
	lane: number;
	start_ns: number;
	dur_ns: number;
	self_ns: number | null;
	step: number | null;
	args?: { name: string; value: string }[] | null;
	stack?: string[] | null;
	stack_of?: { row: number; name: string } | null;
	parents?: { row: number; name: string }[] | null;
	flows?: Flow[] | null;
	flow_count?: number;
	gap?: SliceGap | null;
	before?: Omit<SliceGap, "is_cause"> | null; /* the idle time that a kernel ended */
	collective?: Collective | null;
	missing?: string[] | null;
}

export interface GapCause {
	cause: string;
	number: number;
	ns: number;
	row: number | null;
	name: string | null;
	op?: string | null;
	line: string | null;
	track: number | null;
	lane: number | null;
	start_ns: number | null;
	dur_ns: number | null;
}

export interface GapAnswer {
	file: number;
	rank: number | null;
	track: number;
	gap: number;
	device: number;
	start_ns: number;
	dur_ns: number;
	step: number | null;
	causes: GapCause[];
	during?: Spot | null;
	next: Spot | null;
	says: string;
}

export interface SearchAnswer {
	count: number;
	names: number;
	total_ns: number;
	hits: (Spot & { file: number })[];
	next?: number; /* place in all hits of the first from a moment on */
	marks?: number[]; /* hits by pixel of the run */
}

export interface RangeTrack {
	file: number;
	rank: number | null;
	track: number;
	name: string;
	kind: string;
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
	file: number; /* of the longest */
	longest_row?: number;
	longest_gap?: number;
	track?: number; /* of the gap */
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
	track: number | null; /* its idle time */
	causes: { cause: string; number: number; ns: number; count: number; longest_gap: number }[];
	outside_ns: number;
}

/* Parent, text, colour, count, total, own time, time of those below that are not listed. */
export type RangeNode = [number, number, number, number, number, number, number];

export interface RangeAnswer {
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
	track: number;
	lane: number;
	row: number | null;
	start_ns: number;
	end_ns: number;
	part: string;
	count: number;
}

export interface PathAnswer {
	length_ns: number;
	parts: { part: string; ns: number }[];
	pieces: PathPiece[];
}

export interface FlagsAnswer {
	flags: Flag[];
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range-tables.ts - the tables of a time range: columns, and rows from the answer.
 */
import type { Job } from "../../core/client";
import type { Cell, RangeAnswer, RangeName, Where } from "../../core/types";
import { COLOR_WORDS } from "../../core/colors";
import type { Selection } from "../../core/store";
import type { TableColumn } from "../../parts/columns";
import { rankTitle } from "../model";

export interface RangeTable {
	columns: TableColumn[];
	rows: Cell[][];
	/* What a click on a row selects. */
	leads: (Selection | null)[];
	about: string; /* what the table is, and what its times sum to */
	empty: string;
}

const WORDS: Record<Where, string> = {
	host: "host",
	device: "device",
	other: "ranges, waits, profiler",
	idle: "idle",
};

function columns(...list: [string, TableColumn["type"], string][]): TableColumn[] {
	let hasBar = false;
	return list.map(([name, type, about], index) => {
		const bar = type === "ns" && !hasBar;
		hasBar ||= bar;
		return { name, type, about, index, detail: false, bar };
	});
}

const NAMES = columns(
	["name", "text", "name of the slices"],
	["total_ns", "ns", "time inside the range; nested slices count in full"],
	["self_ns", "ns", "time without nested slices"],
	["calls", "count", "slices at least partly inside the range"],
	["where", "text", "kind of row"],
	["kind", "text", "kind of slice"],
);

const CATEGORIES = columns(
	["kind", "text", "kind of slice"],
	["self_ns", "ns", "time without nested slices"],
	["share_percent", "percent", "of the busy time of rows of this kind"],
	["calls", "count", "slices at least partly inside the range"],
	["where", "text", "kind of row"],
);

const DEVICES = columns(
	["state", "text", "busy, or why the GPU was idle"],
	["time_ns", "ns", "time inside the range; the times of a device add up to it"],
	["share_percent", "percent", "of the range"],
	["gaps", "count", "gaps with this cause"],
	["device", "text", "the device, all streams together"],
	["rank", "text", "the file's rank"],
);

const ROWS = columns(
	["row", "text", "the row of the timeline"],
	["busy_ns", "ns", "time in which something ran; overlaps count once"],
	["share_percent", "percent", "busy time, of the range"],
	["slices", "count", "slices at least partly inside the range"],
	["rank", "text", "the file's rank"],
);

function titleOf(job: Job, file: number): string {
	const found = job.files[file];
	return found ? rankTitle(found) : String(file);
}

/* Ranges over streams and the profiler itself say nothing new: they stand at the end. */
function lastOthers<T extends { where?: Where; kind?: string }>(list: T[]): T[] {
	const isOther = (one: T) => one.where === "other" || one.kind === "other";
	return [...list.filter((one) => !isOther(one)), ...list.filter(isOther)];
}

function longest(name: RangeName): Selection | null {
	const { file, longest_row: row, longest_gap: gap, track } = name;
	if (row !== undefined) return { kind: "slice", file, row };
	if (gap !== undefined && track !== undefined) return { kind: "gap", file, track, gap };
	return null;
}

export function byName(answer: RangeAnswer): RangeTable {
	const names = lastOthers(answer.names);
	return {
		columns: NAMES,
		rows: names.map((one) => [
			one.name,
			one.total_ns,
			one.self_ns,
			one.count,
			WORDS[one.where],
			COLOR_WORDS[one.color] ?? null,
		]),
		leads: names.map(longest),
		about: "Self times add up to the busy time of the rows.",
		empty: "Nothing ran here.",
	};
}

export function byCategory(answer: RangeAnswer): RangeTable {
	const whole = new Map<Where, number>();
	for (const { where, self_ns } of answer.colors)
		whole.set(where, (whole.get(where) ?? 0) + self_ns);
	const colors = lastOthers(answer.colors.toSorted((a, b) => b.self_ns - a.self_ns));
	return {
		columns: CATEGORIES,
		rows: colors.map((one) => [
			COLOR_WORDS[one.color] ?? null,
			one.self_ns,
			(100 * one.self_ns) / Math.max(1, whole.get(one.where) ?? 0),
			one.count,
			WORDS[one.where],
		]),
		leads: [],
		about: "Each moment of a row counts once, for its innermost slice.",
		empty: "Nothing ran here.",
	};
}

export function busyAndIdle(answer: RangeAnswer, job: Job): RangeTable {
	const length = Math.max(1, answer.to_ns - answer.from_ns);
	const rows: Cell[][] = [];
	const leads: (Selection | null)[] = [];
	for (const one of answer.devices) {
		const add = (state: string, ns: number, gaps: Cell, lead: Selection | null) => {
			const rank = titleOf(job, one.file);
			const share = (100 * ns) / length;
			rows.push([state, ns, share, gaps, `device ${one.device}`, rank]);
			leads.push(lead);
		};
		add("busy", one.busy_ns, null, null);
		for (const cause of one.causes.toSorted((a, b) => b.ns - a.ns)) {
			const { file, track } = one;
			const gap = cause.longest_gap;
			const lead: Selection | null =
				track === null ? null : { kind: "gap", file, track, gap };
			add(`idle: ${cause.cause}`, cause.ns, cause.count, lead);
		}
		if (one.outside_ns) add("idle, outside of steps", one.outside_ns, null, null);
	}
	return {
		columns: DEVICES,
		rows,
		leads,
		about: "All streams of a device together. The times of a device add up to the range.",
		empty: "No GPU row is selected, or no GPU was recorded.",
	};
}

export function byRow(answer: RangeAnswer, job: Job): RangeTable {
	const length = Math.max(1, answer.to_ns - answer.from_ns);
	return {
		columns: ROWS,
		rows: lastOthers(answer.tracks).map((one) => [
			one.name,
			one.busy_ns,
			(one.busy_ns * 100) / length,
			one.count,
			titleOf(job, one.file),
		]),
		leads: [],
		about: "Selected rows on which something ran.",
		empty: "Nothing ran here.",
	};
}

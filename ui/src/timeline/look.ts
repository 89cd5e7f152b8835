/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.ts - how the timeline is arranged: open ranks, pins, deep rows, marks. It lives in the
 * address, so that it survives a change of tabs.
 */
import type { Job } from "../core/client";
import { coloringOf } from "../core/colors";
import { store } from "../core/store";
import type { Span } from "./span";

export interface Look {
	open: Set<number>; /* files whose rows are shown */
	pins: string[]; /* keys of rows, in the order in which they were pinned */
	deep: Set<string>; /* keys of rows that show all lanes */
	allDeep: boolean;
	filter: string;
	mark: Span | null; /* the one that the next mark replaces */
	kept: Span[];
	path: boolean;
	color: string; /* what gives slices their colour: one of the core's `colorings` */
	jump: string; /* what a jump led to: it opens rows of its own, see jump.ts */
	fromStart: boolean; /* times count from the start of the run, not of the step */
}

const FIELDS = [
	...["open", "pins", "deep", "lanes", "rows", "mark", "marks", "path", "clock", "color"],
	"jump",
];

/* What the address had when the tab was left. */
const left = new Map<string, string>();

function words(text: string | undefined): string[] {
	return (text ?? "").split(",").filter((word) => word !== "");
}

function readSpan(text: string): Span | null {
	const found = /^(-?\d+)_(-?\d+)$/.exec(text);
	return found ? { from: Number(found[1]), to: Number(found[2]) } : null;
}

function writeSpan(span: Span): string {
	return `${Math.round(span.from)}_${Math.round(span.to)}`;
}

/* One or two ranks are open; of more the one of the scope, else the first that can be read. A
 * rank of which there is only a digest is a strip. */
function openAtFirst(job: Job, rank: number | null): Set<number> {
	const readable = job.files.filter((file) => file.problem === null && !file.digest);
	if (readable.length <= 2) return new Set(readable.map((file) => file.file));
	const first = readable.find((file) => file.rank === rank) ?? readable[0];
	return new Set(first ? [first.file] : []);
}

export function readLook(job: Job): Look {
	const { own, rank } = store.view;
	return {
		open:
			own.open === undefined || own.open === ""
				? own.jump
					? new Set()
					: openAtFirst(job, rank)
				: new Set(
						words(own.open)
							.filter((word) => word !== "none")
							.map(Number),
					),
		pins: words(own.pins),
		deep: new Set(words(own.deep)),
		allDeep: own.lanes === "all",
		filter: own.rows ?? "",
		mark: readSpan(own.mark ?? ""),
		kept: words(own.marks)
			.map(readSpan)
			.filter((span) => span !== null),
		path: own.path === "1",
		color: coloringOf(own.color).name,
		jump: own.jump ?? "",
		fromStart: own.clock === "run",
	};
}

export function writeLook(change: Partial<Look>): void {
	const own: Record<string, string> = {};
	if (change.open)
		own.open = change.open.size
			? [...change.open].sort((a, b) => a - b).join(",")
			: "none";
	if (change.pins) own.pins = change.pins.join(",");
	if (change.deep) own.deep = [...change.deep].join(",");
	if (change.allDeep !== undefined) own.lanes = change.allDeep ? "all" : "";
	if (change.filter !== undefined) own.rows = change.filter;
	if (change.mark !== undefined) own.mark = change.mark ? writeSpan(change.mark) : "";
	if (change.kept) own.marks = change.kept.map(writeSpan).join(",");
	if (change.color !== undefined)
		own.color = change.color === coloringOf("").name ? "" : change.color;
	if (change.jump !== undefined) own.jump = change.jump;
	if (change.path !== undefined) own.path = change.path ? "1" : "";
	if (change.fromStart !== undefined) own.clock = change.fromStart ? "run" : "";
	for (const [name, value] of Object.entries(own)) left.set(name, value);
	store.setOwn(own);
}

/* A jump comes from other tabs, and stays when this one is left. */
export function rememberJump(text: string): void {
	left.set("jump", text);
}

/* The store forgets what a tab kept for itself when another one is shown. A link, Back and
 * Forward lead to how it was then. */
export function restoreLook(): void {
	if (store.arrived) return;
	const own: Record<string, string> = {};
	for (const name of FIELDS) {
		const last = left.get(name);
		if (store.view.own[name] === undefined && last) own[name] = last;
	}
	if (Object.keys(own).length) store.setOwn(own);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame-model.ts - a tree of times for flame graphs: from stacks, from calls, in the order of time.
 */
import type { Cell, RangeAnswer, TableDocument } from "../../core/types";
import { COLORS } from "../../core/colors";
import { plural } from "../../core/words";
import { shortName } from "../../parts/names";
import { NO_LABEL, type Sheet } from "../../timeline/decode";

export interface Frame {
	name: string;
	depth: number;
	total: number /* with all below */;
	calls: number;
	parent: Frame | null;
	children: Frame[];
	start: number /* from the left edge, in the unit of total */;
	color?: string /* if known; otherwise it follows from the name */;
}

function newFrame(name: string, parent: Frame | null): Frame {
	const depth = parent ? parent.depth + 1 : 0;
	return { name, depth, total: 0, calls: 0, parent, children: [], start: 0 };
}

/* Children by time, the longest first; names break ties. Iterative: stacks can be deep. */
function place(root: Frame): void {
	const open = [root];
	for (let frame = open.pop(); frame; frame = open.pop()) {
		frame.children.sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
		let at = frame.start;
		for (const child of frame.children) {
			child.start = at;
			at += child.total;
			open.push(child);
		}
	}
}

function columnsOf(table: TableDocument, ...names: string[]): number[] {
	return names.map((name) => table.columns.findIndex((column) => column.name === name));
}

function numberOf(cell: Cell | undefined): number {
	return typeof cell === "number" ? cell : 0;
}

/* What frames are summed by; each keeps the last frame, which took the time. */
export type By = "calls" | "thread" | "module" | "line";

const PYTHON_LINE = /\(\d+\): /;
const MODULE = /^nn\.Module: /;

export function foldStack(frames: string[], by: By): string[] {
	if (by === "thread") return frames;
	const calls = frames.filter((frame, at) => at > 0 || !/^thread /.test(frame));
	if (by === "calls") return calls;
	const kept = calls
		.slice(0, -1)
		.filter((frame) => (by === "module" ? MODULE : PYTHON_LINE).test(frame));
	return [...(kept.length ? kept : [`(no ${by} around it)`]), ...calls.slice(-1)];
}

/* Rows of the view stacks: frames between semicolons, outermost first. */
export function readStacks(table: TableDocument, by: By = "thread"): Frame {
	const [stack = -1, time = -1, calls = -1] = columnsOf(table, "stack", "time_ns", "calls");
	const root = newFrame("all", null);
	const known = new Map<Frame, Map<string, Frame>>();

	for (const row of table.rows) {
		const total = numberOf(row[time]);
		const count = numberOf(row[calls]);
		let frame = root;
		root.total += total;
		root.calls += count;
		for (const name of foldStack(String(row[stack] ?? "").split(";"), by)) {
			let named = known.get(frame);
			if (!named) {
				named = new Map();
				known.set(frame, named);
			}
			let child = named.get(name);
			if (!child) {
				child = newFrame(name, frame);
				frame.children.push(child);
				named.set(name, child);
			}
			child.total += total;
			child.calls += count;
			frame = child;
		}
	}
	place(root);
	return root;
}

/* Nodes of the route range. What is not listed is a frame of its own below its caller. */
export function readCalls(answer: Pick<RangeAnswer, "tree" | "texts" | "tree_rest_ns">): Frame {
	const root = newFrame("all", null);
	const frames: Frame[] = [];

	const addRest = (to: Frame, total: number) => {
		if (!total) return;
		const rest = { ...newFrame("smaller calls", to), total, color: "other" };
		to.children.push(rest);
	};
	for (const [parent, text, color, calls, total, , rest] of answer.tree) {
		const caller = frames[parent] ?? root;
		const frame = newFrame(answer.texts[text] ?? "", caller);
		Object.assign(frame, { total, calls, color: COLORS[color] });
		caller.children.push(frame);
		frames.push(frame);
		addRest(frame, rest);
		if (caller === root) root.total += total;
	}
	addRest(root, answer.tree_rest_ns);
	root.total += answer.tree_rest_ns;
	place(root);
	return root;
}

/*
 * Slices of a track in the order of time. What is around a slice is the one above it that covers
 * its middle; those too short for the window come as one, without a name.
 */
export function readTrack(sheet: Sheet, track: number): Frame {
	const root = newFrame("all", null);
	let above: Frame[] = [root];
	root.total = sheet.to - sheet.from;
	for (const lane of sheet.tracks.get(track) ?? []) {
		const row: Frame[] = [];
		let at = 0;
		for (let i = lane.begin; i < lane.end; i++) {
			const start = Math.max(0, (sheet.start[i] ?? 0) - sheet.from);
			const end = Math.min(
				root.total,
				(sheet.start[i] ?? 0) + (sheet.dur[i] ?? 0) - sheet.from,
			);
			const middle = (start + end) / 2;
			const ends = (one: Frame | undefined) =>
				one ? one.start + one.total : Infinity;
			while (at + 1 < above.length && ends(above[at]) < middle) at++;
			const around = above[at];
			if (!around || end <= start) continue;
			const count = sheet.count[i] ?? 1;
			const label = sheet.label[i] ?? NO_LABEL;
			const name =
				label === NO_LABEL
					? plural(count, "short call")
					: (sheet.labels[label] ?? "");
			const own =
				middle >= around.start && middle <= ends(around) ? around : root;
			const frame = {
				...newFrame(name, own),
				start,
				total: end - start,
				calls: count,
			};
			frame.color = COLORS[sheet.color[i] ?? 0] ?? "other";
			own.children.push(frame);
			row.push(frame);
		}
		if (row.length) above = row;
	}
	return root;
}

/* Frames whose name holds the text, callers first. */
export function hitsOf(root: Frame, text: string): Frame[] {
	const wanted = text.toLowerCase();
	const found: Frame[] = [];
	const open = [root];
	for (let frame = open.pop(); frame; frame = open.pop()) {
		if (frame.parent && wanted && frame.name.toLowerCase().includes(wanted))
			found.push(frame);
		for (let i = frame.children.length; i-- > 0; ) {
			const child = frame.children[i];
			if (child) open.push(child);
		}
	}
	return found;
}

/* Outermost frames whose name holds the text, letters of either case, and their time. */
export function foundIn(root: Frame, text: string): { count: number; total: number } {
	const wanted = text.toLowerCase();
	const open = [root];
	let [count, total] = [0, 0];
	for (let frame = open.pop(); frame; frame = open.pop()) {
		if (frame.parent && frame.name.toLowerCase().includes(wanted)) {
			count++;
			total += frame.total;
			continue;
		}
		for (const child of frame.children) open.push(child);
	}
	return { count, total };
}

export function pathOf(frame: Frame): string[] {
	const names: string[] = [];
	for (let at: Frame | null = frame; at?.parent; at = at.parent) names.unshift(at.name);
	return names;
}

/* Long frames by what tells them apart: the file's name and the function, without folders. */
export function shortFrame(name: string): string {
	const line = /^(?:.*\/)?([^/]+\(\d+\): .*)$/.exec(name);
	if (line) return line[1] ?? name;
	return shortName(name.replace(MODULE, ""), 0);
}

/* What fits, cut at the outside: files and namespaces go, the function at the end stays. What
 * Python calls by its address ("<built-in method …>") ends in nothing that anybody knows. */
export function clipFrame(name: string, letters: number): string {
	const text = shortFrame(name);
	if (text.length <= letters) return text;
	if (letters < 2) return "";
	if (text.startsWith("<")) return `${text.slice(0, letters - 1)}…`;
	return `…${text.slice(text.length - letters + 1)}`;
}

/* What a colour means everywhere: kernels, copies, communication, operators, Python. */
export function colorOf(frame: Frame): string {
	const { name } = frame;
	if (frame.color) return frame.color;
	if (/^(nccl|rccl|c10d|gloo|ncclDev|record_param_comms)/i.test(name) || /nccl/i.test(name))
		return "communication";
	if (/^Mem(cpy|set)/.test(name)) return "copy";
	if (/\(\d+\): /.test(name) || /^<built-in/.test(name) || /^nn\.Module/.test(name))
		return "python";
	if (/^Optimizer\./.test(name)) return "optimizer";
	if (/DataLoader|DataPipe/.test(name)) return "input";
	if (/^(aten|prims|autograd|torch|quantized)::/.test(name) || /Backward\d*$/.test(name))
		return "operator";
	if (/^(cuda|hip|cu|ze)[A-Z]/.test(name)) return "runtime";
	if (/^(thread |ProfilerStep|all$|##)/.test(name)) return "range";
	return frame.children.length ? "range" : "compute";
}

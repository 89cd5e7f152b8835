/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame-model.ts - a tree of times for flame graphs, from stacks or from modules.
 */
import { COLORS } from "../../core/colors";
import type { Cell, TableDocument } from "../../core/types";
import type { RangeAnswer } from "../../timeline/answers";

export interface Frame {
	name: string;
	depth: number;
	total: number; /* with all below */
	calls: number;
	parent: Frame | null;
	children: Frame[];
	start: number; /* from the left edge, in the unit of total */
	color?: string; /* if known; otherwise it follows from the name */
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

/* Rows of the view stacks: frames between semicolons, outermost first. */
export function readStacks(table: TableDocument): Frame {
	const [stack = -1, time = -1, calls = -1] = columnsOf(table, "stack", "time_ns", "calls");
	const root = newFrame("all", null);
	const known = new Map<Frame, Map<string, Frame>>();

	for (const row of table.rows) {
		const total = numberOf(row[time]);
		const count = numberOf(row[calls]);
		let frame = root;
		root.total += total;
		root.calls += count;
		for (const name of String(row[stack] ?? "").split(";")) {
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
	return name.replace(/^nn\.Module: /, "");
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

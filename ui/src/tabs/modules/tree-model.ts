/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree-model.ts - the rows of the view modules as a tree: which are open, in which order.
 */
import type { Cell, TableDocument } from "../../core/types";

export interface Branch {
	index: number; /* of the row */
	depth: number;
	name: string;
	path: string;
	cells: Cell[];
	children: Branch[];
}

export function readTree(table: TableDocument): Branch[] {
	const at = (name: string) => table.columns.findIndex((column) => column.name === name);
	const [module, depth, path] = [at("module"), at("depth"), at("path")];
	const roots: Branch[] = [];
	const open: Branch[] = [];
	table.rows.forEach((cells, index) => {
		const level = Math.max(0, Number(cells[depth] ?? 0));
		const name = String(cells[module] ?? "").trim();
		const branch = {
			index,
			depth: level,
			name,
			path: String(cells[path] ?? name),
			cells,
			children: [],
		};
		while (open.length && (open.at(-1)?.depth ?? 0) >= level) open.pop();
		(open.at(-1)?.children ?? roots).push(branch);
		open.push(branch);
	});
	return roots;
}

/* The tree opens with what costs most, down to a tenth of all, and not with whole screens. */
const FIRST_PERCENT = 10;
const FIRST_ROWS = 60;

export function firstOpen(roots: Branch[], share: number): Set<number> {
	const open = new Set<number>();
	const closed = roots.filter((branch) => branch.children.length);
	let rows = roots.length;
	for (let at = 0; at < closed.length; at++) {
		const branch = closed[at];
		if (!branch || Number(branch.cells[share] ?? 0) < FIRST_PERCENT) continue;
		if (rows + branch.children.length > FIRST_ROWS) continue;
		open.add(branch.index);
		rows += branch.children.length;
		closed.push(...branch.children.filter((child) => child.children.length));
	}
	return open;
}

function compare(a: Cell | undefined, b: Cell | undefined): number {
	const [x, y] = [a ?? null, b ?? null];
	if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
	if (typeof x === "number" && typeof y === "number") return y - x;
	return String(x) < String(y) ? -1 : String(x) > String(y) ? 1 : 0;
}

/* Branches that are seen, one below the other; siblings by a column, -1: the core's order. */
export function seen(
	roots: Branch[],
	open: Set<number>,
	column: number,
	turned: boolean,
	wanted: string,
): Branch[] {
	const found: Branch[] = [];
	const way = turned ? -1 : 1;
	const ordered = (branches: Branch[]) =>
		column < 0
			? [...branches]
			: [...branches].sort(
					(a, b) =>
						way * compare(a.cells[column], b.cells[column]) ||
						a.index - b.index,
				);
	const hits = wanted ? hitsOf(roots, wanted.toLowerCase()) : null;
	const left = ordered(roots).reverse();
	for (let branch = left.pop(); branch; branch = left.pop()) {
		if (hits && !hits.has(branch)) continue;
		found.push(branch);
		if (hits || open.has(branch.index))
			left.push(...ordered(branch.children).reverse());
	}
	return found;
}

/* What has the text in its name, and everything above it. */
function hitsOf(roots: Branch[], wanted: string): Set<Branch> {
	const hits = new Set<Branch>();
	const left: Branch[][] = roots.map((root) => [root]);
	for (let way = left.pop(); way; way = left.pop()) {
		const branch = way.at(-1);
		if (!branch) continue;
		if (branch.name.toLowerCase().includes(wanted))
			for (const one of way) hits.add(one);
		for (const child of branch.children) left.push([...way, child]);
	}
	return hits;
}

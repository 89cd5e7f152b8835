/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.ts - sorts and filters the rows of a table. Rows are indices into the document, so
 * nothing is copied.
 */
import type { Cell } from "../core/types";

/* "" the order of the core; else as the command's --sort: "total_ns" numbers from the most,
 * names from A; "-total_ns" turned round. */
export type Order = string;

export function nextOrder(now: Order, column: string): Order {
	if (now === column) return `-${column}`;
	return now === `-${column}` ? "" : column;
}

/* "*" and "?" stand for any letters, as in the command's --name; else the text is looked for. */
export function matcher(text: string): (cell: string) => boolean {
	const wanted = text.trim().toLowerCase();
	if (!/[*?]/.test(wanted)) return (cell) => cell.toLowerCase().includes(wanted);
	const form = wanted
		.replace(/[.+^${}()|[\]\\]/g, "\\$&")
		.replaceAll("*", ".*")
		.replaceAll("?", ".");
	const pattern = new RegExp(`^${form}$`, "s");
	return (cell) => pattern.test(cell.toLowerCase());
}

/* Numbers from the most, names from A. */
function compare(a: Cell, b: Cell): number {
	if (typeof a === "number" && typeof b === "number") return b - a;
	return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

/* What is not known stands last, whichever way; equal rows keep the order of the core. */
function sorted(rows: Cell[][], found: number[], at: number, turned: boolean): number[] {
	return found.sort((i, j) => {
		const a = rows[i]?.[at] ?? null;
		const b = rows[j]?.[at] ?? null;
		if (a === null || b === null) return a === b ? i - j : a === null ? 1 : -1;
		const order = compare(a, b);
		return (turned ? -order : order) || i - j;
	});
}

export function arrange(rows: Cell[][], names: string[], order: Order, filter: string): number[] {
	const matches = filter.trim() ? matcher(filter) : null;
	const found: number[] = [];
	for (let i = 0; i < rows.length; i++) {
		const row = rows[i];
		if (!row) continue;
		if (!matches || row.some((cell) => typeof cell === "string" && matches(cell)))
			found.push(i);
	}
	const turned = order.startsWith("-");
	const at = names.indexOf(turned ? order.slice(1) : order);
	return order && at >= 0 ? sorted(rows, found, at, turned) : found;
}

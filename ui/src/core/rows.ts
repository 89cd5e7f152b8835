/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.ts - reads the rows of a document by column name.
 */
import type { Cell, TableDocument } from "./types";
import { type RowOf, type ViewName, VIEWS } from "./tables";

/* Columns that the document does not have are null. */
export function rowsOf<View extends ViewName>(document: TableDocument, view: View): RowOf<View>[] {
	const at = new Map(document.columns.map((column, index) => [column.name, index]));
	const names = Object.keys(VIEWS[view]);
	return document.rows.map((cells) => {
		const row: Record<string, Cell> = {};
		for (const name of names) {
			const index = at.get(name);
			row[name] = index === undefined ? null : (cells[index] ?? null);
		}
		return row as RowOf<View>;
	});
}

export function sum(values: (number | null)[]): number {
	return values.reduce((all: number, value) => all + (value ?? 0), 0);
}

/* Of GPUs, as the verdict has it. */
export function mean(values: number[]): number | null {
	return values.length ? sum(values) / values.length : null;
}

/* The median as the command has it: of two in the middle the lower one, which was measured. */
export function middle(values: number[]): number | null {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[(sorted.length - 1) >> 1] ?? null;
}

export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	if (!sorted.length) return 0;
	const high = sorted[middle] ?? 0;
	return sorted.length % 2 ? high : ((sorted[middle - 1] ?? 0) + high) / 2;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.ts - how the steps of two runs differ, and tables that hold both.
 */
import type { Cell, Column, TableDocument } from "../../core/types";
import type { ColumnType, TableColumn } from "../../parts/columns";
import type { Budget } from "../verdict/model";

/* A part of the step in both runs; means of a device. */
export interface Change {
	name: string;
	color: string;
	a: number;
	b: number;
}

export function changesOf(a: Budget, b: Budget): Change[] {
	const names = [...new Set([...a.parts, ...b.parts].map((part) => part.name))];
	const mean = (budget: Budget, name: string) => {
		const part = budget.parts.find((one) => one.name === name);
		return part ? part.value / Math.max(1, budget.devices) : 0;
	};
	const color = (name: string) =>
		[...a.parts, ...b.parts].find((part) => part.name === name)?.color ?? "other";
	return names.map((name) => ({
		name,
		color: color(name),
		a: mean(a, name),
		b: mean(b, name),
	}));
}

export interface Bar {
	change: Change;
	from: number;
	to: number;
}

/* From the step of a to that of b: gains first, so that the bars go down and come up once. */
export function barsOf(changes: Change[]): { start: number; bars: Bar[]; end: number } {
	const start = changes.reduce((sum, one) => sum + one.a, 0);
	const ordered = [...changes]
		.filter((one) => one.a !== one.b)
		.sort((x, y) => x.b - x.a - (y.b - y.a) || (x.name < y.name ? -1 : 1));
	let at = start;
	const bars = ordered.map((change) => {
		const from = at;
		at += change.b - change.a;
		return { change, from, to: at };
	});
	return { start, bars, end: changes.reduce((sum, one) => sum + one.b, 0) };
}

/* Joined tables have three columns of a figure, the unit last: total_a_ns, total_change_ns. */
const JOINED = /^(.+)_(a|b|change)(_ns|_bytes|_percent)?$/;

interface Part {
	stem: string;
	side: string;
}

export function partOf(name: string): Part | null {
	const found = JOINED.exec(name);
	return found ? { stem: `${found[1]}${found[3] ?? ""}`, side: found[2] ?? "" } : null;
}

function typeOf(column: Column, rows: Cell[][], index: number): ColumnType {
	if (column.unit) return column.unit;
	const text = rows.some((row) => typeof row[index] === "string");
	return text ? "text" : "id";
}

/* Figures whose growth is a loss: times and sizes. Of others more is neither good nor bad. */
function costs(stem: string): boolean {
	return /_(ns|bytes)$/.test(stem);
}

/* The first figure that changed: tables stand in its order. */
export function mainStem(document: TableDocument, wanted: string[]): string | null {
	const stems = document.columns.flatMap((column) => {
		const part = partOf(column.name);
		return part?.side === "change" ? [part.stem] : [];
	});
	return wanted.find((stem) => stems.includes(stem)) ?? stems.find(costs) ?? stems[0] ?? null;
}

export function columnsOf(document: TableDocument, stems: string[], keys: string[]): TableColumn[] {
	const columns = document.columns.map((column, index) => {
		const part = partOf(column.name);
		const type = typeOf(column, document.rows, index);
		const base = { name: column.name, type, about: column.about, index, bar: false };
		if (!part) return { ...base, detail: !keys.includes(column.name) };
		const words = part.stem.replace(/_(ns|bytes|percent)$/, "").replaceAll("_", " ");
		const change = part.side === "change";
		return {
			...base,
			title: change ? `${words} change` : `${words} ${part.side.toUpperCase()}`,
			detail: !stems.includes(part.stem),
			...(change
				? {
						change: costs(part.stem)
							? ("cost" as const)
							: ("plain" as const),
					}
				: {}),
		};
	});
	/* what rows are about, then the figures in the order in which they were asked for */
	const place = (column: TableColumn) => {
		const part = partOf(column.name);
		const at = part ? stems.indexOf(part.stem) : -1;
		return part ? (at < 0 ? stems.length : at) : -1;
	};
	return columns.sort((a, b) => place(a) - place(b) || a.index - b.index);
}

/* Rows by how much they changed, whichever way; what one run lacks counts in full. */
export function byChange(document: TableDocument, stem: string | null): Cell[][] {
	const at = document.columns.findIndex((column) => {
		const part = partOf(column.name);
		return part?.side === "change" && part.stem === stem;
	});
	const size = (row: Cell[]) => (typeof row[at] === "number" ? Math.abs(row[at]) : -1);
	return at < 0 ? document.rows : [...document.rows].sort((a, b) => size(b) - size(a));
}

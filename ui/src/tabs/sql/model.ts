/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.ts - queries: what the core says about them, their places, columns and history.
 */
import type { Cell, TableDocument } from "../../core/types";
import { formatCount } from "../../core/format";
import type { TableColumn } from "../../parts/columns";

export interface SqlColumn {
	name: string;
	type: string;
	about: string;
}

export interface SqlTable {
	name: string;
	about: string;
	parameters: string[];
	columns: SqlColumn[];
}

/* The answer of the route sql-schema. */
export interface SqlSchema {
	problem: string | null; /* why there is no SQL */
	tables: SqlTable[];
	questions: { title: string; query: string }[];
}

/* The answer of the route sql. */
export interface SqlAnswer {
	seconds: number;
	error: { text: string; stopped: boolean; at: number | null } | null;
	row_count?: number | null; /* null: more than came, and not counted */
	table?: TableDocument | null; /* null: the query has no rows */
}

/* The request must fit into an address. */
const QUERY_BYTES_MAX = 15_000;

export function isTooLong(query: string): boolean {
	return encodeURIComponent(query).length > QUERY_BYTES_MAX;
}

/* Where in the text a byte is. */
export function letterAt(query: string, at: number): number {
	return new TextDecoder().decode(new TextEncoder().encode(query).slice(0, at)).length;
}

/* "line 2, column 8", from 1 as editors count. */
export function placeOf(query: string, letter: number): string {
	const lines = query.slice(0, letter).split("\n");
	return `line ${lines.length}, column ${[...(lines.at(-1) ?? "")].length + 1}`;
}

/* The word that begins there, for the selection. */
export function wordAt(query: string, letter: number): string {
	return /^(\w+|.)/.exec(query.slice(letter))?.[0] ?? "";
}

/* Names that SQL takes for its own words. */
const OWN_WORDS = new Set(["group", "for", "of", "where", "last", "from", "to", "end", "order"]);

export function nameInSql(name: string): string {
	return OWN_WORDS.has(name) || !/^[a-z_]\w*$/i.test(name) ? `"${name}"` : name;
}

const TYPES: Record<string, TableColumn["type"]> = {
	ns: "ns",
	bytes: "bytes",
	percent: "percent",
	count: "count",
	number: "number",
};

/* Columns by what is in them; two of one name are two columns. */
export function columnsOf(document: TableDocument): TableColumn[] {
	const seen = new Map<string, number>();
	return document.columns.map(({ name, unit }, index) => {
		const count = (seen.get(name) ?? 0) + 1;
		seen.set(name, count);
		const words = document.rows.some((row) => typeof row[index] === "string");
		return {
			name: count > 1 ? `${name} (${count})` : name,
			type: words ? "text" : (TYPES[unit] ?? "id"),
			about: "",
			index,
			detail: false,
			bar: false,
		};
	});
}

/* What the table does not show. */
export function notesOf(answer: SqlAnswer): string[] {
	const { table, row_count } = answer;
	if (!table) return [];
	const notes = [...table.notes];
	const shown = formatCount(table.rows.length);
	const empty = table.columns.filter(({ name }, index) =>
		Boolean(name) && table.rows.length > 0 && table.rows.every((row) => row[index] === null),
	);
	if (row_count === null)
		notes.push(
			`The first ${shown} rows; there are more, which were not counted.`,
			"The CSV has all of them.",
		);
	else if (row_count !== undefined && row_count > table.rows.length)
		notes.push(
			`The first ${shown} of ${formatCount(row_count)} rows; the CSV has all of them.`,
		);
	if (empty.length)
		notes.push(`No values in: ${empty.map((column) => column.name).join(", ")}.`);
	return notes;
}

/* For spreadsheets: cells with tabs between them. */
export function asTabs(columns: { name: string }[], rows: Cell[][]): string {
	const line = (cells: Cell[]) =>
		cells.map((cell) => String(cell ?? "").replace(/[\t\r\n]+/g, " ")).join("\t");
	return [line(columns.map((column) => column.name)), ...rows.map(line)].join("\n");
}

const HISTORY_KEY = "stepscope-queries";
const HISTORY_MOST = 100;

/* Queries of this page's session, the newest last. */
export class History {
	private list: string[];
	private at: number;
	private draft = "";

	constructor(private storage: Pick<Storage, "getItem" | "setItem"> | null) {
		let kept: unknown;
		try {
			kept = JSON.parse(storage?.getItem(HISTORY_KEY) ?? "[]");
		} catch {
			kept = [];
		}
		this.list = Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
		this.at = this.list.length;
	}

	get last(): string {
		return this.list.at(-1) ?? "";
	}

	add(query: string): void {
		this.list = [...this.list.filter((one) => one !== query), query].slice(-HISTORY_MOST);
		this.at = this.list.length;
		try {
			this.storage?.setItem(HISTORY_KEY, JSON.stringify(this.list));
		} catch {
			/* no room: this page still has them */
		}
	}

	/* One earlier (-1) or later (1); null: there is none. */
	step(way: -1 | 1, now: string): string | null {
		const next = this.at + way;
		if (next < 0 || next > this.list.length) return null;
		if (this.at === this.list.length) this.draft = now;
		this.at = next;
		return this.list[next] ?? this.draft;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.ts - how people see the columns of a table: title, unit, width. A column has one unit, in
 * its head, unless its values lie so far apart that the small ones would all be "< 0.01": then each
 * cell has its own.
 */
import type { Cell, ColumnOffer } from "../core/types";
import { formatBytes, formatNs } from "../core/format";
import { shortName } from "./names";

export type ColumnType = ColumnOffer["type"];

/* A column of a table; index is its place in the rows. */
export interface TableColumn {
	name: string;
	type: ColumnType;
	about: string;
	index: number;
	detail: boolean;
	bar: boolean;
	title?: string;
	/* A difference, with its sign; of a cost less is better. */
	change?: "cost" | "plain";
	/* Of a table over all ranks: the figure that it is the least, median or most of. */
	spread?: { stem: string; part: string };
}

/* A column that is ready to be drawn. */
export interface DrawnColumn extends TableColumn {
	heading: string;
	unit: string;
	numeric: boolean;
	divisor: number;
	decimals: number;
	mixed: boolean /* each cell has its own unit */;
	digits: Intl.NumberFormat /* made once: making one takes longer than using it */;
	most: number /* largest absolute value: the whole of the bar */;
	pixels: number;
	room: number /* pixels of its longest text, as far as that is worth showing */;
}

const TIMES: [number, string][] = [
	[1, "ns"],
	[1e3, "µs"],
	[1e6, "ms"],
	[1e9, "s"],
];

const SIZES: [number, string][] = [
	[1, "B"],
	[1e3, "kB"],
	[1e6, "MB"],
	[1e9, "GB"],
	[1e12, "TB"],
];

/* Widths in pixels: a letter where nothing can measure it, what stands around a cell, and the
 * limits of a column. */
const LETTER = 8;
const PADDING = 26;
const LEAST = 64;
const TEXT_MOST = 560;
const ROOM_MOST = 1200;
const BAR_LEAST = 104;

export function headingOf(column: TableColumn): string {
	if (column.title) return column.title;
	const words = column.name.replace(/_(ns|bytes|percent)$/, "").replaceAll("_", " ");
	return words.replace(/\bper s\b/, "/ s").replace(/\bgb\b/, "GB");
}

export function isNumeric(column: { type: ColumnType }): boolean {
	return column.type !== "text" && column.type !== "id";
}

type Measure = (text: string, weight: number) => number;

/* As wide as the browser draws it; Node has no canvas. */
function makeMeasure(): Measure {
	const guess: Measure = (text) => text.length * LETTER;
	if (typeof OffscreenCanvas === "undefined") return guess;
	const canvas = new OffscreenCanvas(1, 1).getContext("2d");
	if (!canvas) return guess;
	const family = getComputedStyle(document.body).fontFamily;
	return (text, weight) => {
		canvas.font = `${weight} 13px ${family}`;
		return canvas.measureText(text).width;
	};
}

/* The unit in which the largest value is at least one. */
function scaleOf(units: [number, string][], most: number): [number, string] {
	let found = units[0] ?? [1, ""];
	for (const unit of units) if (most >= unit[0]) found = unit;
	return found;
}

/* Enough decimals for three digits of a usual value; nobody reads more than three. */
function decimalsFor(usual: number): number {
	if (usual <= 0) return 0;
	return Math.min(3, Math.max(0, 2 - Math.floor(Math.log10(usual))));
}

interface Reach {
	most: number;
	least: number /* that is not 0 */;
	usual: number;
	whole: boolean;
	longest: string;
	known: boolean;
}

/* What names of one length differ by, and where that is no matter. */
const WIDER = 0.15;
const WIDER_MOST = 24;

/* Rows that are looked at for a usual value: enough for a median. */
const SAMPLE = 500;

function reachOf(rows: Cell[][], index: number): Reach {
	const reach = {
		most: 0,
		least: Number.POSITIVE_INFINITY,
		usual: 0,
		whole: true,
		longest: "",
		known: false,
	};
	const seen: number[] = [];
	const stride = Math.max(1, Math.floor(rows.length / SAMPLE));

	for (let i = 0; i < rows.length; i++) {
		const value = rows[i]?.[index] ?? null;
		if (value === null) continue;
		reach.known = true;
		if (typeof value === "string") {
			if (value.length > reach.longest.length) {
				const short = shortName(value);
				if (short.length > reach.longest.length) reach.longest = short;
			}
			continue;
		}
		const size = Math.abs(value);
		reach.most = Math.max(reach.most, size);
		if (!Number.isInteger(value)) reach.whole = false;
		if (size > 0) reach.least = Math.min(reach.least, size);
		if (size > 0 && i % stride === 0) seen.push(size);
	}
	seen.sort((a, b) => a - b);
	reach.usual = seen[seen.length >> 1] ?? reach.most;
	return reach;
}

/* The unit of a plain number, as the core's own words have it: "bus bandwidth in GB/s". */
function rateOf(column: TableColumn): string {
	return /\bin (GB\/s|TFLOP\/s)(?![\w/])/.exec(column.about)?.[1] ?? "";
}

/* Three decades are what one unit shows with three digits. */
const DECADES = 1000;

function isMixed(column: TableColumn, reach: Reach): boolean {
	const measured = column.type === "ns" || column.type === "bytes";
	return measured && reach.most > DECADES * reach.least;
}

function scaled(column: TableColumn, reach: Reach): [number, string, number] {
	if (column.type === "ns" || column.type === "bytes") {
		const units = column.type === "ns" ? TIMES : SIZES;
		const [divisor, unit] = scaleOf(units, reach.most);
		return [divisor, unit, divisor === 1 ? 0 : decimalsFor(reach.usual / divisor)];
	}
	if (column.type === "percent") return [1, "%", 1];
	if (column.type === "number")
		return [1, rateOf(column), reach.whole ? 0 : decimalsFor(reach.usual)];
	return [1, "", 0];
}

export function drawColumn(column: TableColumn, rows: Cell[][]): DrawnColumn | null {
	const reach = reachOf(rows, column.index);
	if (!reach.known) return null;
	const mixed = isMixed(column, reach);
	const [divisor, unit, decimals] = mixed ? [1, "", 0] : scaled(column, reach);
	const heading = headingOf(column);
	const drawn = {
		...column,
		heading,
		unit,
		numeric: isNumeric(column),
		divisor,
		decimals,
		mixed,
		digits: new Intl.NumberFormat("en-US", {
			minimumFractionDigits: decimals,
			maximumFractionDigits: decimals,
		}),
		most: reach.most,
		pixels: 0,
		room: 0,
	};
	const measure = makeMeasure();
	const longest = drawn.numeric
		? mixed
			? "99.9 min" /* as wide as any */
			: formatIn(drawn, reach.most)
		: reach.longest || String(reach.most);
	const head = measure(heading, 600) + (unit ? measure(` ${unit}`, 400) : 0);
	const text = measure(longest, 400);
	/* a name of as many letters can be wider */
	const room = drawn.numeric ? text : text + Math.min(WIDER_MOST, text * WIDER);
	const wide = Math.ceil(Math.max(room, head) + PADDING);
	drawn.pixels = Math.min(TEXT_MOST, Math.max(column.bar ? BAR_LEAST : LEAST, wide));
	drawn.room = Math.max(drawn.pixels, Math.min(ROOM_MOST, wide));
	return drawn;
}

/* The column, wide enough for a sum below it, which is bold. */
export function fitTotals(column: DrawnColumn, totals: Cell[]): DrawnColumn {
	if (!column.numeric || !totals.some((value) => value !== null)) return column;
	const measure = makeMeasure();
	const wide = totals.map((value) => measure(formatIn(column, value), 600) + PADDING);
	return { ...column, pixels: Math.max(column.pixels, Math.ceil(Math.max(...wide))) };
}

/* The cell in the unit of its column. */
export function formatIn(column: DrawnColumn, value: Cell): string {
	if (value === null) return "–";
	if (typeof value === "string") return value;
	if (!column.numeric) return String(value);
	if (column.mixed) return column.type === "ns" ? formatNs(value) : formatBytes(value);
	const scaledValue = value / column.divisor;
	const least = 0.5 / 10 ** column.decimals;
	if (value !== 0 && Math.abs(scaledValue) < least)
		return `${value < 0 ? "> −" : "< "}${(2 * least).toFixed(column.decimals)}`;
	return column.digits.format(scaledValue);
}

/* A difference: "+3.10", "−0.02"; less than can be shown is "< +0.01". */
export function formatChange(column: DrawnColumn, value: number): string {
	const text = formatIn(column, Math.abs(value));
	const sign = value > 0 ? "+" : value < 0 ? "−" : "";
	return text.startsWith("< ") ? `< ${sign}${text.slice(2)}` : sign + text;
}

const EXACT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });
const UNITS: Record<string, string> = { ns: " ns", bytes: " bytes", percent: " %" };

/* The cell as it was measured, for hovering and copying. */
export function exactly(column: { type: ColumnType }, value: Cell): string {
	if (value === null) return "not recorded or not applicable";
	if (typeof value === "string") return value;
	if (!isNumeric(column)) return String(value);
	return EXACT.format(value) + (UNITS[column.type] ?? "");
}

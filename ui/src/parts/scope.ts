/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.ts - turns the scope chosen in the status bar into parameters of a view.
 */
import type { Job } from "../core/client";
import type { ColumnOffer, TableDocument, ViewOffer } from "../core/types";
import type { Parameters } from "../core/client";
import type { View } from "../core/store";
import { isNumeric, type TableColumn } from "./columns";

/* Rows of one rank that come at once; of more, a note tells, and the core sorts and filters. */
export const MOST_ROWS = 20000;

/* Of all ranks together: those with most, in the order in which they are shown. */
export const MOST_OF_RANKS = 5000;

/* With this many ranks, single gaps are too many to begin with. */
const MANY_RANKS = 64;

/* How idle time is grouped at first; digests keep it by cause alone. */
export function usualGaps(job: Job): "cause" | "gap" {
	const many = job.files.length >= MANY_RANKS;
	return many || job.files.some((file) => file.digest) ? "cause" : "gap";
}

export function ranksOf(job: Job): number[] {
	const ranks = job.files.flatMap((file) =>
		file.problem === null && file.rank !== null ? [file.rank] : [],
	);
	return [...new Set(ranks)].sort((a, b) => a - b);
}

/* Several ranks, none chosen: one row with the median of the ranks, or a row for each. Not
 * where a row is about one thing that happened once. */
export function hasSpread(job: Job, view: View, offer: ViewOffer, group: string): boolean {
	const once = offer.events.includes(group || (offer.groups[0] ?? ""));
	const shared = offer.of_job || offer.of_snapshot;
	return !shared && !once && view.rank === null && ranksOf(job).length > 1;
}

/* What rows have most of, before they are there; without devices the first is 0 everywhere. */
function mostOf(job: Job, offer: ViewOffer, group: string): string | undefined {
	if (offer.own_order.includes(group || (offer.groups[0] ?? ""))) return undefined;
	return job.files.some((file) => file.device_slices) ? offer.order[0] : offer.order.at(-1);
}

export function scopeOf(
	job: Job,
	view: View,
	offer: ViewOffer,
	group: string,
	apart: boolean,
): Parameters {
	const spread = hasSpread(job, view, offer, group) && !apart;
	if (offer.of_snapshot)
		return { group: group && group !== offer.groups[0] ? group : null, top: MOST_ROWS };
	/* A thousand ranks have a million gaps: the core chooses, not the page. */
	const each = !offer.of_job && !spread && view.rank === null && ranksOf(job).length > 1;
	const most = each ? mostOf(job, offer, group) : undefined;
	return {
		rank: spread ? "all" : view.rank,
		step: offer.of_job ? null : view.step,
		group: group && group !== offer.groups[0] ? group : null,
		top: most ? MOST_OF_RANKS : MOST_ROWS,
		sort: most ?? null,
	};
}

interface Spread {
	base: string; /* the column as a table of one rank has it */
	part: "min" | "median" | "max" | "worst";
}

/* "idle_median_ns" is of "idle_ns"; "idle_worst" and "step_percent_worst" name the rank. */
function ofSpread(name: string, figures: Set<string>): Spread | null {
	const found = /^(.*)_(min|median|max)(_ns|_bytes|_percent)?$/.exec(name);
	const base = found ? `${found[1]}${found[3] ?? ""}` : "";
	if (found && figures.has(base)) return { base, part: found[2] as Spread["part"] };
	const worst = /^(.*)_worst$/.exec(name)?.[1];
	if (worst === undefined) return null;
	const units = ["", "_ns", "_bytes", "_percent"];
	const named = units.map((unit) => worst + unit).find((one) => figures.has(one));
	return named ? { base: named, part: "worst" } : null;
}

const PARTS = { min: "min", max: "max", worst: "worst rank" };

/* Columns of a document with what the view declares about them. */
export function columnsOf(document: TableDocument, offer: ViewOffer): TableColumn[] {
	const declared = new Map(offer.columns.map((column) => [column.name, column]));
	const figures = new Set(offer.columns.filter(isNumeric).map((column) => column.name));
	const whole = !document.columns.some((column) => column.name === "rank");
	const barred = offer.columns.find((column) => column.bar)?.name ?? mainOf(document, offer);

	return document.columns.map((column, index) => {
		/* Over all ranks "call_max_ns" is the most of "call_ns", not itself. */
		const spread = whole ? ofSpread(column.name, figures) : null;
		const own = spread ? undefined : declared.get(column.name);
		const type = own?.type ?? (column.unit || "id");
		if (!spread) {
			const bar = column.name === barred;
			return { ...column, index, type, detail: own?.detail ?? false, bar };
		}
		const { base, part } = spread;
		const words = base.replace(/_(ns|bytes|percent)$/, "").replaceAll("_", " ");
		return {
			...column,
			index,
			type,
			title: part === "median" ? words : `${words} ${PARTS[part]}`,
			detail: part !== "median" || (declared.get(base)?.detail ?? false),
			bar: part === "median" && base === barred,
			spread: { stem: base, part },
		};
	});
}

/* The first of the columns that the view orders its rows by that has anything, as the document
 * has it: of all ranks the median. */
function orderedBy(document: TableDocument, offer: ViewOffer) {
	for (const name of offer.order) {
		const median = name.replace(/(_ns|_bytes|_percent)?$/, "_median$1");
		const at = document.columns.findIndex(
			(column) => column.name === name || column.name === median,
		);
		const shown = document.columns[at]?.name;
		if (shown && document.rows.some((row) => row[at])) return { name, shown };
	}
	return null;
}

/* Without a declared bar: the time or size that rows are ordered by, else the first one. */
function mainOf(document: TableDocument, offer: ViewOffer): string | undefined {
	const sized = (column: ColumnOffer) =>
		!column.detail && (column.type === "ns" || column.type === "bytes");
	return orderedBy(document, offer)?.name ?? offer.columns.find(sized)?.name;
}

/* The column that puts the rows in the order of the view; "": they have one of their own. */
export function usualOrder(document: TableDocument, offer: ViewOffer): string {
	if (offer.own_order.includes(document.group ?? "")) return "";
	return orderedBy(document, offer)?.shown ?? "";
}

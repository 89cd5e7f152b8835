/*
 * scope.ts - what the status bar chose, as parameters of a view.
 */
import type { Parameters } from "../core/client";
import type { View } from "../core/store";
import type { Job, TableDocument, ViewOffer } from "../core/types";
import type { TableColumn } from "./columns";

/* Rows of one rank that come at once; more is told, and order and filter are then the core's. */
export const MOST_ROWS = 20000;

export function ranksOf(job: Job): number[] {
	const ranks = job.files.flatMap((file) =>
		file.problem === null && file.rank !== null ? [file.rank] : [],
	);
	return [...new Set(ranks)].sort((a, b) => a - b);
}

/* Several ranks, none chosen: one row with the median of the ranks, or a row for each. */
export function hasSpread(job: Job, view: View, offer: ViewOffer): boolean {
	return !offer.of_job && view.rank === null && ranksOf(job).length > 1;
}

export function scopeOf(
	job: Job,
	view: View,
	offer: ViewOffer,
	group: string,
	each: boolean,
): Parameters {
	const spread = hasSpread(job, view, offer) && !each;
	return {
		rank: spread ? "all" : view.rank,
		step: offer.of_job ? null : view.step,
		group: group && group !== offer.groups[0] ? group : null,
		top: MOST_ROWS,
	};
}

/* "idle_median_ns" is shown as "idle"; least, most and who has the most are details. */
function ofSpread(name: string): { base: string; part: string } | null {
	const found = /^(.*)_(min|median|max)(_ns|_bytes|_percent)?$/.exec(name);
	if (found) return { base: `${found[1]}${found[3] ?? ""}`, part: found[2] ?? "" };
	const worst = /^(.*)_worst$/.exec(name);
	return worst ? { base: worst[1] ?? "", part: "worst" } : null;
}

const PARTS: Record<string, string> = { min: "least", max: "most", worst: "worst rank" };

/* Columns of a document with what the view declares about them. */
export function columnsOf(document: TableDocument, offer: ViewOffer): TableColumn[] {
	const declared = new Map(offer.columns.map((column) => [column.name, column]));
	const names = new Set(document.columns.map((column) => column.name));
	const barred = offer.columns.find((column) => column.bar)?.name ?? mainOf(offer);

	return document.columns.map((column, index) => {
		const own = declared.get(column.name);
		const type = own?.type ?? (column.unit || "id");
		const spread = own ? null : ofSpread(column.name);
		if (!spread || !names.has(medianName(spread.base)))
			return {
				...column,
				index,
				type,
				detail: own?.detail ?? column.name.endsWith("_worst"),
				bar: column.name === barred,
				...(spread ? { spread: { stem: spread.base, part: spread.part } } : {}),
			};
		const stem = spread.base.replace(/_(ns|bytes|percent)$/, "");
		const base = declared.get(spread.base);
		const words = stem.replaceAll("_", " ");
		return {
			...column,
			index,
			type,
			title: spread.part === "median" ? words : `${words} ${PARTS[spread.part]}`,
			about: spread.part === "median" ? `median ${column.about}` : column.about,
			detail: spread.part !== "median" || (base?.detail ?? false),
			bar: spread.part === "median" && spread.base === barred,
			spread: { stem, part: spread.part },
		};
	});
}

function medianName(base: string): string {
	const found = /^(.*?)(_ns|_bytes|_percent)?$/.exec(base);
	return `${found?.[1] ?? base}_median${found?.[2] ?? ""}`;
}

/* Without a declared bar the first time or size has it. */
function mainOf(offer: ViewOffer): string | undefined {
	return offer.columns.find(
		(column) => !column.detail && (column.type === "ns" || column.type === "bytes"),
	)?.name;
}

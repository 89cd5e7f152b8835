/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.ts - ranks and steps as a map: rows of the view ranks, by step or by pair.
 */
import type { Cell, TableDocument } from "../../core/types";
import { formatNs, formatPercent } from "../../core/format";

/* What the map can show; the column of the view, and whether more of it is bad. */
export interface Figure {
	id: string;
	title: string;
	column: string;
	color: string;
	about: string;
	says: (value: string) => string;
}

export const FIGURES: Figure[] = [
	{
		id: "late",
		title: "lateness",
		column: "lateness_ns",
		color: "--bad",
		about: "How long the first rank waited for this one, summed over the step's collectives",
		says: (value) => `arrives ${value} after the first rank at its collectives`,
	},
	{
		id: "wait",
		title: "waiting",
		column: "wait_ns",
		color: "--c-communication",
		about: "Time in collectives, waiting for ranks that arrive later",
		says: (value) => `waits ${value} for other ranks in collectives`,
	},
	{
		id: "step",
		title: "step time",
		column: "step_ns",
		color: "--text",
		about: "How long the step took on this rank",
		says: (value) => `takes ${value}`,
	},
	{
		id: "compute",
		title: "computing",
		column: "compute_ns",
		color: "--c-compute",
		about: "A compute kernel ran",
		says: (value) => `computes ${value}`,
	},
	{
		id: "exposed",
		title: "exposed communication",
		column: "exposed_ns",
		color: "--c-communication",
		about: "Communication that does not overlap with compute",
		says: (value) => `has ${value} of exposed communication`,
	},
	{
		id: "idle",
		title: "idle",
		column: "idle_ns",
		color: "--c-idle",
		about: "Nothing ran on its GPU",
		says: (value) => `leaves its GPU idle for ${value}`,
	},
];

/* One rank: its number, null where the file does not know it, and its row of each step. */
export interface RankRow {
	rank: number | null;
	steps: Map<number, Cell[]>;
}

export interface StepMap {
	ranks: RankRow[];
	steps: number[];
	columns: Map<string, number>;
}

/* Rows stand rank after rank; ranks without a number differ by where their steps begin anew. */
export function readSteps(table: TableDocument): StepMap {
	const columns = new Map(table.columns.map((column, i) => [column.name, i]));
	const [rank = -1, step = -1] = [columns.get("rank"), columns.get("step")];
	const ranks: RankRow[] = [];
	const steps = new Set<number>();
	for (const row of table.rows) {
		const number = Number(row[step] ?? 0);
		const of = (row[rank] ?? null) as number | null;
		let last = ranks.at(-1);
		if (!last || last.rank !== of || last.steps.has(number)) {
			last = { rank: of, steps: new Map() };
			ranks.push(last);
		}
		last.steps.set(number, row);
		steps.add(number);
	}
	return { ranks, steps: [...steps].sort((a, b) => a - b), columns };
}

export function figureOf(map: StepMap, rank: number, step: number, column: string): number | null {
	const at = map.columns.get(column) ?? -1;
	const cell = map.ranks[rank]?.steps.get(map.steps[step] ?? -1)?.[at];
	return typeof cell === "number" ? cell : null;
}

export function valuesOf(map: StepMap, column: string): (number | null)[] {
	return map.ranks.flatMap((_, rank) =>
		map.steps.map((_, step) => figureOf(map, rank, step, column)),
	);
}

export function nameOf(rank: number | null): string {
	return rank === null ? "?" : String(rank);
}

/* "Rank 3, step 2: comes 12 ms later …; 9 % of its step." */
export function tellCell(map: StepMap, rank: number, at: number, figure: Figure): string {
	const value = figureOf(map, rank, at, figure.column);
	const whole = figureOf(map, rank, at, "step_ns");
	const who = `Rank ${nameOf(map.ranks[rank]?.rank ?? null)}, step ${map.steps[at]}`;
	if (whole === null) return `${who}: not recorded, or the step is excluded.`;
	const step = formatNs(whole);
	if (value === null)
		return `${who}: no collective of this step shows it. The step takes ${step}.`;
	const share =
		figure.column !== "step_ns" && whole
			? `, ${formatPercent((100 * value) / whole)} of its step of ${step}`
			: "";
	return `${who}: ${figure.says(formatNs(value))}${share}. Click to show it on the timeline.`;
}

/* Who waits for whom: ranks that wait as rows, those they wait for as columns. */
export interface PairMap {
	ranks: number[];
	values: (number | null)[];
	counts: number[];
	untold: boolean; /* some waits have nobody who came last alone */
}

export function readPairs(table: TableDocument, ranks: number[]): PairMap {
	const at = (name: string) => table.columns.findIndex((column) => column.name === name);
	const [rank, whom, wait, of] = [at("rank"), at("for"), at("wait_ns"), at("collectives")];
	const index = new Map(ranks.map((one, i) => [one, i]));
	const values = new Array<number | null>(ranks.length * ranks.length).fill(0);
	const counts = new Array<number>(values.length).fill(0);
	let untold = false;
	for (const row of table.rows) {
		const from = index.get(Number(row[rank] ?? Number.NaN));
		const to = row[whom] === null ? undefined : index.get(Number(row[whom]));
		if (to === undefined || from === undefined) {
			untold = true;
			continue;
		}
		values[from * ranks.length + to] = Number(row[wait] ?? 0);
		counts[from * ranks.length + to] = Number(row[of] ?? 0);
	}
	return { ranks, values, counts, untold };
}

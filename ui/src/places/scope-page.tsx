/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope-page.tsx - rows that stand for a rank, a step or both: the same figure in all steps of the
 * rank, and on all ranks in the step; and a way to look at it alone.
 */
import { useLoaded, useOpened } from "../core/context";
import { formatCell } from "../core/format";
import { store, writeAddress } from "../core/store";
import type { Cell, TableDocument } from "../core/types";
import type { Read } from "../parts/place";
import { type SmallBar, SmallBars } from "./small-bars";

/* Figures of the view ranks, in this order. */
const FIGURES: [column: string, title: string][] = [
	["step_ns", "Step"],
	["compute_ns", "Compute"],
	["exposed_ns", "Exposed communication"],
	["wait_ns", "Waiting for ranks"],
	["lateness_ns", "Lateness"],
	["idle_ns", "Idle"],
];

/* One bar for each row that passes. */
export function barsBy(
	table: TableDocument,
	label: string,
	column: string,
	passes: (read: (name: string) => Cell) => boolean,
): SmallBar[] {
	const at = new Map(table.columns.map((one, i) => [one.name, i]));
	return table.rows.flatMap((row) => {
		const read = (name: string): Cell => row[at.get(name) ?? -1] ?? null;
		const value = read(column);
		if (typeof value !== "number" || !passes(read)) return [];
		const text = String(read(label) ?? "?");
		return [
			{
				label: text,
				value,
				says: `${label} ${text}: ${formatCell(value, "ns")}`,
			},
		];
	});
}

function mostOf(bars: SmallBar[]): string {
	return `up to ${formatCell(Math.max(0, ...bars.map((bar) => bar.value)), "ns")}`;
}

export function ScopePage({ read }: { read: Read }) {
	const { client } = useOpened();
	const [rank, step] = [read("rank"), read("step")];
	const loaded = useLoaded(() => client.view("ranks", { group: "step", top: 0 }), [client]);
	const table = loaded.value;
	if (typeof rank !== "number" && typeof step !== "number") return null;
	const view = {
		...store.view,
		rank: typeof rank === "number" ? rank : store.view.rank,
		step: typeof step === "number" ? step : store.view.step,
		own: {},
		selected: null,
	};
	const to = (tab: string) => writeAddress({ ...view, tab });
	return (
		<div class="name-page">
			<p>
				{typeof rank === "number" ? `Rank ${rank}` : ""}
				{typeof rank === "number" && typeof step === "number"
					? ", step "
					: ""}
				{typeof step === "number"
					? typeof rank === "number"
						? step
						: `Step ${step}`
					: ""}{" "}
				alone: <a href={to("overview")}>Overview</a> ·{" "}
				<a href={to("operators")}>Operators</a> ·{" "}
				<a href={to("gaps")}>Gaps</a> ·{" "}
				<a href={to("timeline")}>Timeline</a>
			</p>
			<div class="name-columns">
				{table
					? FIGURES.map(([column, title]) => {
							const bars =
								typeof rank === "number"
									? barsBy(
											table,
											"step",
											column,
											(of) =>
												of(
													"rank",
												) ===
												rank,
										)
									: barsBy(
											table,
											"rank",
											column,
											(of) =>
												of(
													"step",
												) ===
												step,
										);
							const by =
								typeof rank === "number"
									? `rank ${rank} by step`
									: `step ${step} by rank`;
							return bars.length > 1 ? (
								<SmallBars
									key={column}
									title={`${title}, ${by}`}
									most={mostOf(bars)}
									bars={bars}
								/>
							) : null;
						})
					: null}
			</div>
		</div>
	);
}

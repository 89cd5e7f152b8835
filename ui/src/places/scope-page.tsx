/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope-page.tsx - rows that stand for a rank, a step or both: the same figure in all steps of the
 * rank, and on all ranks in the step; and a way to look at it alone.
 */
import type { Job } from "../core/client";
import type { Cell, TableDocument } from "../core/types";
import type { Client } from "../core/client";
import { useLoaded, useOpened } from "../core/context";
import { formatCell, formatNs } from "../core/format";
import { store, writeAddress } from "../core/store";
import { stepCount } from "../core/words";
import type { Read } from "../parts/place";
import { MOST_OF_RANKS } from "../parts/scope";
import { type SmallBar, SmallBars } from "./small-bars";

/* Figures of the view ranks, in this order. */
const FIGURES: [column: string, title: string][] = [
	["step_ns", "Step"],
	["dur_ns", "Step"],
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

/* The steps of the rank, or the step on all ranks: of many ranks only how long it takes, because
 * the core has the other figures for all steps at once. */
function figuresOf(client: Client, job: Job, rank: Cell, step: Cell): Promise<TableDocument> {
	if (typeof rank === "number") return client.view("ranks", { group: "step", rank, top: 0 });
	if (job.files.length * stepCount(job) <= MOST_OF_RANKS)
		return client.view("ranks", { group: "step", top: 0 });
	return client.view("steps", { step: Number(step), top: 0 });
}

export function ScopePage({ read }: { read: Read }) {
	const [rank, step] = [read("rank"), read("step")];
	if (typeof rank !== "number" && typeof step !== "number") return null;
	return <Scope rank={rank} step={step} />;
}

function Scope({ rank, step }: { rank: Cell; step: Cell }) {
	const { client, job } = useOpened();
	const loaded = useLoaded(
		() => figuresOf(client, job, rank, step),
		[client, rank, step],
	);
	const table = loaded.value;
	const view = {
		...store.view,
		rank: typeof rank === "number" ? rank : store.view.rank,
		step: typeof step === "number" ? step : store.view.step,
		own: {},
		selected: null,
	};
	const ofRank = typeof rank === "number";
	const by = ofRank ? `rank ${rank} by step` : `step ${step} by rank`;
	const barsOf = (column: string) => {
		if (!table) return [];
		if (ofRank) return barsBy(table, "step", column, (of) => of("rank") === rank);
		return barsBy(table, "rank", column, (of) => of("step") === step);
	};
	const to = (tab: string) => writeAddress({ ...view, tab });
	return (
		<div class="name-page">
			<p>
				{[ofRank ? `Rank ${rank}` : "", typeof step === "number" ? `step ${step}` : ""]
					.filter(Boolean)
					.join(", ")
					.replace(/^s/, "S")}{" "}
				alone: <a href={to("overview")}>Overview</a> ·{" "}
				<a href={to("operators")}>Operators</a> ·{" "}
				<a href={to("gaps")}>Gaps</a> ·{" "}
				<a href={to("timeline")}>Timeline</a>
			</p>
			<div class="name-columns">
				{FIGURES.map(([column, title]) => (
					<SmallBars
						key={column}
						title={`${title}, ${by}`}
						format={formatNs}
						bars={barsOf(column)}
					/>
				))}
			</div>
		</div>
	);
}

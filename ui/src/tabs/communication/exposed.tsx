/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposed.tsx - communication per rank: what overlapped with compute and what was exposed.
 */
import { useLoaded, useOpened } from "../../core/context";
import { formatNs, formatPercent } from "../../core/format";
import { rowsOf, sum } from "../../core/rows";
import { store, useView } from "../../core/store";
import type { BudgetRow } from "../../core/tables";
import { type Bar, type BarKind, Bars } from "../../parts/bars";
import "./communication.css";

const KINDS: BarKind[] = [
	{
		name: "exposed",
		color: "communication",
		about: "communication ran without a compute kernel and makes the step longer",
	},
	{
		name: "hidden",
		color: "communication",
		hatched: true,
		about: "communication overlapped with compute kernels",
	},
];

function barOf(rank: number | null, rows: BudgetRow[]): Bar {
	const steps = new Set(rows.map((row) => row.step)).size || 1;
	const all = sum(rows.map((row) => row.comm_ns)) / steps;
	const exposed = sum(rows.map((row) => row.exposed_comm_ns)) / steps;
	const name = rank === null ? "this file" : `rank ${rank}`;
	const share = all > 0 ? formatPercent((100 * exposed) / all) : "none";
	return {
		id: String(rank ?? ""),
		label: rank === null ? "" : String(rank),
		title: `${name}: ${formatNs(all)} per step, ${formatNs(exposed)} (${share}) exposed`,
		parts: [exposed, Math.max(0, all - exposed)],
	};
}

export function exposedBars(rows: BudgetRow[]): Bar[] {
	const ranks = new Map<number | null, BudgetRow[]>();
	for (const row of rows) ranks.set(row.rank, [...(ranks.get(row.rank) ?? []), row]);
	return [...ranks]
		.sort(([a], [b]) => (a ?? -1) - (b ?? -1))
		.map(([rank, of]) => barOf(rank, of));
}

function sentence(bars: Bar[]): string {
	const exposed = sum(bars.map((bar) => bar.parts[0] ?? 0));
	const all = exposed + sum(bars.map((bar) => bar.parts[1] ?? 0));
	const mean = formatNs(all / Math.max(1, bars.length));
	const share = formatPercent((100 * exposed) / all);
	return (
		`On average a rank communicates for ${mean} per step; ` +
		`${share} of that is exposed (not overlapped with compute).`
	);
}

export function Exposed() {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const loaded = useLoaded(() => client.view("budget", { step }), [client, step]);

	if (!loaded.value) return <div class="exposed" />;
	const bars = exposedBars(rowsOf(loaded.value, "budget"));
	if (!bars.some((bar) => sum(bar.parts) > 0)) return null;
	return (
		<div class="exposed">
			<p class="summary">{sentence(bars)}</p>
			<Bars
				label="Communication per rank, exposed and hidden"
				kinds={KINDS}
				bars={bars}
				height={140}
				chosen={rank === null ? null : String(rank)}
				onChoose={(id) => {
					const chosen = id === "" ? null : Number(id);
					store.set({ rank: rank === chosen ? null : chosen });
				}}
			/>
		</div>
	);
}

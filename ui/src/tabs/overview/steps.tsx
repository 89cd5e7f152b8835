/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.tsx - overview: each step by activity; with several ranks their mean.
 */
import { useLoaded, useOpened } from "../../core/context";
import { formatNs, formatPercent } from "../../core/format";
import { rowsOf, sum } from "../../core/rows";
import { store, useView } from "../../core/store";
import type { BreakdownRow } from "../../core/tables";
import { type Bar, type BarKind, Bars } from "../../parts/bars";
import { Failed, Loading, Nothing } from "../../parts/state";

type Part = Exclude<Extract<keyof BreakdownRow, `${string}_ns`>, "dur_ns" | "mean_ns" | "total_ns">;

export const PARTS: (BarKind & { column: Part })[] = [
	{ column: "kernel_ns", name: "compute", color: "compute", about: "a compute kernel ran" },
	{
		column: "communication_ns",
		name: "exposed communication",
		color: "communication",
		about: "communication ran without a compute kernel",
	},
	{ column: "memcpy_ns", name: "copies", color: "copy", about: "a copy ran without a kernel" },
	{ column: "memset_ns", name: "memsets", color: "copy", hatched: true },
	{
		column: "dataloader_ns",
		name: "input",
		color: "input",
		about: "the host waited for or prepared a batch; GPU idle",
	},
	{ column: "runtime_ns", name: "runtime calls", color: "runtime", about: "GPU idle" },
	{ column: "cpu_ns", name: "host operators", color: "operator", about: "GPU idle" },
	{ column: "other_ns", name: "none of these", color: "idle", hatched: true },
];

/* One bar a step: the mean over the ranks that have the step; parts sum to the mean step. */
export function barsOf(rows: BreakdownRow[]): Bar[] {
	const steps = new Map<number, BreakdownRow[]>();
	for (const row of rows) {
		if (row.step === null) continue;
		steps.set(row.step, [...(steps.get(row.step) ?? []), row]);
	}
	return [...steps].sort(([a], [b]) => a - b).map(([step, same]) => barOf(step, same));
}

function barOf(step: number, rows: BreakdownRow[]): Bar {
	const parts = PARTS.map((part) => sum(rows.map((row) => row[part.column])) / rows.length);
	const whole = sum(parts);
	const name = rows[0]?.name;
	const told = PARTS.map((part, i) => ({ name: part.name, ns: parts[i] ?? 0 }))
		.filter((part) => part.ns > 0)
		.map((p) => `${p.name} ${formatNs(p.ns)}, ${formatPercent((100 * p.ns) / whole)}`);
	const ranks = rows.length > 1 ? `, mean of ${rows.length} ranks` : "";
	return {
		id: String(step),
		label: String(step),
		title: [
			`Step ${step}${name ? ` (${name})` : ""}: ${formatNs(whole)}${ranks}`,
			...told,
		].join("\n"),
		parts,
	};
}

export function StepChart() {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const loaded = useLoaded(() => client.view("breakdown", { rank }), [client, rank]);

	if (!loaded.value)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Loading steps…" />
		);
	const bars = barsOf(rowsOf(loaded.value, "breakdown"));
	if (!bars.length)
		return (
			<Nothing>
				No steps: the files have neither operators nor GPU events.
			</Nothing>
		);
	return (
		<Bars
			label="Time of each step by activity"
			kinds={PARTS}
			bars={bars}
			chosen={step === null ? null : String(step)}
			onChoose={(id) =>
				store.set({ step: step === Number(id) ? null : Number(id) })
			}
		/>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.tsx - overview: the mean step in parts that add up to it.
 */
import { causeColor } from "../../core/colors";
import { useLoaded, useOpened } from "../../core/context";
import { rowsOf, sum } from "../../core/rows";
import { useView } from "../../core/store";
import type { BreakdownRow, BudgetRow } from "../../core/tables";
import { Basis } from "../../parts/basis";
import { Meter, type MeterPart } from "../../parts/meter";
import { Failed, Loading, Nothing } from "../../parts/state";
import { PARTS } from "./steps";

const COLORS: Record<string, string> = {
	compute: "compute",
	"exposed communication": "communication",
	"exposed copies": "copy",
};

/* Parts over all ranks and devices: means weighted by nothing, so that they sum to the mean. */
export function partsOf(rows: { part: string; ns: number }[], devices: number): MeterPart[] {
	const totals = new Map<string, number>();
	for (const row of rows) totals.set(row.part, (totals.get(row.part) ?? 0) + row.ns);
	return [...totals].map(([name, ns]) => ({
		name,
		ns: ns / Math.max(1, devices),
		color: COLORS[name] ?? causeColor(name.replace(/^idle: /, "")),
		hatched: name.startsWith("idle"),
		...(name.startsWith("idle") ? { href: "#/gaps" } : {}),
	}));
}

function ofDevices(rows: BudgetRow[]): { parts: MeterPart[]; devices: number } {
	const devices = new Set(rows.map((row) => `${row.rank} ${row.device}`)).size;
	const known = rows.map((row) => ({ part: row.part ?? "", ns: row.mean_ns ?? 0 }));
	return { parts: partsOf(known, devices), devices };
}

/* Without a device: what the host did. */
function ofHost(rows: BreakdownRow[]): MeterPart[] {
	return PARTS.map((part) => ({
		name: part.name,
		color: part.color,
		hatched: part.hatched ?? false,
		ns: sum(rows.map((row) => row[part.column])) / Math.max(1, rows.length),
	})).filter((part) => part.ns > 0);
}

function whose(devices: number): string {
	if (!devices) return "No GPU was recorded; this is host time.";
	return devices > 1 ? `Mean of ${devices} GPUs.` : "";
}

export function Budget() {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const loaded = useLoaded(async () => {
		const budget = await client.view("budget", { rank, step, group: "part" });
		const rows = rowsOf(budget, "budget");
		if (rows.length) return { ...ofDevices(rows), basis: budget };
		const host = await client.view("breakdown", { rank, step });
		return {
			parts: ofHost(rowsOf(host, "breakdown")),
			devices: 0,
			basis: null,
		};
	}, [client, rank, step]);

	if (!loaded.value)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Adding up the step…" />
		);
	const { parts, devices, basis } = loaded.value;
	if (!parts.length) return <Nothing>No steps to measure.</Nothing>;
	const whole = sum(parts.map((part) => part.ns));
	return (
		<>
			<Basis of={basis} />
			<Meter
				label="The mean step in parts"
				parts={parts.sort((a, b) => b.ns - a.ns)}
				whole={{
					name: step === null ? "the mean step" : `step ${step}`,
					ns: whole,
				}}
				base={step === null ? "the mean step" : `step ${step}`}
			/>
			<p class="soft">{whose(devices)} The parts sum to the step.</p>
		</>
	);
}

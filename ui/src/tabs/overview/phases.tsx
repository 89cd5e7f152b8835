/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.tsx - overview: each step, and the mean step, by phase: input, forward, backward,
 * optimizer and the rest. With several ranks: the rank with the median step.
 */
import type { Job } from "../../core/client";
import type { PartLook } from "../../core/types";
import type { Client } from "../../core/client";
import { kindOf } from "../../core/colors";
import { useLoaded, useOpened } from "../../core/context";
import { formatNs, formatPercent } from "../../core/format";
import { median, rowsOf, sum } from "../../core/rows";
import { store, useView } from "../../core/store";
import type { PhasesRow } from "../../core/tables";
import { plural } from "../../core/words";
import { type Bar, Bars } from "../../parts/bars";
import { Chips } from "../../parts/chips";
import { Meter } from "../../parts/meter";
import { ranksOf } from "../../parts/scope";
import { Failed, Loading, Nothing } from "../../parts/state";

type Axis = "host_ns" | "device_ns";

const AXES = [
	{
		id: "host_ns",
		title: "CPU",
		about: "Main thread time; the parts add up to the step on the CPU",
	},
	{
		id: "device_ns",
		title: "GPU",
		about: "Time in which work launched by the phase ran; with idle it adds up to the step",
	},
];

/* The rank with the median step, of several. */
async function medianRank(client: Client, job: Job): Promise<number | null> {
	if (ranksOf(job).length < 2) return null;
	const rows = rowsOf(await client.view("ranks"), "ranks")
		.filter((row) => row.rank !== null && row.step_ns !== null)
		.sort((a, b) => (a.step_ns ?? 0) - (b.step_ns ?? 0));
	return rows[(rows.length - 1) >> 1]?.rank ?? null;
}

/* In place of the number of a step. */
const MEAN = -1;

function timeOf(rows: PhasesRow[], phase: string, axis: Axis): number {
	return sum(rows.filter((row) => row.phase === phase).map((row) => row[axis]));
}

/* One bar a step; its parts in the order of the legend. */
export function phaseBars(rows: PhasesRow[], looks: PartLook[], axis: Axis): Bar[] {
	const steps = new Map<number, PhasesRow[]>();
	for (const row of rows) {
		if (row.step === null) continue;
		const same = steps.get(row.step);
		if (same) same.push(row);
		else steps.set(row.step, [row]);
	}
	return [...steps]
		.sort(([a], [b]) => a - b)
		.map(([step, same]) => {
			const parts = looks.map((look) => timeOf(same, look.name, axis));
			const whole = sum(parts);
			const told = looks
				.map((look, i) => ({ name: look.name, ns: parts[i] ?? 0 }))
				.filter(({ ns }) => ns > 0)
				.map(
					({ name, ns }) =>
						`${name} ${formatNs(ns)}, ${formatPercent((100 * ns) / whole)}`,
				);
			return {
				id: String(step),
				label: step === MEAN ? "mean" : String(step),
				title: [
					`${step === MEAN ? "The mean step" : `Step ${step}`}: ${formatNs(whole)}`,
					...told,
				].join("\n"),
				parts,
			};
		});
}

/* A digest has the sums of all steps: their mean stands for a step. */
function meanRow(row: PhasesRow, steps: number): PhasesRow {
	const mean = (ns: number | null) => (ns === null ? null : ns / Math.max(1, steps));
	return { ...row, step: MEAN, host_ns: mean(row.host_ns), device_ns: mean(row.device_ns) };
}

function usePhases() {
	const { client, job } = useOpened();
	const scope = useView((view) => view.rank);
	return useLoaded(async () => {
		const offers = await client.offers();
		const rank = scope ?? (await medianRank(client, job));
		const file = job.files.find((one) => one.rank === rank);
		const group = file?.digest ? "all" : "step";
		const table = await client.view("phases", { rank, group });
		const all = rowsOf(table, "phases").map((row) =>
			group === "all" ? meanRow(row, file?.steps?.length ?? 1) : row,
		);
		/* of several devices the first: the host is the same for all */
		const rows = all.filter((row) => row.device === all[0]?.device);
		return { looks: offers.phases, rank, rows, notes: table.notes };
	}, [client, job, scope]);
}

/* "Rank 5, the one with the median step." */
function whose(rank: number | null, scope: number | null): string {
	if (rank === null) return "";
	return scope === null ? `Rank ${rank}, the one with the median step. ` : `Rank ${rank}. `;
}

function MeanStep(props: { bars: Bar[]; looks: PartLook[]; axis: Axis; step: number | null }) {
	const { bars, looks, step } = props;
	const counted = step === null ? bars : bars.filter((bar) => bar.id === String(step));
	const parts = looks
		.map((look, i) => ({
			...kindOf(look),
			ns: sum(counted.map((bar) => bar.parts[i] ?? 0)) / Math.max(1, counted.length),
		}))
		.filter((part) => part.ns > 0);
	const where = props.axis === "host_ns" ? " on the CPU" : "";
	const name = (step === null ? "the mean step" : `step ${step}`) + where;
	return (
		<Meter
			label="Phases of the mean step"
			parts={parts}
			whole={{ name, ns: sum(parts.map((part) => part.ns)) }}
			base={name}
		/>
	);
}

export function Phases() {
	const loaded = usePhases();
	const scope = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const asked = useView((view) => view.own.phases ?? "");

	if (!loaded.value)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Loading phases…" />
		);
	const { looks, rows, rank, notes } = loaded.value;
	const has = (axis: Axis) => rows.some((row) => row[axis] !== null);
	const axes = AXES.filter((axis) => has(axis.id as Axis));
	const axis = (axes.find(({ id }) => id === asked) ?? axes[0])?.id as Axis | undefined;
	if (!axis) return <Nothing>No steps to measure.</Nothing>;
	const bars = phaseBars(rows, looks, axis);
	const wholes = bars.map((bar) => sum(bar.parts));
	const usual = median(wholes);
	const isMean = bars[0]?.id === String(MEAN);
	return (
		<>
			{axes.length > 1 ? (
				<Chips
					label="Whose time"
					chips={axes}
					chosen={axis}
					onChoose={(id) => store.setOwn({ phases: id })}
				/>
			) : null}
			<Bars
				label="Time of each step by phase"
				kinds={looks.map(kindOf)}
				bars={bars}
				chosen={step === null ? null : String(step)}
				level={{ value: usual, says: `median ${formatNs(usual)}` }}
				onChoose={(id) =>
					isMean
						? undefined
						: store.set({ step: step === Number(id) ? null : Number(id) })
				}
			/>
			<MeanStep {...{ bars, looks, axis, step: isMean ? null : step }} />
			<p class="soft">
				{whose(rank, scope)}
				{isMean
					? "Per step, mean of all steps of its digest. "
					: `Per step, mean of ${plural(bars.length, "step")}; ` +
						`median ${formatNs(usual)}, dashed. `}
				The parts add up to the step.
			</p>
			{notes.map((note) => (
				<p class="soft" key={note}>
					{note}
				</p>
			))}
		</>
	);
}

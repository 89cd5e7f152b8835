/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bars.tsx - steps: one bar per step and rank if there is room, otherwise the slowest rank of
 * each step; outliers are marked and named.
 */
import type { Job } from "../../core/client";
import { useLoaded, useOpened } from "../../core/context";
import { formatNs } from "../../core/format";
import { median, rowsOf } from "../../core/rows";
import { showOnTimeline, useView } from "../../core/store";
import type { StepsRow } from "../../core/tables";
import { type Bar, Bars } from "../../parts/bars";
import { Failed, Loading } from "../../parts/state";
import "./steps.css";

/* Bars that can be told apart at 1280 pixels. */
const MOST_BARS = 240;

/* A step this much longer than the median stands out: less is what steps usually differ by. */
const OUTLIER = 1.2;

/* Outliers that are named; the table has all. */
const NAMED = 5;

const KIND = [{ name: "step", color: "range" }];

interface Known {
	rank: number | null;
	step: number;
	ns: number;
	name: string | null;
	dropped: string | null;
}

function known(rows: StepsRow[]): Known[] {
	return rows.flatMap((row) =>
		row.step === null || row.dur_ns === null
			? []
			: [
					{
						rank: row.rank,
						step: row.step,
						ns: row.dur_ns,
						name: row.name,
						dropped: row.dropped,
					},
				],
	);
}

/* Of each step the slowest rank, when all do not fit. */
function fitting(steps: Known[]): Known[] {
	if (steps.length <= MOST_BARS) return steps;
	const slowest = new Map<number, Known>();
	for (const one of steps) {
		const last = slowest.get(one.step);
		if (!last || one.ns > last.ns) slowest.set(one.step, one);
	}
	return [...slowest.values()];
}

function barOf(one: Known, usual: number, several: boolean): Bar {
	const rank = one.rank === null ? "" : ` of rank ${one.rank}`;
	const name = one.name ? ` (${one.name})` : "";
	const why = one.dropped ? `\nexcluded: ${one.dropped}` : "";
	const out = !one.dropped && one.ns > OUTLIER * usual;
	return {
		id: `${one.step} ${one.rank ?? ""}`,
		label: several && one.rank ? "" : String(one.step),
		marks: several && !one.rank,
		title: `Step ${one.step}${rank}${name}: ${formatNs(one.ns)}${why}`,
		parts: [one.ns],
		faint: one.dropped !== null,
		...(out ? { sign: "▲" } : {}),
	};
}

function goTo(job: Job, id: string): void {
	const [step, rank] = id.split(" ");
	const file = job.files.find((one) => String(one.rank ?? "") === rank && !one.problem);
	const found = file?.steps?.find((one) => one.number === Number(step));
	if (!found) return;
	const selected = { kind: "range" as const, from: found.start_ns, to: found.end_ns };
	showOnTimeline(found.start_ns, found.end_ns - found.start_ns, selected);
}

function Outliers({ steps, usual }: { steps: Known[]; usual: number }) {
	const out = steps
		.filter((one) => !one.dropped && one.ns > OUTLIER * usual)
		.sort((a, b) => b.ns - a.ns);
	if (!out.length)
		return (
			<p class="soft">
				No step takes more than {OUTLIER} × the median. Click a bar to show
				it on the timeline.
			</p>
		);
	return (
		<p>
			{out.slice(0, NAMED).map((one) => (
				<span key={`${one.step} ${one.rank}`} class="outlier">
					▲ step {one.step}
					{one.rank === null ? "" : ` of rank ${one.rank}`}:{" "}
					{formatNs(one.ns)}, {(one.ns / usual).toFixed(2)} × the
					median{" "}
				</span>
			))}
			{out.length > NAMED ? `and ${out.length - NAMED} more.` : ""}
		</p>
	);
}

export function StepBars() {
	const { client, job } = useOpened();
	const rank = useView((view) => view.rank);
	const loaded = useLoaded(() => client.view("steps", { rank }), [client, rank]);

	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	if (!loaded.value)
		return (
			<div class="step-bars">
				<Loading what="Loading steps…" />
			</div>
		);
	const all = known(rowsOf(loaded.value, "steps"));
	if (!all.length) return null;
	const usual = median(all.filter((one) => !one.dropped).map((one) => one.ns));
	const shown = fitting(all).sort((a, b) => a.step - b.step || (a.rank ?? 0) - (b.rank ?? 0));
	const several = shown.length > new Set(shown.map((one) => one.step)).size;
	const cut = shown.length < all.length ? "the slowest rank of each step" : "every step";
	const drawn = `The chart shows ${cut}${several ? ", ranks side by side" : ""}.`;
	return (
		<div class="step-bars">
			<p class="summary">
				The median {several ? "of all steps of all ranks is" : "step takes"}{" "}
				{formatNs(usual)}. {drawn}
			</p>
			<Bars
				label="Time of each step"
				kinds={KIND}
				bars={shown.map((one) => barOf(one, usual, several))}
				level={{ value: usual, says: `median ${formatNs(usual)}` }}
				height={160}
				onChoose={(id) => goTo(job, id)}
			/>
			<Outliers steps={all} usual={usual} />
		</div>
	);
}

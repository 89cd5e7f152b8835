/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step-map.tsx - a map of ranks and steps: which rank was late in which step.
 */
import { useMemo } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { formatNs } from "../../core/format";
import { middle } from "../../core/rows";
import { store, useView } from "../../core/store";
import { Chips } from "../../parts/chips";
import { HeatMap } from "../../parts/heat-map";
import { Failed, Loading, Nothing } from "../../parts/state";
import { FIGURES, type Figure, nameOf, readSteps, type StepMap, tellCell, valuesOf } from "./model";

function useShow(map: StepMap | null) {
	const { job } = useOpened();
	return (rank: number, step: number) => {
		const wanted = map?.ranks[rank]?.rank ?? null;
		const files = job.files.filter((file) => file.problem === null);
		const file =
			wanted === null ? files[rank] : files.find((one) => one.rank === wanted);
		const found = file?.steps?.find((one) => one.number === map?.steps[step]);
		if (!found || !file) return;
		const around = (found.end_ns - found.start_ns) / 20;
		store.set({
			tab: "timeline",
			from: found.start_ns - around,
			to: found.end_ns + around,
			selected: { kind: "range", from: found.start_ns, to: found.end_ns },
			own: { open: String(file.file) } /* the timeline unfolds this rank */,
		});
	};
}

/* Shares of a step below this are no reason to look: their colour stays pale. */
const FULL_SHARE = 0.5;

/* Lateness and waiting are judged by the step that they make longer, not by each other: the colour
 * of a healthy job says so. */
function fullColor(map: StepMap, figure: Figure): number {
	if (figure.column !== "lateness_ns" && figure.column !== "wait_ns") return 0;
	const steps = valuesOf(map, "step_ns").filter((value) => value !== null);
	return FULL_SHARE * (middle(steps) ?? 0);
}

export function StepsMap() {
	const { client, job } = useOpened();
	const chosen = useView((view) => view.own.show);
	const loaded = useLoaded(
		() => client.view("ranks", { group: "step", top: 0 }),
		[client, job],
	);
	const map = useMemo(() => (loaded.value ? readSteps(loaded.value) : null), [loaded.value]);
	const late = useMemo(
		() => map !== null && valuesOf(map, "lateness_ns").some((value) => value !== null),
		[map],
	);
	const figure =
		FIGURES.find((one) => one.id === chosen) ??
		FIGURES.find((one) => one.id === (late ? "late" : "step"));
	const values = useMemo(
		() => (map && figure ? valuesOf(map, figure.column) : []),
		[map, figure],
	);
	const rows = useMemo(() => map?.ranks.map(({ rank }) => nameOf(rank)) ?? [], [map]);
	const columns = useMemo(() => map?.steps.map(String) ?? [], [map]);
	const show = useShow(map);

	if (!map || !figure)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Comparing the ranks …" />
		);
	if (!map.steps.length)
		return (
			<Nothing>
				No steps were found, so there is no map. Call{" "}
				<code>prof.step()</code> at the end of each step.
			</Nothing>
		);
	return (
		<>
			<Chips
				label="What the map shows"
				chips={FIGURES}
				chosen={figure.id}
				onChoose={(id) => store.setOwn({ show: id })}
			/>
			{figure.id === "late" && !late ? (
				<p class="soft">
					Lateness is unknown: these ranks share no collectives, or
					only one rank is open.
				</p>
			) : null}
			<HeatMap
				rows={rows}
				columns={columns}
				rowTitle="rank"
				columnTitle="step"
				values={values}
				label={`Ranks and steps: ${figure.title}`}
				color={figure.color}
				least={fullColor(map, figure)}
				format={formatNs}
				tell={(rank, step) => tellCell(map, rank, step, figure)}
				pick={show}
			/>
		</>
	);
}

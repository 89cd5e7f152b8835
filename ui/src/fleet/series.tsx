/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.tsx - the median step of the runs of a job, in their order, with the changes marked.
 */
import { useState } from "preact/hooks";
import { formatNs } from "../core/format";
import { plural } from "../core/words";
import { LevelChart } from "../parts/level-chart";
import { changeWords, type Point, type Series } from "./model";
import { addressOf } from "./stored";

function pointWords({ started, ns, commit }: Point): string {
	return `${started}: ${formatNs(ns)}${commit ? `, commit ${commit}` : ""}`;
}

function Job({ series }: { series: Series }) {
	const changes = series.points.filter((point) => point.change);
	return (
		<figure class="fleet-job">
			<figcaption>
				<strong>{series.job}</strong>{" "}
				<span class="soft">{plural(series.points.length, "run")}</span>
			</figcaption>
			<LevelChart
				label={`Median step of ${plural(series.points.length, "run")} of ${series.job}`}
				points={series.points.map((point) => ({
					id: point.run,
					when: point.started,
					ns: point.ns,
					words: pointWords(point),
					changes: point.change !== null,
				}))}
				whenOf={(when) => when.slice(0, 10)}
			/>
			{changes.length ? (
				<ul>
					{changes.map((point) => (
						<li key={point.run}>
							{changeWords(point)}{" "}
							<a href={addressOf(point.run)}>open</a>
						</li>
					))}
				</ul>
			) : null}
		</figure>
	);
}

/* Jobs that are shown at once. */
const JOBS = 12;

export function AllSeries({ all }: { all: Series[] }) {
	const [shown, show] = useState(JOBS);
	/* jobs that changed come first: somebody wants to know */
	const changed = (one: Series) => one.points.some((point) => point.change);
	const sorted = [...all.filter(changed), ...all.filter((one) => !changed(one))];
	return (
		<>
			<div class="fleet-jobs">
				{sorted.slice(0, shown).map((series) => (
					<Job key={series.job} series={series} />
				))}
			</div>
			{sorted.length > shown ? (
				<button type="button" class="button" onClick={() => show(sorted.length)}>
					Show all {plural(sorted.length, "job")}
				</button>
			) : null}
		</>
	);
}

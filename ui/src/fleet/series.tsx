/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.tsx - the median step of the runs of a job, in their order, with the changes marked.
 */
import { useState } from "preact/hooks";
import { formatNs } from "../core/format";
import { plural } from "../core/words";
import { changeWords, type Point, type Series } from "./model";
import { addressOf } from "./stored";

const WIDTH = 360;
const HEIGHT = 110;
const LEFT = 56;
const TOP = 10;
const BOTTOM = 18;

/* Points that are drawn; of more, every second or third one. Changes stay. */
const DRAWN = 400;

function scaleOf(points: Point[]) {
	const values = points.map((point) => point.ns);
	const [low, high] = [Math.min(...values), Math.max(...values)];
	/* noise must not look like a change: at least a tenth of the level is seen */
	const room = Math.max(high - low, 0.1 * high) || 1;
	const middle = (low + high) / 2;
	const inside = HEIGHT - TOP - BOTTOM;
	return {
		top: middle + room / 2,
		bottom: middle - room / 2,
		x: (at: number) =>
			LEFT + 6 + (at * (WIDTH - LEFT - 12)) / Math.max(1, points.length - 1),
		y: (ns: number) => TOP + ((middle + room / 2 - ns) / room) * inside,
	};
}

function pointWords({ started, ns, commit }: Point): string {
	return `${started}: ${formatNs(ns)}${commit ? `, commit ${commit}` : ""}`;
}

function Chart({ series }: { series: Series }) {
	const { points } = series;
	const { x, y, top, bottom } = scaleOf(points);
	const every = Math.ceil(points.length / DRAWN);
	return (
		<svg
			viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
			role="img"
			aria-label={`Median step of ${plural(points.length, "run")} of ${series.job}`}
		>
			{[top, bottom].map((ns) => (
				<g key={ns} class="fleet-axis">
					<line x1={LEFT} x2={WIDTH} y1={y(ns)} y2={y(ns)} />
					<text x={LEFT - 6} y={y(ns) + 4} text-anchor="end">
						{formatNs(ns)}
					</text>
				</g>
			))}
			<text class="fleet-when" x={LEFT} y={HEIGHT - 4}>
				{points[0]?.started.slice(0, 10)}
			</text>
			<text class="fleet-when" x={WIDTH} y={HEIGHT - 4} text-anchor="end">
				{points.at(-1)?.started.slice(0, 10)}
			</text>
			{points.map((point, at) =>
				at % every === 0 || point.change ? (
					<g key={point.run}>
						<title>{pointWords(point)}</title>
						{point.change ? (
							<path
								class="fleet-change"
								d={`M${x(at - 0.5)} ${TOP - 4}V${HEIGHT - BOTTOM}`}
							/>
						) : null}
						<circle cx={x(at)} cy={y(point.ns)} r="2.5" />
					</g>
				) : null,
			)}
		</svg>
	);
}

function Job({ series }: { series: Series }) {
	const changes = series.points.filter((point) => point.change);
	return (
		<figure class="fleet-job">
			<figcaption>
				<strong>{series.job}</strong>{" "}
				<span class="soft">{plural(series.points.length, "run")}</span>
			</figcaption>
			<Chart series={series} />
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

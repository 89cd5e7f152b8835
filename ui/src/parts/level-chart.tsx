/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level-chart.tsx - times of runs or minutes in their order, with changes of their level marked.
 */
import { formatNs } from "../core/format";
import "./level-chart.css";

export interface LevelPoint {
	id: string;
	when: string; /* "2026-11-17 10:00:00" */
	ns: number;
	words: string;
	changes: boolean; /* a new level begins here */
}

const WIDTH = 360;
const LEFT = 56;
const TOP = 10;
const BOTTOM = 18;

/* Points that are drawn; of more, every second or third one. Changes stay. */
const DRAWN = 400;

function scaleOf(points: LevelPoint[], width: number, height: number) {
	const values = points.map((point) => point.ns);
	const [low, high] = [Math.min(...values), Math.max(...values)];
	/* noise must not look like a change: at least a tenth of the level is seen */
	const room = Math.max(high - low, 0.1 * high) || 1;
	const middle = (low + high) / 2;
	const inside = height - TOP - BOTTOM;
	return {
		top: middle + room / 2,
		bottom: middle - room / 2,
		x: (at: number) =>
			LEFT + 6 + (at * (width - LEFT - 12)) / Math.max(1, points.length - 1),
		y: (ns: number) => TOP + ((middle + room / 2 - ns) / room) * inside,
	};
}

interface LevelChartProps {
	label: string;
	points: LevelPoint[];
	whenOf: (when: string) => string; /* what is shown of a moment at both ends */
	width?: number;
	height?: number;
}

export function LevelChart(props: LevelChartProps) {
	const { label, points, whenOf, width = WIDTH, height = 110 } = props;
	const { x, y, top, bottom } = scaleOf(points, width, height);
	const every = Math.ceil(points.length / DRAWN);
	return (
		<svg
			class="level-chart"
			viewBox={`0 0 ${width} ${height}`}
			role="img"
			aria-label={label}
		>
			{[top, bottom].map((ns) => (
				<g key={ns} class="level-axis">
					<line x1={LEFT} x2={width} y1={y(ns)} y2={y(ns)} />
					<text x={LEFT - 6} y={y(ns) + 4} text-anchor="end">
						{formatNs(ns)}
					</text>
				</g>
			))}
			<text x={LEFT} y={height - 4}>
				{whenOf(points[0]?.when ?? "")}
			</text>
			<text x={width} y={height - 4} text-anchor="end">
				{whenOf(points.at(-1)?.when ?? "")}
			</text>
			{points.map((point, at) =>
				at % every === 0 || point.changes ? (
					<g key={point.id}>
						<title>{point.words}</title>
						{point.changes ? (
							<path
								class="level-change"
								d={`M${x(at - 0.5)} ${TOP - 4}V${height - BOTTOM}`}
							/>
						) : null}
						<circle cx={x(at)} cy={y(point.ns)} r="2.5" />
					</g>
				) : null,
			)}
		</svg>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.tsx - memory over time: allocated as a band from minimum to maximum, reserved as a line,
 * steps behind it. Drag to zoom, double click to show all.
 */
import type { Step } from "../../core/types";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatBytes, formatNs } from "../../core/format";
import { tokenOf, useTheme, useWidth } from "../../parts/surface";
import type { Curve } from "./model";

const HEIGHT = 260;

interface Props {
	curve: Curve;
	steps: Step[]; /* moments of the curve */
	limit: number | null; /* memory of the device, where it is near */
	zoom: (from: number, to: number) => void;
	all: () => void;
	label: string;
	onKeyDown: (event: KeyboardEvent) => void;
}

/* Behind the curve: every second step shaded, with its number. */
function drawSteps(plot: uPlot, steps: Step[]): void {
	const { ctx, bbox } = plot;
	ctx.save();
	ctx.beginPath();
	ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
	ctx.clip();
	ctx.font = `${11 * devicePixelRatio}px ${tokenOf("--font")}`;
	ctx.textAlign = "left";
	ctx.textBaseline = "alphabetic";
	steps.forEach((step, i) => {
		const from = plot.valToPos(step.start_ns, "x", true);
		const to = plot.valToPos(step.end_ns, "x", true);
		ctx.fillStyle = tokenOf("--raised");
		if (i % 2 === 0) ctx.fillRect(from, bbox.top, to - from, bbox.height);
		ctx.fillStyle = tokenOf("--soft");
		const text = `step ${step.number}`;
		if (to - from > ctx.measureText(text).width + 8)
			ctx.fillText(text, from + 4, bbox.top + bbox.height - 6 * devicePixelRatio);
	});
	ctx.restore();
}

function drawLimit(plot: uPlot, limit: number | null): void {
	if (!limit) return;
	const { ctx, bbox } = plot;
	const y = plot.valToPos(limit, "y", true);
	if (y < bbox.top) return;
	ctx.save();
	ctx.strokeStyle = tokenOf("--bad");
	ctx.setLineDash([6, 4]);
	ctx.beginPath();
	ctx.moveTo(bbox.left, y);
	ctx.lineTo(bbox.left + bbox.width, y);
	ctx.stroke();
	ctx.restore();
}

function axis(values: (splits: number[]) => string[], size: number): uPlot.Axis {
	const line = tokenOf("--line");
	return {
		stroke: tokenOf("--soft"),
		font: `11px ${tokenOf("--font")}`,
		grid: { stroke: line, width: 1 },
		ticks: { stroke: line, width: 1 },
		values: (_, splits) => values(splits),
		size,
	};
}

function optionsOf(props: Props, width: number): uPlot.Options {
	const color = tokenOf("--c-compute");
	const bytes = (_: uPlot, value: number | null) => formatBytes(value);
	return {
		width,
		height: HEIGHT,
		scales: {
			x: { time: false },
			y: { range: (_, __, high) => [0, (high || 1) * 1.05] },
		},
		axes: [
			axis((splits) => splits.map((split) => formatNs(split)), 32),
			axis((splits) => splits.map((split) => formatBytes(split)), 72),
		],
		series: [
			{ label: "at", value: (_, value: number | null) => formatNs(value) },
			{
				label: "max allocated",
				stroke: color,
				width: 1.5,
				value: bytes,
				points: { show: false },
			},
			{
				label: "min allocated",
				stroke: color,
				width: 0.5,
				value: bytes,
				points: { show: false },
			},
			{
				label: "reserved",
				stroke: tokenOf("--c-communication"),
				width: 1.5,
				dash: [6, 3],
				value: bytes,
				points: { show: false },
			},
		],
		bands: [{ series: [1, 2], fill: `${color}55` }],
		cursor: { drag: { x: true, y: false, setScale: false } },
		hooks: {
			drawAxes: [
				(plot) => {
					drawSteps(plot, props.steps);
					drawLimit(plot, props.limit);
				},
			],
			setSelect: [
				(plot) => {
					if (plot.select.width < 4) return;
					const from = plot.posToVal(plot.select.left, "x");
					const to = plot.posToVal(
						plot.select.left + plot.select.width,
						"x",
					);
					plot.setSelect(
						{ left: 0, top: 0, width: 0, height: 0 },
						false,
					);
					props.zoom(from, to);
				},
			],
		},
	};
}

export function MemoryPlot(props: Props) {
	const [place, width] = useWidth<HTMLDivElement>();
	const last = useRef(props);
	const theme = useTheme();
	last.current = props;

	useEffect(() => {
		const element = place.current;
		if (!element || !width) return;
		const { curve } = props;
		const plot = new uPlot(
			optionsOf(
				{ ...props, zoom: (from, to) => last.current.zoom(from, to) },
				width,
			),
			[curve.at, curve.high, curve.low, curve.reserved],
			element,
		);
		const over = plot.over;
		const whole = () => last.current.all();
		over.addEventListener("dblclick", whole);
		return () => {
			over.removeEventListener("dblclick", whole);
			plot.destroy();
		};
	}, [props.curve, width, theme, props.limit, props.steps]);

	return (
		<div
			class="memory-plot"
			ref={place}
			role="application"
			tabIndex={0}
			aria-label={props.label}
			onKeyDown={props.onKeyDown}
		/>
	);
}

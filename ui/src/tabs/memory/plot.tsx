/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.tsx - memory over time: allocated as a band from minimum to maximum, reserved as a line,
 * steps behind it. Gestures and axes are those of the curves of snapshots.
 */
import type { Step } from "../../core/types";
import { useEffect, useRef } from "preact/hooks";
import { formatBytes, formatNs } from "../../core/format";
import { SavePicture } from "../../parts/picture";
import { beginDrawing, tokenOf, useTheme, useWidth } from "../../parts/surface";
import { drawnBy } from "../../parts/vector";
import type { Curve, Span } from "./model";
import { Selected } from "./snapshot/area";
import { BOTTOM, drawAxes, HEIGHT, LEFT, ROOM } from "./snapshot/drawing";
import { useGestures } from "./snapshot/gestures";

interface Props {
	curve: Curve;
	steps: Step[]; /* moments of the curve */
	limit: number | null; /* memory of the device, where it is near */
	window: Span; /* what is shown */
	whole: Span;
	zoom: (window: Span) => void;
	peak: () => void;
	label: string;
}

/* Where moments and bytes stand. */
interface Plane {
	context: CanvasRenderingContext2D;
	width: number;
	x: (at: number) => number;
	y: (bytes: number) => number;
}

type Values = (number | null)[];

/* Behind the curve: every second step shaded, with its number. */
function drawSteps({ context, x }: Plane, steps: Step[]): void {
	const floor = HEIGHT - BOTTOM;
	context.textAlign = "left";
	steps.forEach((step, i) => {
		const [from, to] = [x(step.start_ns), x(step.end_ns)];
		context.fillStyle = tokenOf("--raised");
		if (i % 2 === 0) context.fillRect(from, 0, to - from, floor);
		context.fillStyle = tokenOf("--soft");
		const text = `step ${step.number}`;
		if (to - from > context.measureText(text).width + 8)
			context.fillText(text, Math.max(LEFT, from) + 4, floor - 6);
	});
}

function drawLine(plane: Plane, at: number[], values: Values, style: string, dash: number[]): void {
	const { context, x, y } = plane;
	context.strokeStyle = style;
	context.lineWidth = 1.5;
	context.setLineDash(dash);
	context.beginPath();
	let begun = false;
	values.forEach((bytes, i) => {
		if (bytes === null) begun = false;
		else if (begun) context.lineTo(x(at[i] ?? 0), y(bytes));
		else context.moveTo(x(at[i] ?? 0), y(bytes));
		begun = bytes !== null;
	});
	context.stroke();
	context.setLineDash([]);
	context.lineWidth = 1;
}

/* From the least to the most of each moment. */
function drawBand({ context, x, y }: Plane, { at, low, high }: Curve): void {
	const known = at.map((_, i) => i).filter((i) => low[i] !== null && high[i] !== null);
	context.fillStyle = tokenOf("--c-compute");
	context.globalAlpha = 0.33;
	context.beginPath();
	for (const i of known) context.lineTo(x(at[i] ?? 0), y(high[i] ?? 0));
	for (const i of known.reverse()) context.lineTo(x(at[i] ?? 0), y(low[i] ?? 0));
	context.fill();
	context.globalAlpha = 1;
}

function draw(context: CanvasRenderingContext2D, props: Props, full: number): void {
	const { curve, window, limit } = props;
	const width = full - LEFT;
	const found = [...curve.high, ...curve.reserved].reduce<number>(
		(high, bytes) => Math.max(high, bytes ?? 0),
		1,
	);
	const most = found * ROOM;
	const plane: Plane = {
		context,
		width,
		x: (at) => LEFT + (width * (at - window.from)) / (window.to - window.from),
		y: (bytes) => (HEIGHT - BOTTOM) * (1 - bytes / most),
	};
	context.save();
	context.beginPath();
	context.rect(LEFT, 0, width, HEIGHT - BOTTOM);
	context.clip();
	context.font = `11px ${tokenOf("--font")}`;
	context.textBaseline = "alphabetic";
	drawSteps(plane, props.steps);
	context.restore();
	drawAxes(context, { axis: "time", window }, width, most, plane.y);
	context.save();
	context.beginPath();
	context.rect(LEFT, 0, width, HEIGHT - BOTTOM);
	context.clip();
	drawBand(plane, curve);
	drawLine(plane, curve.at, curve.high, tokenOf("--c-compute"), []);
	drawLine(plane, curve.at, curve.reserved, tokenOf("--c-communication"), [6, 3]);
	if (limit)
		drawLine(plane, [window.from, window.to], [limit, limit], tokenOf("--bad"), [6, 4]);
	context.restore();
}

/* What is known at the pointer, or what the lines are. */
function Told({ curve, at }: { curve: Curve; at: number | null }) {
	const after = at === null ? -1 : curve.at.findIndex((one) => one >= at);
	const i = after < 0 ? curve.at.length - 1 : after;
	const of = (values: Values) => (at === null ? "" : ` ${formatBytes(values[i] ?? null)}`);
	const lowest = at === null ? "" : `, lowest${of(curve.low)}`;
	const isReserved = curve.reserved.some((bytes) => bytes !== null);
	return (
		<span>
			{at === null ? "" : `${formatNs(curve.at[i] ?? null)}: `}
			<span class="area-swatch memory-allocated" /> allocated{of(curve.high)}
			{lowest}
			{isReserved ? (
				<span class="area-reserved memory-reserved">reserved{of(curve.reserved)}</span>
			) : null}
		</span>
	);
}

export function MemoryPlot(props: Props) {
	const [place, full] = useWidth<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const theme = useTheme();
	const { curve, window, whole, steps, limit } = props;
	const width = Math.max(1, full - LEFT);
	/* gestures count from the beginning of the curve */
	const shifted = (by: number, { from, to }: Span) => ({ from: from + by, to: to + by });
	const plot = {
		window: shifted(-whole.from, window),
		length: whole.to - whole.from,
		zoom: (next: Span) => props.zoom(shifted(whole.from, next)),
		jump: (to: string) => to === "peak" && props.peak(),
	};
	const { hover, select, handlers } = useGestures(canvas, width, plot, () => {});
	const at = hover
		? window.from + ((window.to - window.from) * Math.max(0, hover.x)) / width
		: null;
	const paint = (context: CanvasRenderingContext2D) => draw(context, props, full);

	useEffect(() => {
		if (!canvas.current || full <= LEFT) return;
		const context = beginDrawing(canvas.current, full, HEIGHT);
		if (context) paint(context);
	}, [curve, window.from, window.to, full, theme, limit, steps]);

	return (
		<div class="area memory-plot" ref={place}>
			<canvas
				ref={canvas}
				tabIndex={0}
				role="application"
				aria-label={props.label}
				{...handlers}
			/>
			<Selected pixels={select} />
			<p class="memory-told">
				<Told curve={curve} at={at} />
				<SavePicture of={() => drawnBy(full, HEIGHT, paint)} name="memory curve" />
			</p>
		</div>
	);
}

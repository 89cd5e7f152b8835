/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawing.ts - draws an area chart on a canvas: series from the bottom up, reserved memory,
 * marks, axes.
 */
import { formatBytes, formatCount, formatNs } from "../../../core/format";
import { tickStep } from "../../../parts/bars";
import { beginDrawing, tokenOf } from "../../../parts/surface";
import { type Bands, drawBands, drawOutline, type Plane } from "./bands";
import {
	type Area,
	type Axis,
	placeOf,
	type Series,
	seriesLook,
	ticksOf,
	type Window,
	words,
} from "./model";

export const HEIGHT = 280;
export const LEFT = 64;
export const BOTTOM = 22;
/* Room above the most that is drawn. */
export const ROOM = 1.05;

export interface Mark {
	event: number;
	label: string;
	token: string;
}

export interface Look {
	axis: Axis;
	window: Window;
	search: string;
	marks: Mark[];
}

function placeText(axis: Axis, value: number): string {
	return axis === "time" ? formatNs(value) : formatCount(value);
}

export function matches(name: string, search: string): boolean {
	return !search || words(name).toLowerCase().includes(search.toLowerCase());
}

function drawSeries(
	context: CanvasRenderingContext2D,
	area: Area,
	width: number,
	top: (bytes: number) => number,
	search: string,
): void {
	const wide = width / area.pixels;
	const below = new Float64Array(area.pixels);
	area.series.forEach((series, index) => {
		const { token, pale } = seriesLook(series.name, index);
		context.fillStyle = tokenOf(token);
		context.globalAlpha = matches(series.name, search) ? (pale ? 0.55 : 0.9) : 0.12;
		context.beginPath();
		for (let i = 0; i < area.pixels; i++) {
			const base = below[i] ?? 0;
			const next = base + (series.parts[i] ?? 0);
			const y = top(next);
			if (next > base) context.rect(LEFT + i * wide, y, wide + 0.3, top(base) - y);
			below[i] = next;
		}
		context.fill();
	});
	context.globalAlpha = 1;
}

function drawReserved(
	context: CanvasRenderingContext2D,
	area: Area,
	width: number,
	top: (bytes: number) => number,
): void {
	context.strokeStyle = tokenOf("--text");
	context.setLineDash([5, 3]);
	context.beginPath();
	let begun = false;
	for (let i = 0; i < area.pixels; i++) {
		const bytes = area.reserved[i] ?? Number.NaN;
		if (Number.isNaN(bytes)) continue;
		const x = LEFT + ((i + 0.5) * width) / area.pixels;
		if (begun) context.lineTo(x, top(bytes));
		else context.moveTo(x, top(bytes));
		begun = true;
	}
	context.stroke();
	context.setLineDash([]);
}

export function drawAxes(
	context: CanvasRenderingContext2D,
	props: Pick<Look, "axis" | "window">,
	width: number,
	most: number,
	top: (bytes: number) => number,
): void {
	context.font = `11px ${tokenOf("--font")}`;
	context.fillStyle = tokenOf("--soft");
	context.strokeStyle = tokenOf("--line");
	context.textAlign = "right";
	context.textBaseline = "middle";
	for (let bytes = 0; bytes <= most; bytes += tickStep(most)) {
		const y = Math.round(top(bytes)) + 0.5;
		context.beginPath();
		context.moveTo(LEFT, y);
		context.lineTo(LEFT + width, y);
		context.stroke();
		context.fillText(formatBytes(bytes), LEFT - 6, Math.max(7, y));
	}
	context.textBaseline = "alphabetic";
	const { from, to } = props.window;
	for (const tick of ticksOf(from, to, Math.max(2, Math.floor(width / 120)))) {
		const x = (width * (tick - from)) / (to - from);
		context.textAlign = x < 30 ? "left" : x > width - 30 ? "right" : "center";
		context.fillText(placeText(props.axis, tick), LEFT + x, HEIGHT - 6);
	}
}

/* Failed allocations and the peak: a line with a word. */
function drawMarks(
	context: CanvasRenderingContext2D,
	props: Look,
	area: Area,
	width: number,
): void {
	props.marks.forEach((mark, index) => {
		const at = placeOf(area, props.axis, mark.event);
		if (at === null) return;
		const x = at * width;
		context.strokeStyle = tokenOf(mark.token);
		context.fillStyle = context.strokeStyle;
		context.beginPath();
		context.moveTo(LEFT + x, 0);
		context.lineTo(LEFT + x, HEIGHT - BOTTOM);
		context.stroke();
		context.textAlign = x > width / 2 ? "right" : "left";
		/* words of marks that stand together are below each other */
		const y = 11 + 13 * (index % 4);
		context.fillText(mark.label, LEFT + x + (x > width / 2 ? -4 : 4), y);
	});
}

function mostOf(area: Area): number {
	let most = 1;
	for (let i = 0; i < area.pixels; i++)
		most = Math.max(most, area.high[i] ?? 0, area.reserved[i] || 0);
	return most * ROOM;
}

function planeOf(context: CanvasRenderingContext2D, area: Area, width: number): Plane {
	const most = mostOf(area);
	const top = (bytes: number) => (HEIGHT - BOTTOM) * (1 - bytes / most);
	return { context, left: LEFT, wide: width / area.pixels, top };
}

/* `bands`: null where it is stacked by holder. */
export function draw(
	context: CanvasRenderingContext2D,
	props: Look,
	{ area, bands }: { area: Area; bands: Bands | null },
	full: number,
): void {
	const width = full - LEFT;
	const plane = planeOf(context, area, width);
	drawAxes(context, props, width, mostOf(area), plane.top);
	if (bands) {
		const isFound = ({ name }: Series) => matches(name, props.search);
		drawBands(plane, bands, area.high, area.series, isFound);
	} else {
		drawSeries(context, area, width, plane.top, props.search);
	}
	drawReserved(context, area, width, plane.top);
	drawMarks(context, props, area, width);
}

/* On a canvas above: what is pointed at changes more often than the picture. */
export function drawPointed(
	canvas: HTMLCanvasElement,
	area: Area,
	bands: Bands,
	band: number | null,
	full: number,
): void {
	const context = beginDrawing(canvas, full, HEIGHT);
	if (context && band !== null)
		drawOutline(planeOf(context, area, full - LEFT), bands, band);
}

/* The bytes at a height of the picture. */
export function bytesAt(area: Area, y: number): number {
	return (1 - y / (HEIGHT - BOTTOM)) * mostOf(area);
}

/* The series at a height of a pixel; -1: none. */
export function seriesAt(area: Area, pixel: number, y: number): number {
	const bytes = bytesAt(area, y);
	let below = 0;
	for (let i = 0; i < area.series.length; i++) {
		below += area.series[i]?.parts[pixel] ?? 0;
		if (bytes < below) return bytes < 0 ? -1 : i;
	}
	return -1;
}

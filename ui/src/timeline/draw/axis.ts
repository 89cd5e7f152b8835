/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axis.ts - the time axis and the steps: a ribbon in the row of a rank, lines through its other
 * rows.
 */
import type { JobFile, Step } from "../../core/types";
import { formatCount, formatNs } from "../../core/format";
import type { Row } from "../model";
import { formatMoment, roundStep, type Span } from "../span";
import { type Pen, snap, xOf } from "./pen";

/* Ticks stand at least so far apart: a label and some air. */
const TICK_PIXELS = 96;

/* Steps that are narrower on the screen are not worth an axis of their own. */
const STEP_PIXELS = 150;

/* A number needs so much; steps closer than that have no lines, and no tones of their own. */
const WORD_PIXELS = 16;
const LINE_PIXELS = 24;
const BAND_PIXELS = 3;

/* Steps of a file are in order and do not overlap. */
function stepsBetween(steps: Step[], span: Span): Step[] {
	let low = 0;
	let high = steps.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((steps[middle]?.end_ns ?? 0) > span.from) high = middle;
		else low = middle + 1;
	}
	let end = low;
	while (end < steps.length && (steps[end]?.start_ns ?? Infinity) < span.to) end++;
	return steps.slice(low, end);
}

interface Section {
	base: number; /* its ticks count from here */
	from: number;
	to: number;
	title: string;
}

/* Each step counts from its own start while steps are wide; else all counts from the start. */
export function countedSteps(
	{ span, perNs }: Pick<Pen, "span" | "perNs">,
	steps: Step[],
	fromStart: boolean,
): Step[] {
	const seen = fromStart ? [] : stepsBetween(steps, span);
	const wide = seen.every((step) => (step.end_ns - step.start_ns) * perNs >= STEP_PIXELS);
	return wide ? seen : [];
}

function sectionsOf(pen: Pen, steps: Step[], fromStart: boolean): Section[] {
	const { span } = pen;
	const seen = countedSteps(pen, steps, fromStart);
	if (!seen.length) return [{ base: 0, from: span.from, to: span.to, title: "" }];
	const sections: Section[] = [];
	let at = span.from;
	for (const step of seen) {
		if (step.start_ns > at)
			sections.push({ base: Number.NaN, from: at, to: step.start_ns, title: "" });
		const to = Math.min(step.end_ns, span.to);
		const from = Math.max(step.start_ns, span.from);
		sections.push({ base: step.start_ns, from, to, title: `step ${step.number}` });
		at = to;
	}
	return sections;
}

/* A label over the axis, from x on: words of the axis give way to it. */
export interface Taken {
	x: number;
	width: number;
}

export function overlap(one: Taken, other: Taken): boolean {
	return one.x <= other.x + other.width && other.x <= one.x + one.width;
}

function drawSection(
	pen: Pen,
	section: Section,
	step: number,
	top: number,
	height: number,
	taken: Taken[],
): void {
	const { context, theme } = pen;
	const isFree = (x: number, text: string) =>
		!taken.some((one) => overlap(one, { x, width: theme.width(text) }));
	if (Number.isNaN(section.base)) return;
	const first = Math.ceil((section.from - section.base) / step);
	const last = Math.floor((section.to - section.base) / step);
	const right = xOf(pen, section.to);
	const sign = section.title ? "+" : "";
	for (let i = first; i <= last; i++) {
		const x = snap(pen, xOf(pen, section.base + i * step));
		context.fillStyle = theme.line;
		context.fillRect(x, top + height - 7, 1, 7);
		const text =
			i === 0 && section.title
				? section.title
				: sign + formatMoment(i * step, step);
		if (x + 4 + theme.width(text) > right || !isFree(x + 4, text)) continue;
		context.fillStyle = i === 0 && section.title ? theme.text : theme.soft;
		context.fillText(text, x + 4, top + height / 2 - 1);
	}
	/* the step began before the window: say whose time it is */
	if (section.title && first > 0 && xOf(pen, section.base + first * step) > 60) {
		const [text, x] = [`${section.title}:`, Math.max(0, xOf(pen, section.from)) + 4];
		if (!isFree(x, text)) return;
		context.fillStyle = theme.text;
		context.fillText(text, x, top + height / 2 - 1);
	}
}

/* The time at the pointer, in the terms of the axis. */
export function momentAt(pen: Pen, ns: number, steps: Step[], fromStart: boolean): string {
	const fine = (pen.span.to - pen.span.from) / Math.max(1, pen.width);
	const step = roundStep(Math.max(fine, 1));
	const [own] = fromStart ? [] : stepsBetween(steps, { from: ns, to: ns + 1 });
	if (own) return `step ${own.number} +${formatMoment(ns - own.start_ns, step)}`;
	return formatMoment(ns, step);
}

export function drawAxis(
	pen: Pen,
	steps: Step[],
	fromStart: boolean,
	top: number,
	height: number,
	taken: Taken[],
): void {
	const { context, theme } = pen;
	const step = roundStep(TICK_PIXELS / pen.perNs);
	context.font = theme.font;
	context.textBaseline = "middle";
	context.textAlign = "left";
	for (const section of sectionsOf(pen, steps, fromStart))
		drawSection(pen, section, step, top, height, taken);
	context.fillStyle = theme.line;
	context.fillRect(0, top + height - 1, pen.width, 1);
}

/* From this number of steps on two tones would only flicker. */
function drawBand(pen: Pen, steps: Step[], top: number, height: number): void {
	const { context, theme } = pen;
	const from = Math.max(0, xOf(pen, steps[0]?.start_ns ?? 0));
	const to = Math.min(pen.width, xOf(pen, steps.at(-1)?.end_ns ?? 0));
	context.fillStyle = theme.fills[8 * 4] ?? theme.line;
	context.fillRect(from, top, to - from, height);
	const text = `${formatCount(steps.length)} steps`;
	if (theme.width(text) + 10 > to - from) return;
	context.fillStyle = theme.text;
	context.fillText(text, from + 5, top + height / 2 + 0.5);
}

/* One step after the other, in two tones; those that are left out of averages are empty. */
export function drawRibbon(
	pen: Pen,
	row: Row,
	file: JobFile,
	shift: number,
	taken: Taken[],
): void {
	const { context, theme } = pen;
	const top = row.y + shift + 3;
	const height = row.height - 6;
	context.font = theme.font;
	context.textBaseline = "middle";
	context.textAlign = "left";
	let last = -Infinity;
	const steps = stepsBetween(file.steps ?? [], pen.span);
	if (steps.length > pen.width / BAND_PIXELS) return drawBand(pen, steps, top, height);
	for (const step of steps) {
		const x = Math.max(snap(pen, xOf(pen, step.start_ns)), -2);
		const to = Math.min(snap(pen, xOf(pen, step.end_ns)), pen.width + 2);
		if (to - last < 1) continue;
		last = to;
		context.fillStyle = theme.fills[8 * 4 + (step.number % 2 ? 0 : 1)] ?? theme.line;
		if (step.dropped === null)
			context.fillRect(x, top, Math.max(1, to - x - 1), height);
		else {
			context.fillStyle = theme.line;
			context.fillRect(x, top, Math.max(1, to - x - 1), height);
		}
		if (to - x > WORD_PIXELS)
			writeStep(pen, step, x, to, top + height / 2 + 0.5, taken);
	}
	drawDoubt(pen, file, top, height);
}

/* Beside the flags, in as many words as there is room for. */
function writeStep(
	pen: Pen,
	step: Step,
	x: number,
	to: number,
	y: number,
	taken: Taken[],
): void {
	const { context, theme } = pen;
	const length = formatNs(step.end_ns - step.start_ns);
	const dropped = step.dropped === null ? "" : ` (excluded: ${step.dropped})`;
	for (const text of [
		`step ${step.number} · ${length}${dropped}`,
		`step ${step.number} · ${length}`,
		`step ${step.number}`,
		String(step.number),
	]) {
		const width = theme.width(text);
		let from = Math.max(x, 0) + 5;
		for (const one of taken)
			if (one.x < from + width + 4 && one.x + one.width > from - 4)
				from = one.x + one.width + 5;
		if (from + width + 4 > Math.min(to, pen.width)) continue;
		context.fillStyle = theme.text;
		context.fillText(text, from, y);
		return;
	}
}

/* How far the clock of the rank may be off: a band around each end of a step. */
function drawDoubt(pen: Pen, file: JobFile, top: number, height: number): void {
	const doubt = (file.clock_error_ns ?? 0) * pen.perNs;
	if (doubt < 1) return;
	const { context, theme } = pen;
	context.fillStyle = theme.accent;
	context.globalAlpha = 0.22;
	for (const step of stepsBetween(file.steps ?? [], pen.span))
		for (const ns of [step.start_ns, step.end_ns])
			context.fillRect(xOf(pen, ns) - doubt, top, 2 * doubt, height);
	context.globalAlpha = 1;
}

/* Where steps begin, through the rows of a rank; not where they would be a grid. */
export function drawStepLines(pen: Pen, rows: Row[], files: JobFile[], shift: number): void {
	const { context, theme } = pen;
	context.fillStyle = theme.line;
	for (let i = 0; i < rows.length;) {
		const file = rows[i]?.file ?? 0;
		let end = i + 1;
		while (end < rows.length && rows[end]?.file === file) end++;
		const [first, last] = [rows[i], rows[end - 1]];
		i = end;
		const steps = stepsBetween(files[file]?.steps ?? [], pen.span);
		if (!first || !last || first === last || steps.length > pen.width / LINE_PIXELS)
			continue;
		const height = last.y + last.height - first.y;
		for (const step of steps)
			context.fillRect(
				snap(pen, xOf(pen, step.start_ns)),
				first.y + shift,
				1,
				height,
			);
	}
}

/* The same on the strip of a folded rank. */
export function drawStepMarks(pen: Pen, row: Row, file: JobFile, shift: number): void {
	const { context, theme } = pen;
	if (row.height < 10) return;
	context.fillStyle = theme.back;
	let last = -Infinity;
	for (const step of stepsBetween(file.steps ?? [], pen.span)) {
		const x = snap(pen, xOf(pen, step.start_ns));
		if (x - last < 12) continue;
		last = x;
		context.fillRect(x - 1, row.y + shift, 2, row.height);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minimap.ts - the whole run on one line: how busy all GPUs are, steps, search matches, marks,
 * and the visible window.
 */
import type { Step } from "../../core/types";
import type { Strips } from "../decode";
import type { Span } from "../span";
import type { Theme } from "../theme";
import { type Pen, snap } from "./pen";

const COMPUTE = 0;
const COMMUNICATION = 1;

/* The mean of all ranks, as a picture that frames only place. */
function paint(strips: Strips, theme: Theme, height: number): HTMLCanvasElement {
	const canvas = document.createElement("canvas");
	canvas.width = Math.max(1, strips.pixels);
	canvas.height = height;
	const context = canvas.getContext("2d");
	const files = Math.max(1, strips.values.length);
	if (!context) return canvas;
	for (let x = 0; x < strips.pixels; x++) {
		let busy = 0;
		let other = 0;
		for (const values of strips.values) {
			busy += values[x] ?? 0;
			other += values[strips.pixels + x] ?? 0;
		}
		const low = (busy / files / 255) * height;
		const high = (other / files / 255) * height;
		context.fillStyle = theme.fills[COMPUTE * 4 + 1] ?? theme.accent;
		context.fillRect(x, height - low, 1, low);
		context.fillStyle = theme.fills[COMMUNICATION * 4 + 1] ?? theme.accent;
		context.fillRect(x, height - low - high, 1, high);
	}
	return canvas;
}

export class Minimap {
	private strips: Strips | null = null;
	private picture: HTMLCanvasElement | null = null;
	private of: Theme | null = null;

	show(strips: Strips): void {
		this.strips = strips;
		this.picture = null;
	}

	draw(
		pen: Pen,
		whole: Span,
		steps: Step[],
		spots: { hits: number[]; flags: number[]; spans: Span[] },
		top: number,
		height: number,
	): void {
		const { context, theme } = pen;
		const scale = pen.width / (whole.to - whole.from);
		const at = (ns: number) => (ns - whole.from) * scale;
		if (this.strips && (!this.picture || this.of !== theme)) {
			this.picture = paint(this.strips, theme, height);
			this.of = theme;
		}
		if (this.picture)
			context.drawImage(this.picture, at(0), top, pen.width - 2 * at(0), height);
		this.drawSteps(pen, steps, at, top, height);
		context.fillStyle = theme.accent;
		context.globalAlpha = 0.3;
		for (const span of spots.spans)
			context.fillRect(
				at(span.from),
				top,
				Math.max(2, (span.to - span.from) * scale),
				height,
			);
		context.globalAlpha = 1;
		context.fillStyle = theme.text;
		for (const ns of spots.hits)
			context.fillRect(snap(pen, at(ns)), top, 1.5, height / 3);
		context.fillStyle = theme.bad;
		for (const ns of spots.flags) context.fillRect(snap(pen, at(ns)), top, 2, 5);
		this.drawWindow(pen, at(pen.span.from), at(pen.span.to), top, height);
	}

	private drawSteps(
		pen: Pen,
		steps: Step[],
		at: (ns: number) => number,
		top: number,
		height: number,
	): void {
		const { context, theme } = pen;
		let last = -Infinity;
		context.fillStyle = theme.soft;
		for (const step of steps) {
			const x = snap(pen, at(step.start_ns));
			if (x - last < 8) continue;
			last = x;
			context.fillRect(x, top + height - 5, 1, 5);
		}
	}

	/* What is not seen is veiled; the window has handles. */
	private drawWindow(pen: Pen, from: number, to: number, top: number, height: number): void {
		const { context, theme } = pen;
		const left = snap(pen, from);
		const right = Math.max(snap(pen, to), left + 3);
		context.fillStyle = theme.back;
		context.globalAlpha = 0.65;
		context.fillRect(0, top, left, height);
		context.fillRect(right, top, pen.width - right, height);
		context.globalAlpha = 1;
		context.strokeStyle = theme.accent;
		context.lineWidth = 1;
		context.strokeRect(
			left + 0.5,
			top + 0.5,
			Math.max(2, right - left - 1),
			height - 1,
		);
		context.fillStyle = theme.accent;
		context.fillRect(left - 1, top + height / 4, 3, height / 2);
		context.fillRect(right - 2, top + height / 4, 3, height / 2);
	}
}

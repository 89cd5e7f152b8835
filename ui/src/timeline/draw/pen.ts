/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pen.ts - what all drawing code shares: canvas, theme, time to pixels; and rectangles batched
 * by colour, so that the canvas changes state once per colour.
 */
import type { Span } from "../span";
import { SHADES, type Theme } from "../theme";

export interface Pen {
	context: CanvasRenderingContext2D;
	theme: Theme;
	width: number; /* CSS pixels */
	height: number;
	scale: number; /* device pixels of a CSS pixel */
	span: Span;
	perNs: number; /* CSS pixels of a nanosecond */
}

export function xOf(pen: Pen, ns: number): number {
	return (ns - pen.span.from) * pen.perNs;
}

/* Onto the grid of the screen, so that edges are crisp. */
export function snap(pen: Pen, x: number): number {
	return Math.round(x * pen.scale) / pen.scale;
}

export class Rectangles {
	private values = new Float32Array(256);
	count = 0;

	add(x: number, y: number, width: number, height: number): void {
		const at = this.count * 4;
		if (at + 4 > this.values.length) {
			const more = new Float32Array(this.values.length * 2);
			more.set(this.values);
			this.values = more;
		}
		this.values[at] = x;
		this.values[at + 1] = y;
		this.values[at + 2] = width;
		this.values[at + 3] = height;
		this.count++;
	}

	fill(context: CanvasRenderingContext2D, style: string | CanvasPattern | null): void {
		if (!this.count || !style) return;
		const values = this.values;
		context.fillStyle = style;
		for (let at = 0; at < this.count * 4; at += 4)
			context.fillRect(
				values[at] ?? 0,
				values[at + 1] ?? 0,
				values[at + 2] ?? 0,
				values[at + 3] ?? 0,
			);
		this.count = 0;
	}
}

/* What a label stands on. */
export type Ground = "full" | "pale" | "hatch";

/* Height of what is cleared behind a label on a hatch. */
const PLATE = 12;

/* A label that waits until all rectangles are there. */
interface Label {
	text: string;
	x: number;
	y: number;
}

/* Kept between frames: its arrays grow to what a screen needs and stay. */
export class Batch {
	private fills: Rectangles[] = [];
	private waits: Rectangles[] = [];
	private causes: Rectangles[] = [];
	private thin: Rectangles[] = [];
	private onFull: Label[] = [];
	private onPale: Label[] = [];
	private onHatch: Label[] = [];

	private static of(list: Rectangles[], index: number): Rectangles {
		list[index] ??= new Rectangles();
		return list[index];
	}

	fill(color: number, shade: number): Rectangles {
		return Batch.of(this.fills, color * SHADES + shade);
	}

	wait(color: number): Rectangles {
		return Batch.of(this.waits, color);
	}

	cause(cause: number): Rectangles {
		return Batch.of(this.causes, cause);
	}

	/* A gap that is too narrow for lines. */
	thinCause(cause: number): Rectangles {
		return Batch.of(this.thin, cause);
	}

	label(text: string, x: number, y: number, ground: Ground): void {
		const onto = { full: this.onFull, pale: this.onPale, hatch: this.onHatch }[ground];
		onto.push({ text, x, y });
	}

	flush(pen: Pen): void {
		const { context, theme } = pen;
		this.fills.forEach((one, i) => {
			one.fill(context, theme.fills[i] ?? null);
		});
		this.waits.forEach((one, i) => {
			one.fill(context, theme.waits[i] ?? null);
		});
		this.causes.forEach((one, i) => {
			one.fill(context, theme.causes[i] ?? null);
		});
		this.thin.forEach((one, i) => {
			one.fill(context, theme.causeFills[i] ?? null);
		});
		context.font = theme.font;
		context.textBaseline = "middle";
		context.textAlign = "left";
		this.write(context, this.onFull, theme.accentText);
		this.write(context, this.onPale, theme.text);
		this.clear(pen, this.onHatch);
		this.write(context, this.onHatch, theme.text);
	}

	/* Lines of a hatch would strike the letters out. */
	private clear({ context, theme }: Pen, labels: Label[]): void {
		context.fillStyle = theme.back;
		for (const { text, x, y } of labels)
			context.fillRect(x - 3, y - PLATE / 2, theme.width(text) + 6, PLATE);
	}

	private write(context: CanvasRenderingContext2D, labels: Label[], style: string): void {
		if (!labels.length) return;
		context.fillStyle = style;
		for (const label of labels) context.fillText(label.text, label.x, label.y);
		labels.length = 0;
	}
}

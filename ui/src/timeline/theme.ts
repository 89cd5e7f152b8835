/* SPDX-License-Identifier: Apache-2.0 */
/*
 * theme.ts - what canvases need from the current theme: colours as numbers and strings, hatches,
 * letter widths.
 */
import { allCauses, parseColor, readPalette } from "../core/colors";
import { HATCHES } from "../parts/vector";

type Rgb = [number, number, number];

/* Steps from pale to full for entries that stand for slices with room between them. */
export const SHADES = 4;

function mixed(back: Rgb, front: Rgb, part: number): Rgb {
	return back.map((value, i) => Math.round(value + ((front[i] ?? 0) - value) * part)) as Rgb;
}

function written(color: Rgb): string {
	return `rgb(${color.join(" ")})`;
}

/* Diagonal lines, 45 degrees, on a paler ground. */
function hatch(front: string, ground: string, scale: number): CanvasPattern | null {
	const side = Math.round(6 * scale);
	const canvas = document.createElement("canvas");
	canvas.width = side;
	canvas.height = side;
	const context = canvas.getContext("2d");
	if (!context) return null;
	context.fillStyle = ground;
	context.fillRect(0, 0, side, side);
	context.strokeStyle = front;
	context.lineWidth = 1.5 * scale;
	context.beginPath();
	for (const shift of [-side, 0, side]) {
		context.moveTo(shift - 1, side + 1);
		context.lineTo(shift + side + 1, -1);
	}
	context.stroke();
	const pattern = context.createPattern(canvas, "repeat");
	if (pattern) HATCHES.set(pattern, { front, ground });
	return pattern;
}

export class Theme {
	readonly back: string;
	readonly raised: string;
	readonly line: string;
	readonly text: string;
	readonly soft: string;
	readonly accent: string;
	readonly accentText: string;
	readonly bad: string;
	readonly path: string;
	readonly note: string;
	readonly isDark: boolean;
	readonly rgb: Rgb[];
	readonly backRgb: Rgb;
	readonly trackRgb: Rgb;
	/* color * SHADES + shade */
	readonly fills: string[] = [];
	readonly waits: (CanvasPattern | null)[];
	readonly causes: (CanvasPattern | null)[];
	readonly causeFills: string[];
	readonly font: string;
	readonly bold: string;
	private widths = new Map<string, number>();
	private letters = new Float32Array(128);

	constructor(
		private context: CanvasRenderingContext2D,
		readonly scale: number,
	) {
		const style = getComputedStyle(document.documentElement);
		const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
		this.back = token("back");
		this.raised = token("raised");
		this.line = token("line");
		this.text = token("text");
		this.soft = token("soft");
		this.accent = token("accent");
		this.accentText = token("accent-text");
		this.bad = token("bad");
		this.path = token("path");
		this.note = token("note");
		this.backRgb = parseColor(this.back);
		this.isDark = this.backRgb[0] < 128;
		this.trackRgb = mixed(this.backRgb, parseColor(this.line), 0.6);
		this.rgb = readPalette().map(parseColor);
		for (const color of this.rgb)
			for (let shade = 0; shade < SHADES; shade++)
				this.fills.push(
					written(
						mixed(
							this.backRgb,
							color,
							0.4 + (0.6 * shade) / (SHADES - 1),
						),
					),
				);
		this.waits = this.rgb.map((color) => this.hatchOf(color, 0.25));
		const causes = allCauses().map((cause) => this.rgb[cause.color] ?? [0, 0, 0]);
		this.causes = causes.map((color) => this.hatchOf(color as Rgb, 0.16));
		this.causeFills = causes.map((color) =>
			written(mixed(this.backRgb, color as Rgb, 0.55)),
		);
		const family = getComputedStyle(document.body).fontFamily;
		this.font = `11px ${family}`;
		this.bold = `600 11px ${family}`;
		context.font = this.font;
		for (let code = 32; code < 127; code++)
			this.letters[code] = context.measureText(String.fromCharCode(code)).width;
	}

	private hatchOf(color: Rgb, ground: number): CanvasPattern | null {
		const lines = written(mixed(this.backRgb, color, 0.6));
		return hatch(lines, written(mixed(this.backRgb, color, ground)), this.scale);
	}

	/* Of plain letters from the table; once per text, whatever it holds. */
	width(text: string): number {
		let width = this.widths.get(text);
		if (width !== undefined) return width;
		width = 0;
		for (let i = 0; i < text.length; i++) {
			const code = text.charCodeAt(i);
			width +=
				code < 128
					? (this.letters[code] ?? 0)
					: this.foreign(text[i] ?? "");
		}
		if (this.widths.size > 20000) this.widths.clear();
		this.widths.set(text, width);
		return width;
	}

	private foreign(letter: string): number {
		this.context.font = this.font;
		return this.context.measureText(letter).width;
	}

	/* The beginning that fits, if it is four letters or more: fewer say nothing. */
	clipped(text: string, room: number): string {
		if (this.width(text) <= room) return text;
		let left = room - this.width("…");
		let end = 0;
		for (; end < text.length; end++) {
			const code = text.charCodeAt(end);
			left -=
				code < 128
					? (this.letters[code] ?? 0)
					: this.width(text[end] ?? "");
			if (left < 0) break;
		}
		return end >= 4 ? `${text.slice(0, end)}…` : "";
	}

	/* Hatches stand still with what they cover. */
	anchor(x: number): void {
		const matrix = new DOMMatrix([1 / this.scale, 0, 0, 1 / this.scale, x, 0]);
		for (const pattern of [...this.waits, ...this.causes])
			pattern?.setTransform(matrix);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector.ts - a context that writes SVG where a canvas has pixels: as much of it as the drawing
 * code of the page uses.
 */
import type { Drawn } from "./picture";

/* Of what colours a hatch is. */
export const HATCHES = new WeakMap<CanvasPattern, { front: string; ground: string }>();

type Style = string | CanvasPattern;

interface State {
	fillStyle: Style;
	strokeStyle: string;
	lineWidth: number;
	globalAlpha: number;
	font: string;
	textAlign: string;
	textBaseline: string;
	groups: number; /* that are open */
}

function escaped(text: string): string {
	const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", '"': "&quot;" };
	return text.replaceAll(/[&<"]/g, (letter) => names[letter] ?? "");
}

/* Hundredths of a pixel. */
function short(...values: number[]): string {
	return values.map((value) => String(Math.round(value * 100) / 100)).join(" ");
}

class VectorContext {
	fillStyle: Style = "";
	strokeStyle = "";
	lineWidth = 1;
	globalAlpha = 1;
	font = "";
	textAlign = "left";
	textBaseline = "middle";
	private ruler: CanvasRenderingContext2D | null = null;
	private groups = 0;
	private saved: State[] = [];
	private parts: string[] = [];
	private patterns = new Map<CanvasPattern, string>();
	private path = "";
	private dash = "";
	private clips = 0;
	/* Rectangles of one colour that follow each other are one element. */
	private same = "";
	private rects: string[] = [];

	text(): string {
		this.flush();
		return this.parts.join("\n");
	}

	private flush(): void {
		if (this.rects.length) this.parts.push(`<path${this.same} d="${this.rects.join("")}"/>`);
		this.rects = [];
		this.same = "";
	}

	private add(element: string): void {
		this.flush();
		this.parts.push(element);
	}

	private color(style: Style): string {
		if (typeof style === "string") return style;
		let id = this.patterns.get(style);
		if (id) return `url(#${id})`;
		const { front, ground } = HATCHES.get(style) ?? { front: "none", ground: "none" };
		id = `hatch${this.patterns.size}`;
		this.patterns.set(style, id);
		this.add(
			`<pattern id="${id}" patternUnits="userSpaceOnUse" width="6" height="6">` +
				`<rect width="6" height="6" fill="${ground}"/>` +
				`<path d="M-1 1L1 -1M-1 7L7 -1M5 7L7 5" stroke="${front}" ` +
				'stroke-width="1.5"/></pattern>',
		);
		return `url(#${id})`;
	}

	private filled(): string {
		const opacity = this.globalAlpha < 1 ? ` fill-opacity="${this.globalAlpha}"` : "";
		return ` fill="${this.color(this.fillStyle)}"${opacity}`;
	}

	private static rectangle(x: number, y: number, width: number, height: number): string {
		return `M${short(x, y)}h${short(width)}v${short(height)}h${short(-width)}z`;
	}

	fillRect(x: number, y: number, width: number, height: number): void {
		const look = this.filled();
		if (look !== this.same) this.flush();
		this.same = look;
		this.rects.push(VectorContext.rectangle(x, y, width, height));
	}

	fillText(text: string, x: number, y: number): void {
		const [, weight = "", size = "11", family = ""] =
			/^(?:(\d+) )?(\d+)px (.*)$/.exec(this.font) ?? [];
		/* the same whatever draws it: not all know where the middle of letters is */
		const below = this.textBaseline === "middle" ? 0.35 * Number(size) : 0;
		const base = short(x, y + below).split(" ");
		const anchor = { center: "middle", right: "end" }[this.textAlign];
		this.add(
			`<text x="${base[0]}" y="${base[1]}"${this.filled()} font-size="${size}"` +
				` font-family="${escaped(family)}"` +
				(weight ? ` font-weight="${weight}"` : "") +
				(anchor ? ` text-anchor="${anchor}"` : "") +
				`>${escaped(text)}</text>`,
		);
	}

	measureText(text: string): { width: number } {
		this.ruler ??= document.createElement("canvas").getContext("2d");
		if (!this.ruler) return { width: 0 };
		this.ruler.font = this.font;
		return this.ruler.measureText(text);
	}

	beginPath(): void {
		this.path = "";
	}

	moveTo(x: number, y: number): void {
		this.path += `M${short(x, y)}`;
	}

	lineTo(x: number, y: number): void {
		this.path += `${this.path ? "L" : "M"}${short(x, y)}`;
	}

	bezierCurveTo(...points: number[]): void {
		this.path += `C${short(...points)}`;
	}

	rect(x: number, y: number, width: number, height: number): void {
		this.path += VectorContext.rectangle(x, y, width, height);
	}

	/* Whole circles only. */
	arc(x: number, y: number, r: number): void {
		const half = `a${short(r, r)} 0 1 0 `;
		this.path += `M${short(x - r, y)}${half}${short(2 * r, 0)}${half}${short(-2 * r, 0)}`;
	}

	fill(rule = "nonzero"): void {
		this.add(`<path${this.filled()} fill-rule="${rule}" d="${this.path}"/>`);
	}

	stroke(): void {
		if (!this.path) return;
		this.add(
			`<path fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"` +
				`${this.dash} d="${this.path}"/>`,
		);
	}

	strokeRect(x: number, y: number, width: number, height: number): void {
		this.beginPath();
		this.rect(x, y, width, height);
		this.stroke();
	}

	setLineDash(lengths: number[]): void {
		this.dash = lengths.length ? ` stroke-dasharray="${lengths.join(" ")}"` : "";
	}

	clip(): void {
		const id = `clip${this.clips++}`;
		this.add(
			`<clipPath id="${id}"><path d="${this.path}"/></clipPath>` +
				`<g clip-path="url(#${id})">`,
		);
		this.groups++;
	}

	save(): void {
		const { fillStyle, strokeStyle, lineWidth, globalAlpha, groups } = this;
		const { font, textAlign, textBaseline } = this;
		const letters = { font, textAlign, textBaseline };
		this.saved.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, groups, ...letters });
	}

	restore(): void {
		const kept = this.saved.pop();
		if (!kept) return;
		this.add("</g>".repeat(this.groups - kept.groups));
		Object.assign(this, kept);
	}

	/* Part of a canvas, or all of it: strips are samples, a pixel each, and stay such. */
	drawImage(source: HTMLCanvasElement, ...at: number[]): void {
		const whole = [0, 0, source.width, source.height];
		const [sx = 0, sy = 0, sw = 0, sh = 0] = at.length > 4 ? at : whole;
		const [x = 0, y = 0, width = 0, height = 0] = at.slice(-4);
		const part = document.createElement("canvas");
		part.width = sw;
		part.height = sh;
		part.getContext("2d")?.drawImage(source, sx, sy, sw, sh, 0, 0, sw, sh);
		this.add(
			`<image x="${short(x)}" y="${short(y)}" width="${short(width)}" ` +
				`height="${short(height)}" preserveAspectRatio="none" ` +
				`image-rendering="pixelated" href="${part.toDataURL()}"/>`,
		);
	}
}

/* What a drawing draws, as elements of SVG. */
export function drawnBy(
	width: number,
	height: number,
	draw: (context: CanvasRenderingContext2D) => void,
): Drawn {
	const context = new VectorContext();
	draw(context as unknown as CanvasRenderingContext2D);
	return { width, height, inside: context.text() };
}

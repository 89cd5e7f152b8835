/*
 * strips.ts - folded ranks: how busy their devices are, one strip a rank. The strips of an
 * answer are painted once, into a picture; a frame only places it.
 */
import { AREA_ROWS, paintedRows, type Row } from "../model";
import type { StripBlock, StripSheet } from "../sheets";
import type { Theme } from "../theme";
import { type Pen, xOf } from "./pen";

interface Picture {
	theme: Theme;
	rows: number;
	canvas: HTMLCanvasElement;
}

const COMPUTE = 0;
const COMMUNICATION = 1;

function packed(color: [number, number, number]): number {
	return (255 << 24) | (color[2] << 16) | (color[1] << 8) | color[0];
}

function paintArea(
	into: Uint32Array,
	at: number,
	pixels: number,
	values: Uint8Array,
	theme: Theme,
) {
	const compute = packed(theme.rgb[COMPUTE] ?? [0, 0, 0]);
	const waiting = packed(theme.rgb[COMMUNICATION] ?? [0, 0, 0]);
	const empty = packed(theme.trackRgb);
	for (let x = 0; x < pixels; x++) {
		const busy = values[x] ?? 0;
		const both = Math.min(255, busy + (values[pixels + x] ?? 0));
		/* what ran at all can be seen */
		const low = busy ? Math.max(1, Math.round((busy * AREA_ROWS) / 255)) : 0;
		const high =
			both > busy ? Math.max(low + 1, Math.round((both * AREA_ROWS) / 255)) : low;
		for (let y = 0; y < AREA_ROWS; y++) {
			const up = AREA_ROWS - y;
			into[at + y * pixels + x] =
				up <= low ? compute : up <= high ? waiting : empty;
		}
	}
}

function paintColor(
	into: Uint32Array,
	at: number,
	pixels: number,
	values: Uint8Array,
	theme: Theme,
) {
	const back = theme.trackRgb;
	const compute = theme.rgb[COMPUTE] ?? back;
	const waiting = theme.rgb[COMMUNICATION] ?? back;
	for (let x = 0; x < pixels; x++) {
		const busy = (values[x] ?? 0) / 255;
		const other = Math.min(1 - busy, (values[pixels + x] ?? 0) / 255);
		const idle = 1 - busy - other;
		into[at + x] =
			(255 << 24) |
			((back[2] * idle + compute[2] * busy + waiting[2] * other) << 16) |
			((back[1] * idle + compute[1] * busy + waiting[1] * other) << 8) |
			(back[0] * idle + compute[0] * busy + waiting[0] * other);
	}
}

function paint(block: StripBlock, theme: Theme, rows: number): HTMLCanvasElement | null {
	const canvas = document.createElement("canvas");
	canvas.width = block.pixels;
	canvas.height = block.values.length * rows;
	const context = canvas.getContext("2d");
	if (!context) return null;
	const image = context.createImageData(canvas.width, canvas.height);
	const into = new Uint32Array(image.data.buffer);
	block.values.forEach((values, i) => {
		const at = i * rows * block.pixels;
		if (rows > 1) paintArea(into, at, block.pixels, values, theme);
		else paintColor(into, at, block.pixels, values, theme);
	});
	context.putImageData(image, 0, 0);
	return canvas;
}

export class StripPictures {
	private pictures = new WeakMap<StripBlock, Picture>();

	private of(block: StripBlock, theme: Theme, rows: number): HTMLCanvasElement | null {
		const known = this.pictures.get(block);
		if (known && known.theme === theme && known.rows === rows) return known.canvas;
		const canvas = paint(block, theme, rows);
		if (canvas) this.pictures.set(block, { theme, rows, canvas });
		return canvas;
	}

	draw(
		pen: Pen,
		row: Row,
		kept: { now: StripSheet | null; base: StripSheet | null } | undefined,
		shift: number,
	): void {
		const apart = row.height > 4 ? 2 : 0;
		const top = row.y + shift + apart / 2;
		const height = row.height - apart;
		pen.context.imageSmoothingEnabled = false;
		for (const held of [kept?.base, kept?.now]) {
			if (!held || (held === kept?.base && held === kept?.now)) continue;
			this.place(pen, held, top, height);
		}
		if (kept?.now && kept.now === kept.base) this.place(pen, kept.now, top, height);
	}

	private place(pen: Pen, held: StripSheet, top: number, height: number): void {
		const rows = paintedRows(height);
		const picture = this.of(held.block, pen.theme, rows);
		if (!picture) return;
		/* only the part that is seen: scaling the rest would cost as much */
		const perPixel = (held.to - held.from) / held.block.pixels;
		const from = Math.max(0, Math.floor((pen.span.from - held.from) / perPixel));
		const last = Math.ceil((pen.span.to - held.from) / perPixel);
		const to = Math.min(held.block.pixels, last);
		if (from >= to) return;
		const x = xOf(pen, held.from + from * perPixel);
		const width = (to - from) * perPixel * pen.perNs;
		pen.context.drawImage(
			picture,
			from,
			held.index * rows,
			to - from,
			rows,
			x,
			top,
			width,
			height,
		);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strips.ts - folded ranks: how busy their GPUs are, one strip per rank. The strips of an answer
 * are painted once into an image; a frame only places it. Thin strips that are adjacent on screen
 * and in their image are placed together, so a thousand of them take a few draw calls.
 */
import { STRIP_COLUMNS } from "../decode";
import { AREA_ROWS, paintedRows, type Row } from "../model";
import type { StripBlock, StripSheet } from "../sheets";
import type { Theme } from "../theme";
import { type Pen, snap, xOf } from "./pen";

interface Picture {
	theme: Theme;
	rows: number;
	parts: (HTMLCanvasElement | null)[]; /* side by side; those that were seen are painted */
}

/* Columns of the strips that are painted at once. */
interface Columns {
	from: number;
	to: number;
}

/* Pixels that are painted at once, so that no frame waits for more: a ms or two. */
const PART_PIXELS = 1 << 18;

function partWidth(block: StripBlock, rows: number): number {
	return Math.max(64, Math.ceil(PART_PIXELS / (block.values.length * rows)));
}

const COMPUTE = 0;
const COMMUNICATION = 1;

function packed(color: [number, number, number]): number {
	return (255 << 24) | (color[2] << 16) | (color[1] << 8) | color[0];
}

function between(
	a: [number, number, number] | undefined,
	b: [number, number, number],
): [number, number, number] {
	const [red = 0, green = 0, blue = 0] = a ?? b;
	return [(red + b[0]) >> 1, (green + b[1]) >> 1, (blue + b[2]) >> 1];
}

function paintArea(
	into: Uint32Array,
	at: number,
	{ from, to }: Columns,
	values: Uint8Array,
	theme: Theme,
) {
	const pixels = values.length / STRIP_COLUMNS;
	const compute = packed(theme.rgb[COMPUTE] ?? [0, 0, 0]);
	const moving = packed(theme.rgb[COMMUNICATION] ?? [0, 0, 0]);
	const empty = packed(theme.trackRgb);
	/* hatched, as a collective is where it waits */
	const waiting = [moving, packed(between(theme.rgb[COMMUNICATION], theme.trackRgb))];
	for (let x = from; x < to; x++) {
		const busy = values[x] ?? 0;
		const both = Math.min(255, busy + (values[pixels + x] ?? 0));
		const sent = Math.max(busy, both - (values[2 * pixels + x] ?? 0));
		/* what ran at all can be seen */
		const low = busy ? Math.max(1, Math.round((busy * AREA_ROWS) / 255)) : 0;
		const high =
			both > busy ? Math.max(low + 1, Math.round((both * AREA_ROWS) / 255)) : low;
		const middle = sent > busy ? Math.max(low + 1, Math.round((sent * AREA_ROWS) / 255)) : low;
		for (let y = 0; y < AREA_ROWS; y++) {
			const up = AREA_ROWS - y;
			const hatch = waiting[((x + y) >> 1) & 1] ?? moving;
			into[at + y * (to - from) + x - from] =
				up <= low ? compute : up <= middle ? moving : up <= high ? hatch : empty;
		}
	}
}

function paintColor(
	into: Uint32Array,
	at: number,
	{ from, to }: Columns,
	values: Uint8Array,
	theme: Theme,
) {
	const pixels = values.length / STRIP_COLUMNS;
	const back = theme.trackRgb;
	const compute = theme.rgb[COMPUTE] ?? back;
	const moving = theme.rgb[COMMUNICATION] ?? back;
	for (let x = from; x < to; x++) {
		const busy = (values[x] ?? 0) / 255;
		const other = Math.min(1 - busy, (values[pixels + x] ?? 0) / 255);
		/* of waiting half: what is too thin for a hatch is as dark as one */
		const sent = other - Math.min(other, (values[2 * pixels + x] ?? 0) / 255) / 2;
		const idle = 1 - busy - sent;
		into[at + x - from] =
			(255 << 24) |
			((back[2] * idle + compute[2] * busy + moving[2] * sent) << 16) |
			((back[1] * idle + compute[1] * busy + moving[1] * sent) << 8) |
			(back[0] * idle + compute[0] * busy + moving[0] * sent);
	}
}

function paint(
	block: StripBlock,
	theme: Theme,
	rows: number,
	columns: Columns,
): HTMLCanvasElement | null {
	const canvas = document.createElement("canvas");
	canvas.width = columns.to - columns.from;
	canvas.height = block.values.length * rows;
	const context = canvas.getContext("2d");
	if (!context) return null;
	const image = context.createImageData(canvas.width, canvas.height);
	const into = new Uint32Array(image.data.buffer);
	block.values.forEach((values, i) => {
		const at = i * rows * canvas.width;
		if (rows > 1) paintArea(into, at, columns, values, theme);
		else paintColor(into, at, columns, values, theme);
	});
	context.putImageData(image, 0, 0);
	return canvas;
}

interface Strips {
	now: StripSheet | null;
	base: StripSheet | null;
}

/* High strips have a line between them. */
function apartOf(row: Row): number {
	return row.height > 4 ? 2 : 0;
}

/* Whether the strip `count` rows behind is the next one, on the screen and in the picture. */
function joins(rows: Row[], held: (StripSheet | null)[], at: number, count: number): boolean {
	const [row, next] = [rows[at], rows[at + count]];
	const [first, other] = [held[at], held[at + count]];
	if (!row || !next || !first || !other || apartOf(row)) return false;
	return (
		next.height === row.height &&
		next.y === row.y + count * row.height &&
		other.block === first.block &&
		other.index === first.index + count
	);
}

export class StripPictures {
	private pictures = new WeakMap<StripBlock, Picture>();

	private of(block: StripBlock, theme: Theme, rows: number, part: number) {
		let known = this.pictures.get(block);
		if (!known || known.theme !== theme || known.rows !== rows) {
			known = { theme, rows, parts: [] };
			this.pictures.set(block, known);
		}
		const width = partWidth(block, rows);
		const columns = {
			from: part * width,
			to: Math.min(block.pixels, (part + 1) * width),
		};
		known.parts[part] ??= paint(block, theme, rows, columns);
		return known.parts[part];
	}

	/* Draws the strips of these rows, in their order. */
	draw(pen: Pen, rows: Row[], of: (key: string) => Strips | undefined, shift: number): void {
		pen.context.imageSmoothingEnabled = false;
		/* the coarse below the fine */
		const below = rows.map((row) => {
			const kept = of(row.key);
			return kept && kept.base !== kept.now ? kept.base : null;
		});
		const above = rows.map((row) => of(row.key)?.now ?? null);
		this.layer(pen, rows, below, shift);
		this.layer(pen, rows, above, shift);
	}

	private layer(pen: Pen, rows: Row[], held: (StripSheet | null)[], shift: number): void {
		for (let i = 0; i < rows.length; ) {
			const [row, first] = [rows[i], held[i]];
			let count = 1;
			while (row && first && joins(rows, held, i, count)) count++;
			if (row && first) this.place(pen, first, row, count, shift);
			i += count;
		}
	}

	private place(pen: Pen, held: StripSheet, row: Row, count: number, shift: number): void {
		const apart = apartOf(row);
		const top = row.y + shift + apart / 2;
		const height = row.height - apart;
		const rows = paintedRows(height);
		/* only the part that is seen: scaling the rest would cost as much */
		const { block } = held;
		const perPixel = (held.to - held.from) / block.pixels;
		const from = Math.max(0, Math.floor((pen.span.from - held.from) / perPixel));
		const last = Math.ceil((pen.span.to - held.from) / perPixel);
		const to = Math.min(block.pixels, last);
		const width = partWidth(block, rows);
		for (let part = Math.floor(from / width); part * width < to; part++) {
			const picture = this.of(block, pen.theme, rows, part);
			const begin = Math.max(from, part * width);
			const end = Math.min(to, (part + 1) * width);
			if (!picture || begin >= end) continue;
			/* parts meet at a pixel of the screen, or a line would be seen there */
			const x = snap(pen, xOf(pen, held.from + begin * perPixel));
			pen.context.drawImage(
				picture,
				begin - part * width,
				held.index * rows,
				end - begin,
				rows * count,
				x,
				top,
				snap(pen, xOf(pen, held.from + end * perPixel)) - x,
				height * count,
			);
		}
	}
}

/*
 * sheets.ts - what was last answered for each row, and what to ask next. A sheet is wider
 * than the screen, so that panning has something to show; the last one stays until the next
 * arrives, and one of the whole run lies below it.
 */
import { type Curve, decodeCurve, decodeStrips, decodeTiles, type Lane, type Sheet } from "./decode";
import type { Want } from "./feed";
import type { Row } from "./model";
import type { Span } from "./span";

/* Screens on each side of what is seen; and where the next sheet is asked for ahead. */
const AROUND = 1;
const AHEAD = 0.25;

/* The core refuses more; a 4K screen then has narrower margins. */
const PIXELS_MOST = 16384;

/* All strips of an answer: painting a million pixels takes a few ms. */
const STRIP_PIXELS = 1 << 20;

/* Rows that are kept while they are not seen. */
const KEPT = 600;

export interface Held {
	from: number;
	to: number;
	level: number;
}

export interface TrackSheet extends Held {
	sheet: Sheet;
	lanes: Lane[];
}

export interface CurveSheet extends Held {
	curve: Curve;
}

/* Strips that came together; they are painted together, too (draw/strips.ts). */
export interface StripBlock {
	pixels: number;
	values: Uint8Array[];
}

export interface StripSheet extends Held {
	block: StripBlock;
	index: number;
}

interface Kept<T extends Held> {
	now: T | null;
	base: T | null; /* of the whole run */
}

/* How much detail a window needs: ns of a pixel, as the nearest power of two. */
export function levelOf(span: Span, width: number): number {
	return 2 ** Math.round(Math.log2((span.to - span.from) / Math.max(1, width)));
}

export class Sheets<T extends Held> {
	private kept = new Map<string, Kept<T>>();

	/* What to draw, the coarse below the fine. */
	of(key: string): Kept<T> | undefined {
		return this.kept.get(key);
	}

	put(key: string, held: T, whole: Span): void {
		const last = this.kept.get(key);
		const covers = held.from <= whole.from && held.to >= whole.to;
		this.kept.delete(key);
		this.kept.set(key, { now: held, base: covers ? held : (last?.base ?? null) });
		const oldest = this.kept.keys().next();
		if (this.kept.size > KEPT && !oldest.done) this.kept.delete(oldest.value);
	}

	/* 0: all is here; 1: soon at the edge; 2: something of the window is not as fine. */
	lack(key: string, span: Span, level: number, whole: Span): number {
		const held = this.kept.get(key)?.now;
		if (!held || held.level !== level) return 2;
		const from = Math.max(span.from, whole.from);
		const to = Math.min(span.to, whole.to);
		if (held.from > from || held.to < to) return 2;
		const ahead = (span.to - span.from) * AHEAD;
		if (held.from > Math.max(from - ahead, whole.from)) return 1;
		if (held.to < Math.min(to + ahead, whole.to)) return 1;
		return 0;
	}

	clear(): void {
		this.kept.clear();
	}
}

/* The window to ask for. */
function around(span: Span, level: number, whole: Span, pixels = PIXELS_MOST): Span {
	const length = span.to - span.from;
	const most = Math.min(pixels, PIXELS_MOST) * level;
	const margin = Math.max(0, Math.min(length * AROUND, (most - length) / 2));
	return {
		from: Math.floor(Math.max(span.from - margin, whole.from)),
		to: Math.ceil(Math.min(span.to + margin, whole.to)),
	};
}

export class Supply {
	tiles = new Sheets<TrackSheet>();
	curves = new Sheets<CurveSheet>();
	strips = new Sheets<StripSheet>();
	/* The most of curves whose most is not known before: grows with what was seen. */
	private most = new Map<string, number>();

	/* The top of a curve's row. */
	mostOf(row: Row): number {
		if (row.curve?.curve === "utilization") return 100;
		return row.curve?.high ?? this.most.get(row.key) ?? 1;
	}

	/* Requests for these rows, what is missing before what is only near the edge. */
	wants(rows: Row[], span: Span, width: number, whole: Span): Want[] {
		const level = levelOf(span, width);
		const urgent: Want[] = [];
		const later: Want[] = [];
		const tracks = new Map<number, Row[]>();
		const strips: Row[] = [];
		const tilesLack = new Map<number, number>();
		let stripsLack = 0;
		for (const row of rows) {
			if (row.kind === "track" && row.track) {
				const lack = this.tiles.lack(row.key, span, level, whole);
				if (!lack) continue;
				tracks.set(row.file, [...(tracks.get(row.file) ?? []), row]);
				tilesLack.set(row.file, Math.max(lack, tilesLack.get(row.file) ?? 0));
			} else if (row.kind === "curve") {
				const lack = this.curves.lack(row.key, span, level, whole);
				if (lack) (lack > 1 ? urgent : later).push(this.curveWant(row, span, level, whole));
			} else if (row.kind === "group" && !row.open) {
				const lack = this.strips.lack(row.key, span, level, whole);
				if (!lack) continue;
				strips.push(row);
				stripsLack = Math.max(lack, stripsLack);
			}
		}
		const first: Want[] = [];
		for (const [file, missing] of tracks) {
			const want = this.tilesWant(file, missing, span, level, whole);
			((tilesLack.get(file) ?? 0) > 1 ? first : later).push(want);
		}
		if (strips.length)
			(stripsLack > 1 ? first : later).push(this.stripsWant(strips, span, level, whole));
		return [...first, ...urgent, ...later];
	}

	/* Below everything: the whole run, for when one zooms out in a hurry. */
	baseWants(rows: Row[], width: number, whole: Span): Want[] {
		const level = levelOf(whole, width);
		const tracks = new Map<number, Row[]>();
		for (const row of rows)
			if (row.kind === "track" && this.tiles.of(row.key)?.base === null)
				tracks.set(row.file, [...(tracks.get(row.file) ?? []), row]);
		return [...tracks].map(([file, missing]) => {
			const want = this.tilesWant(file, missing, whole, level, whole);
			const put = (bytes: ArrayBuffer) => {
				for (const row of missing) {
					const now = this.tiles.of(row.key)?.now ?? null;
					this.acceptTiles(bytes, [row], level, whole);
					if (now) this.tiles.put(row.key, now, whole);
				}
			};
			return { ...want, key: `base ${want.key}`, accept: put };
		});
	}

	private acceptTiles(bytes: ArrayBuffer, rows: Row[], level: number, whole: Span): void {
		const sheet = decodeTiles(bytes);
		for (const row of rows) {
			const lanes = sheet.tracks.get(row.track?.track ?? -1) ?? [];
			this.tiles.put(row.key, { from: sheet.from, to: sheet.to, level, sheet, lanes }, whole);
		}
	}

	private tilesWant(file: number, rows: Row[], span: Span, level: number, whole: Span): Want {
		const window = around(span, level, whole);
		const numbers = rows.map((row) => row.track?.track ?? 0).join(",");
		return {
			/* the same for small moves, so that a request under way is not sent again */
			key: `tiles ${file} ${level} ${Math.round(span.from / (span.to - span.from))} ${numbers}`,
			route: "tiles",
			parameters: { file, tracks: numbers, ...windowOf(window, level) },
			accept: (bytes) => this.acceptTiles(bytes, rows, level, whole),
		};
	}

	private curveWant(row: Row, span: Span, level: number, whole: Span): Want {
		const window = around(span, level, whole);
		const curve = row.curve;
		const part = Math.round(span.from / (span.to - span.from));
		return {
			key: `curve ${row.key} ${level} ${part}`,
			route: "curve",
			parameters: {
				file: row.file,
				curve: curve?.curve,
				device: curve?.device,
				name: curve?.curve === "counter" ? curve.name : null,
				...windowOf(window, level),
			},
			accept: (bytes) => {
				const decoded = decodeCurve(bytes);
				const held = { from: decoded.from, to: decoded.to, level, curve: decoded };
				this.curves.put(row.key, held, whole);
				this.see(row.key, decoded.high);
			},
		};
	}

	private see(key: string, values: Float32Array): void {
		let most = this.most.get(key) ?? 0;
		for (const value of values) if (value > most) most = value;
		if (most > 0) this.most.set(key, most);
	}

	private stripsWant(rows: Row[], span: Span, level: number, whole: Span): Want {
		const window = around(span, level, whole, STRIP_PIXELS / rows.length);
		const files = rows.map((row) => row.file).join(",");
		const part = Math.round(span.from / (span.to - span.from));
		return {
			key: `strips ${files} ${level} ${part}`,
			route: "strips",
			parameters: { files, ...windowOf(window, level) },
			accept: (bytes) => {
				const block = decodeStrips(bytes);
				rows.forEach((row, index) => {
					this.strips.put(row.key, { ...window, level, block, index }, whole);
				});
			},
		};
	}
}

function windowOf(window: Span, level: number): { from: number; to: number; pixels: number } {
	const pixels = Math.ceil((window.to - window.from) / level);
	return { ...window, pixels: Math.max(1, Math.min(PIXELS_MOST, pixels)) };
}

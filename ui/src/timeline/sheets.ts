/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheets.ts - the last answer for each row, and what to request next. A sheet is wider than the
 * screen, so that panning has something to show; it stays until the next arrives, and a sheet of
 * the whole run lies below it.
 */
import {
	type Curve,
	decodeCurve,
	decodeStrips,
	decodeTiles,
	type Lane,
	type Plain,
	plainOf,
	type Sheet,
} from "./decode";
import type { Feed, Want } from "./feed";
import { paintedRows, type Row } from "./model";
import type { Span } from "./span";

/* Screens on each side of what is seen; and where the next sheet is asked for ahead. */
const AROUND = 1;
const AHEAD = 0.25;

/* The core refuses more; a 4K screen then has narrower margins. */
const PIXELS_MOST = 16384;

/* All strips of an answer, as they are painted. Those of a thousand ranks have margins, too, or
 * every move would ask for more. */
const STRIP_PIXELS = 1 << 22;

const PYTHON = 5;

/* Rows that are kept while they are not seen. Strips may be as low as a pixel: all that a screen
 * has must fit, or those that are seen would be requested repeatedly. */
const KEPT = 600;
const KEPT_STRIPS = 8192;

export interface Held {
	from: number;
	to: number;
	level: number;
}

export interface TrackSheet extends Held {
	sheet: Sheet;
	lanes: Lane[];
	plain: Plain | null; /* without Python frames, where there are some */
}

/* Whether a track of the host has Python frames, and whether it has nothing else. */
export interface Depth {
	hasFrames: boolean;
	onlyFrames: boolean;
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

/* What a row lacks for a window, from little to much. */
enum Lack {
	nothing,
	soon /* its edge is near */,
	coarse /* it has another level of detail */,
	uncovered,
}

class Sheets<T extends Held> {
	private kept = new Map<string, Kept<T>>();

	constructor(private most = KEPT) {}

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
		if (this.kept.size > this.most && !oldest.done) this.kept.delete(oldest.value);
	}

	/* What is there is drawn until the next comes, but will not do any more. */
	outdate(): void {
		for (const [key, { now }] of this.kept)
			this.kept.set(key, { now: now && { ...now, level: NaN }, base: null });
	}

	lack(key: string, span: Span, level: number, whole: Span): Lack {
		const held = this.kept.get(key)?.now;
		const from = Math.max(span.from, whole.from);
		const to = Math.min(span.to, whole.to);
		if (!held || held.from > from || held.to < to) return Lack.uncovered;
		if (held.level !== level) return Lack.coarse;
		const ahead = (span.to - span.from) * AHEAD;
		if (held.from > Math.max(from - ahead, whole.from)) return Lack.soon;
		if (held.to < Math.min(to + ahead, whole.to)) return Lack.soon;
		return Lack.nothing;
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

interface Wanted {
	span: Span;
	width: number;
	whole: Span;
	isMoving: boolean;
}

export class Supply {
	tiles = new Sheets<TrackSheet>();
	curves = new Sheets<CurveSheet>();
	strips = new Sheets<StripSheet>(KEPT_STRIPS);
	/* The most of curves whose most is not known before: grows with what was seen. */
	private most = new Map<string, number>();
	scales = 0; /* how often one of them grew */

	/* What gives slices their colour; null is the default. */
	private color: string | null = null;

	setColor(color: string | null): void {
		if (color === this.color) return;
		this.color = color;
		this.tiles.outdate();
	}

	/* Of tracks of the host that were seen. */
	readonly depths = new Map<string, Depth>();

	private deepen(row: Row, sheet: Sheet, lanes: Lane[], plain: Plain | null): void {
		const first = lanes[0];
		if (!first || row.track?.device !== null) return;
		const last = this.depths.get(row.key);
		/* a thread that only waits in Python */
		const frames = !plain && sheet.color[first.begin] === PYTHON;
		const hasFrames = (last?.hasFrames ?? false) || plain !== null || frames;
		const onlyFrames = (last?.onlyFrames ?? true) && frames;
		if (last?.hasFrames === hasFrames && last.onlyFrames === onlyFrames) return;
		this.depths.set(row.key, { hasFrames, onlyFrames });
		this.deepened = true;
	}

	/* Set when one of them changed; whoever lays rows out takes it back. */
	deepened = false;

	/* The top of a curve's row. */
	mostOf(row: Row): number {
		if (row.curve?.curve === "utilization") return 100;
		return row.curve?.high ?? this.most.get(row.key) ?? 1;
	}

	/*
	 * Requests for these rows, what is missing before what is only near the edge. While the
	 * window moves, curves and strips that are there will do: they stretch well.
	 */
	wants(rows: Row[], view: Wanted, feed: Feed): Want[] {
		const { span, whole, isMoving } = view;
		const level = levelOf(span, view.width);
		const from = Math.max(span.from, whole.from);
		const to = Math.min(span.to, whole.to);
		const least = isMoving ? Lack.coarse : Lack.nothing;
		const tiles = new Map<number, { rows: Row[]; lack: Lack }>();
		const strips: { rows: Row[]; lack: Lack } = { rows: [], lack: Lack.nothing };
		const curves: { want: Want; lack: Lack }[] = [];
		for (const row of rows) {
			const sheets = this.sheetsOf(row);
			const lack = sheets?.lack(row.key, span, level, whole) ?? Lack.nothing;
			const enough =
				sheets === this.tiles && lack === Lack.coarse
					? Lack.nothing
					: least;
			if (lack <= enough || feed.expects(row.key, level, from, to)) continue;
			if (sheets === this.curves)
				curves.push({
					want: this.curveWant(row, span, level, whole),
					lack,
				});
			const own =
				sheets === this.tiles
					? (tiles.get(row.file) ?? { rows: [], lack: Lack.nothing })
					: strips;
			if (sheets === this.tiles) tiles.set(row.file, own);
			if (sheets !== this.curves) {
				own.rows.push(row);
				own.lack = Math.max(own.lack, lack);
			}
		}
		const found = [...tiles].map(([file, own]) => ({
			want: this.tilesWant(file, own.rows, span, level, whole),
			lack: own.lack,
		}));
		if (strips.rows.length) {
			const want = this.stripsWant(strips.rows, span, level, whole);
			found.push({ want, lack: strips.lack });
		}
		found.push(...curves);
		const isUrgent = (one: { lack: Lack }) => one.lack > Lack.soon;
		const urgent = found.filter(isUrgent);
		return [...urgent, ...found.filter((one) => !isUrgent(one))].map((one) => one.want);
	}

	private sheetsOf(row: Row): { lack: Sheets<Held>["lack"] } | null {
		if (row.kind === "track") return this.tiles;
		if (row.kind === "curve") return this.curves;
		return row.kind === "group" && !row.open ? this.strips : null;
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
			const { color } = this;
			const put = (bytes: ArrayBuffer) => {
				if (color !== this.color) return;
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
			const plain = row.track?.device === null ? plainOf(sheet, lanes) : null;
			const { from, to } = sheet;
			this.tiles.put(row.key, { from, to, level, sheet, lanes, plain }, whole);
			this.deepen(row, sheet, lanes, plain);
		}
	}

	private tilesWant(file: number, rows: Row[], span: Span, level: number, whole: Span): Want {
		const window = around(span, level, whole);
		const numbers = rows.map((row) => row.track?.track ?? 0).join(",");
		const { color } = this;
		return {
			key: `tiles ${color ?? ""} ${file} ${level} ${partOf(span)} ${numbers}`,
			route: "tiles",
			rows: new Set(rows.map((row) => row.key)),
			level,
			...window,
			parameters: { file, tracks: numbers, color, ...windowOf(window, level) },
			accept: (bytes) => {
				if (color === this.color) this.acceptTiles(bytes, rows, level, whole);
			},
		};
	}

	private curveWant(row: Row, span: Span, level: number, whole: Span): Want {
		const window = around(span, level, whole);
		const curve = row.curve;
		const part = partOf(span);
		return {
			key: `curve ${row.key} ${level} ${part}`,
			route: "curve",
			rows: new Set([row.key]),
			level,
			...window,
			parameters: {
				file: row.file,
				curve: curve?.curve,
				device: curve?.device,
				name: curve?.curve === "counter" ? curve.name : null,
				...windowOf(window, level),
			},
			accept: (bytes) => {
				const decoded = decodeCurve(bytes);
				const held = {
					from: decoded.from,
					to: decoded.to,
					level,
					curve: decoded,
				};
				this.curves.put(row.key, held, whole);
				this.see(row.key, decoded.high);
			},
		};
	}

	private see(key: string, values: Float32Array): void {
		let most = this.most.get(key) ?? 0;
		for (const value of values) if (value > most) most = value;
		if (most === (this.most.get(key) ?? 0)) return;
		this.most.set(key, most);
		this.scales++;
	}

	private stripsWant(rows: Row[], span: Span, level: number, whole: Span): Want {
		const window = around(
			span,
			level,
			whole,
			STRIP_PIXELS / (rows.length * paintedRows(rows[0]?.height ?? 0)),
		);
		const files = rows.map((row) => row.file).join(",");
		const part = partOf(span);
		return {
			key: `strips ${files} ${level} ${part}`,
			route: "strips",
			rows: new Set(rows.map((row) => row.key)),
			level,
			...window,
			parameters: { files, ...windowOf(window, level) },
			accept: (bytes) => {
				const block = decodeStrips(bytes);
				rows.forEach((row, index) => {
					this.strips.put(
						row.key,
						{ ...window, level, block, index },
						whole,
					);
				});
			},
		};
	}
}

/* The same for small moves, so that a request that is under way is not sent again. */
function partOf(span: Span): number {
	return Math.round(span.from / (span.to - span.from));
}

function windowOf(window: Span, level: number): { from: number; to: number; pixels: number } {
	const pixels = Math.ceil((window.to - window.from) / level);
	return { ...window, pixels: Math.max(1, Math.min(PIXELS_MOST, pixels)) };
}

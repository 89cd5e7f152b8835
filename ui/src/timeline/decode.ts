/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.ts - reads the core's binary answers in place, without copying. docs/formats/viewer.md
 * describes the layout.
 */
const TILES = 0x31545353;
const PAINTED_TILES = 0x32545353;
const STRIPS = 0x53535353;
const CURVE = 0x31435353;

export const NO_LABEL = 0xffffffff;
export const NO_CAUSE = 255;

/* Where the entries of a lane lie. */
export interface Lane {
	lane: number;
	begin: number;
	end: number;
}

/* A track without its Python frames: entries by the lanes that are then left. */
export interface Plain {
	lanes: Lane[]; /* places in `order` */
	order: Uint32Array;
	/* the lane of each entry of the track, from its first one */
	base: number;
	depths: Uint16Array;
}

export interface Sheet {
	from: number;
	to: number;
	start: Float64Array;
	dur: Float64Array;
	row: Uint32Array;
	count: Uint32Array;
	label: Uint32Array;
	color: Uint8Array;
	fill: Uint8Array;
	wait: Uint8Array;
	cause: Uint8Array;
	paint: Uint8Array | null; /* colours by something else than the category */
	labels: string[];
	/* of each track that was asked for */
	tracks: Map<number, Lane[]>;
}

export interface Strips {
	pixels: number;
	/* of each file: compute, communication, and the part of that in which it waited */
	values: Uint8Array[];
}

export interface Curve {
	from: number;
	to: number;
	low: Float32Array;
	high: Float32Array;
}

/* Walks over the columns, each aligned to its item. */
class Columns {
	constructor(
		private bytes: ArrayBuffer,
		private at: number,
	) {}

	private place(count: number, size: number): number {
		const from = Math.ceil(this.at / size) * size;
		this.at = from + count * size;
		if (this.at > this.bytes.byteLength)
			throw new Error("an answer of the core is truncated");
		return from;
	}

	f64(count: number): Float64Array {
		return new Float64Array(this.bytes, this.place(count, 8), count);
	}

	f32(count: number): Float32Array {
		return new Float32Array(this.bytes, this.place(count, 4), count);
	}

	u32(count: number): Uint32Array {
		return new Uint32Array(this.bytes, this.place(count, 4), count);
	}

	u16(count: number): Uint16Array {
		return new Uint16Array(this.bytes, this.place(count, 2), count);
	}

	u8(count: number): Uint8Array {
		return new Uint8Array(this.bytes, this.place(count, 1), count);
	}
}

function header(bytes: ArrayBuffer, magics: number[], words: number): number[] {
	if (bytes.byteLength < words * 4) throw new Error("an answer of the core is truncated");
	const view = new DataView(bytes);
	const read = Array.from({ length: words }, (_, i) => view.getUint32(i * 4, true));
	if (!magics.includes(read[0] ?? 0))
		throw new Error("an answer of the core has an unknown format");
	return read;
}

function readLabels(columns: Columns, count: number): string[] {
	const offsets = columns.u32(count + 1);
	const bytes = columns.u8(offsets[count] ?? 0);
	const decoder = new TextDecoder();
	const labels: string[] = new Array<string>(count);
	for (let i = 0; i < count; i++)
		labels[i] = decoder.decode(bytes.subarray(offsets[i], offsets[i + 1]));
	return labels;
}

function lanesOf(lane: Uint16Array, begin: number, end: number): Lane[] {
	const lanes: Lane[] = [];
	for (let i = begin; i < end;) {
		const number = lane[i] ?? 0;
		let to = i + 1;
		while (to < end && lane[to] === number) to++;
		lanes.push({ lane: number, begin: i, end: to });
		i = to;
	}
	return lanes;
}

const PYTHON = 5;

/*
 * How many entries around it are no Python frames; of each entry of the track. Around it is
 * what covers its middle: ranges of the program and frames do not always nest.
 */
function depthsOf(sheet: Sheet, lanes: Lane[], base: number, count: number): Uint16Array {
	const { start, dur, color } = sheet;
	const depths = new Uint16Array(count);
	const parents = new Int32Array(count).fill(-1);
	let above: Lane | null = null;
	for (const lane of lanes) {
		let next = above?.begin ?? 0;
		const end = above?.end ?? 0;
		for (let i = lane.begin; i < lane.end; i++) {
			const begin = start[i] ?? 0;
			const middle = begin + (dur[i] ?? 0) / 2;
			while (next + 1 < end && (start[next + 1] ?? 0) <= begin) next++;
			let around = end ? next : -1;
			while (around >= 0 && (start[around] ?? 0) + (dur[around] ?? 0) < middle)
				around = parents[around - base] ?? -1;
			if (around < 0) continue;
			parents[i - base] = around;
			const counts = color[around] === PYTHON ? 0 : 1;
			depths[i - base] = (depths[around - base] ?? 0) + counts;
		}
		above = lane;
	}
	return depths;
}

/* null: there are no Python frames, or nothing else. */
export function plainOf(sheet: Sheet, lanes: Lane[]): Plain | null {
	let frames = 0;
	let others = 0;
	for (const lane of lanes)
		for (let i = lane.begin; i < lane.end; i++)
			if (sheet.color[i] === PYTHON) frames++;
			else others++;
	if (!frames || !others) return null;
	const base = lanes[0]?.begin ?? 0;
	const depths = depthsOf(sheet, lanes, base, frames + others);
	const own: number[][] = [];
	for (let i = base; i < base + depths.length; i++) {
		if (sheet.color[i] === PYTHON) continue;
		const depth = depths[i - base] ?? 0;
		own[depth] ??= [];
		own[depth].push(i);
	}
	const order = new Uint32Array(others);
	const found: Lane[] = [];
	let at = 0;
	own.forEach((entries, lane) => {
		entries.sort((a, b) => (sheet.start[a] ?? 0) - (sheet.start[b] ?? 0));
		order.set(entries, at);
		found.push({ lane, begin: at, end: at + entries.length });
		at += entries.length;
	});
	return { lanes: found, order, base, depths };
}

export function decodeTiles(bytes: ArrayBuffer): Sheet {
	const [magic, tracks = 0, entries = 0, labels = 0] = header(
		bytes,
		[TILES, PAINTED_TILES],
		4,
	);
	const columns = new Columns(bytes, 16);
	const [from = 0, to = 0] = columns.f64(2);
	const parts = columns.u32(tracks * 2);
	const start = columns.f64(entries);
	const dur = columns.f64(entries);
	const row = columns.u32(entries);
	const count = columns.u32(entries);
	const label = columns.u32(entries);
	const lane = columns.u16(entries);
	const color = columns.u8(entries);
	const fill = columns.u8(entries);
	const wait = columns.u8(entries);
	const cause = columns.u8(entries);
	const paint = magic === PAINTED_TILES ? columns.u8(entries) : null;
	const names = readLabels(columns, labels);
	const found = new Map<number, Lane[]>();
	let at = 0;
	for (let i = 0; i < tracks; i++) {
		const end = Math.min(entries, at + (parts[2 * i + 1] ?? 0));
		found.set(parts[2 * i] ?? 0, lanesOf(lane, at, end));
		at = end;
	}
	return {
		from,
		to,
		start,
		dur,
		row,
		count,
		label,
		color,
		fill,
		wait,
		cause,
		paint,
		labels: names,
		tracks: found,
	};
}

/* Columns of a strip: see Strips. */
export const STRIP_COLUMNS = 3;

export function decodeStrips(bytes: ArrayBuffer): Strips {
	const [, files = 0, pixels = 0] = header(bytes, [STRIPS], 4);
	const columns = new Columns(bytes, 16);
	return {
		pixels,
		values: Array.from({ length: files }, () => columns.u8(pixels * STRIP_COLUMNS)),
	};
}

export function decodeCurve(bytes: ArrayBuffer): Curve {
	const [, points = 0] = header(bytes, [CURVE], 2);
	const columns = new Columns(bytes, 8);
	const [from = 0, to = 0] = columns.f64(2);
	return { from, to, low: columns.f32(points), high: columns.f32(points) };
}

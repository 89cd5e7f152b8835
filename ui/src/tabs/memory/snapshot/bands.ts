/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bands.ts - one band per allocation, as laid out by the core: when one below is freed, those
 * above move down. Reads, draws and hit-tests bands.
 */
import { tokenOf } from "../../../parts/surface";
import { Columns, HEAD_BYTES } from "./columns";
import { BEFORE, type Series, seriesLook } from "./model";

export interface Bands {
	pixels: number;
	from: number;
	to: number;
	count: number;
	loose: Float64Array; /* at the bottom: no block is known of it */
	smaller: Float64Array; /* at the top: allocations without a band */
	smallerCount: Uint32Array;
	bytes: Float64Array;
	madeNs: Float64Array; /* NaN: not recorded */
	freedNs: Float64Array;
	address: BigUint64Array;
	made: Uint32Array; /* BEFORE: before the first event */
	freed: Uint32Array; /* NEVER */
	stack: Uint32Array;
	series: Uint32Array;
	end: Uint32Array;
	first: Uint32Array; /* of its points */
	offset: Float64Array; /* a point: from this pixel on the band begins there */
	pixel: Uint32Array;
}

export const NEVER = BEFORE;

const MAGIC = 0x31425353;

/* Most bands that are asked for, and most points that the core writes. */
const MOST = 4000;
const POINTS = 1 << 24;

export function mostBands(pixels: number): number {
	return Math.max(1, Math.min(MOST, Math.floor(POINTS / pixels)));
}

/* The answer of the route bands; null where it is none. */
export function readBands(bytes: ArrayBuffer): Bands | null {
	const view = new DataView(bytes);
	if (bytes.byteLength < HEAD_BYTES || view.getUint32(0, true) !== MAGIC) return null;
	const pixels = view.getUint32(4, true);
	const count = view.getUint32(8, true);
	const points = view.getUint32(12, true);
	if (bytes.byteLength !== HEAD_BYTES + 20 * pixels + 56 * count + 12 * points) return null;
	const read = new Columns(bytes);
	const [loose, smaller] = [read.doubles(pixels), read.doubles(pixels)];
	const sizes = read.doubles(count);
	const [madeNs, freedNs] = [read.doubles(count), read.doubles(count)];
	const address = read.addresses(count);
	const offset = read.doubles(points);
	const smallerCount = read.numbers(pixels);
	const [made, freed] = [read.numbers(count), read.numbers(count)];
	const [stack, series] = [read.numbers(count), read.numbers(count)];
	const [end, first] = [read.numbers(count), read.numbers(count)];
	return {
		pixels,
		from: view.getFloat64(16, true),
		to: view.getFloat64(24, true),
		count,
		loose,
		smaller,
		smallerCount,
		bytes: sizes,
		madeNs,
		freedNs,
		address,
		made,
		freed,
		stack,
		series,
		end,
		first,
		offset,
		pixel: read.numbers(points),
	};
}

/* The points of a band: from, to. */
function pointsOf(bands: Bands, band: number): [number, number] {
	const next = band + 1 < bands.count ? bands.first[band + 1] : bands.offset.length;
	return [bands.first[band] ?? 0, next ?? 0];
}

/* Where a band begins in a pixel; null: it is not there. */
export function offsetAt(bands: Bands, band: number, pixel: number): number | null {
	let [low, high] = pointsOf(bands, band);
	if (pixel < (bands.pixel[low] ?? 0) || pixel >= (bands.end[band] ?? 0)) return null;
	while (high - low > 1) {
		const middle = (low + high) >> 1;
		if ((bands.pixel[middle] ?? 0) <= pixel) low = middle;
		else high = middle;
	}
	return bands.offset[low] ?? 0;
}

export type Under = { what: "band"; band: number } | { what: "smaller" | "loose" };

/* What lies at this height, in bytes, in a pixel. */
export function underAt(bands: Bands, pixel: number, height: number): Under | null {
	if (height < 0) return null;
	if (height < (bands.loose[pixel] ?? 0)) return { what: "loose" };
	let top = bands.loose[pixel] ?? 0;
	for (let band = 0; band < bands.count; band++) {
		const offset = offsetAt(bands, band, pixel);
		if (offset === null) continue;
		top = offset + (bands.bytes[band] ?? 0);
		if (height >= offset && height < top) return { what: "band", band };
	}
	return height < top + (bands.smaller[pixel] ?? 0) ? { what: "smaller" } : null;
}

export interface Plane {
	context: CanvasRenderingContext2D;
	left: number;
	wide: number; /* of a pixel of the answer */
	top: (bytes: number) => number;
}

/* Every stretch of a band between two falls: where, how wide, the bytes below it. */
function eachStretch(
	{ left, wide }: Plane,
	bands: Bands,
	band: number,
	act: (x: number, width: number, offset: number) => void,
): void {
	const [from, to] = pointsOf(bands, band);
	for (let i = from; i < to; i++) {
		const begin = bands.pixel[i] ?? 0;
		const end = (i + 1 < to ? bands.pixel[i + 1] : bands.end[band]) ?? 0;
		act(left + begin * wide, (end - begin) * wide, bands.offset[i] ?? 0);
	}
}

/* An amount from a height that differs from pixel to pixel. */
function fillAmount(plane: Plane, from: (pixel: number) => number, bytes: Float64Array): void {
	const { context, left, wide, top } = plane;
	context.beginPath();
	bytes.forEach((amount, pixel) => {
		if (amount <= 0) return;
		const y = top(from(pixel) + amount);
		context.rect(left + pixel * wide, y, wide + 0.3, top(from(pixel)) - y);
	});
	context.fill();
}

/* What has no band. */
export const REST_LOOK = { token: "--c-range", alpha: 0.35 };

/* Bands that are thinner than this have no border: it would be all that is seen. */
const BORDERED = 3;

export function drawBands(
	plane: Plane,
	bands: Bands,
	high: Float64Array,
	series: Series[],
	isFound: (series: Series) => boolean,
): void {
	const { context } = plane;
	const looks = series.map((one, index) => {
		const { token, pale } = seriesLook(one.name, index);
		return { color: tokenOf(token), alpha: isFound(one) ? (pale ? 0.55 : 0.9) : 0.12 };
	});
	const rest = tokenOf(REST_LOOK.token);
	context.fillStyle = rest;
	context.globalAlpha = REST_LOOK.alpha;
	fillAmount(plane, () => 0, bands.loose);
	fillAmount(
		plane,
		(pixel) => (high[pixel] ?? 0) - (bands.smaller[pixel] ?? 0),
		bands.smaller,
	);
	for (let band = 0; band < bands.count; band++) {
		const look = looks[bands.series[band] ?? 0];
		const bytes = bands.bytes[band] ?? 0;
		/* neighbours of one colour can be told apart */
		context.globalAlpha = (look?.alpha ?? 0.9) * (band % 2 ? 0.8 : 1);
		context.fillStyle = look?.color ?? rest;
		eachStretch(plane, bands, band, (x, width, offset) => {
			const y = plane.top(offset + bytes);
			context.fillRect(x, y, width, plane.top(offset) - y);
		});
	}
	context.globalAlpha = 1;
	drawBorders(plane, bands);
}

/* Rectangles and no outlines: thousands of them are drawn while a hand moves. */
function drawBorders(plane: Plane, bands: Bands): void {
	const { context, top } = plane;
	context.fillStyle = tokenOf("--back");
	for (let band = 0; band < bands.count; band++) {
		const bytes = bands.bytes[band] ?? 0;
		const thick = top(0) - top(bytes);
		if (thick < BORDERED) continue;
		const x = plane.left + plane.wide * (bands.pixel[bands.first[band] ?? 0] ?? 0);
		context.fillRect(x, top((bands.offset[bands.first[band] ?? 0] ?? 0) + bytes), 1, thick);
		eachStretch(plane, bands, band, (at, width, offset) =>
			context.fillRect(at, top(offset + bytes), width, 1),
		);
	}
}

/* The band under the pointer. */
export function drawOutline(plane: Plane, bands: Bands, band: number): void {
	const { context, top } = plane;
	const bytes = bands.bytes[band] ?? 0;
	context.fillStyle = tokenOf("--text");
	eachStretch(plane, bands, band, (x, width, offset) => {
		context.fillRect(x, top(offset + bytes) - 1, width, 2);
		context.fillRect(x, top(offset) - 1, width, 2);
	});
	const [from, to] = pointsOf(bands, band);
	const ends = [
		[bands.pixel[from], bands.offset[from]],
		[bands.end[band], bands.offset[to - 1]],
	];
	for (const [pixel = 0, offset = 0] of ends)
		context.fillRect(
			plane.left + pixel * plane.wide - 1,
			top(offset + bytes) - 1,
			2,
			top(offset) - top(offset + bytes) + 2,
		);
}

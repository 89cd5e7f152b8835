/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.ts - the entries of a track: slices, merged slices, collectives with their wait, gaps
 * with their cause.
 */
import { type Lane, NO_CAUSE, NO_LABEL, type Sheet } from "../decode";
import { laneTop, type Row } from "../model";
import type { TrackSheet } from "../sheets";
import type { Span } from "../span";
import { SHADES } from "../theme";
import { type Batch, type Ground, type Pen, snap } from "./pen";

/* A label needs room for three letters and what stands around them. */
const LABEL_LEAST = 26;
const LABEL_PAD = 4;

/* Wider than this, corners are cut by a pixel and neighbours stand a pixel apart. */
const ROUND_LEAST = 10;
const APART_LEAST = 3;

/* Narrower hatches would be noise. */
const HATCH_LEAST = 4;

/* The lanes that a row shows, and where their entries are; null: as they lie. */
export function shownLanes(row: Row, held: TrackSheet): [Lane[], Uint32Array | null] {
	return row.plain && held.plain ? [held.plain.lanes, held.plain.order] : [held.lanes, null];
}

/* The first place of the lane whose entry ends after `ns`. */
export function firstAfter(
	sheet: Sheet,
	lane: Lane,
	ns: number,
	order: Uint32Array | null,
): number {
	let low = lane.begin;
	let high = lane.end;
	while (low < high) {
		const middle = (low + high) >> 1;
		const entry = order ? (order[middle] ?? 0) : middle;
		if ((sheet.start[entry] ?? 0) + (sheet.dur[entry] ?? 0) > ns) high = middle;
		else low = middle + 1;
	}
	return low;
}

interface Place {
	top: number;
	height: number;
	order: Uint32Array | null;
}

function addSlice(
	batch: Batch,
	x: number,
	width: number,
	place: Place,
	color: number,
	shade: number,
	merged: boolean,
): void {
	const into = batch.fill(color, shade);
	if (merged) into.add(x, place.top, width, place.height);
	else if (width > ROUND_LEAST) {
		into.add(x, place.top + 1, width - 1, place.height - 2);
		into.add(x + 1, place.top, width - 3, place.height);
	} else into.add(x, place.top, width > APART_LEAST ? width - 1 : width, place.height);
}

/* Gaps that were merged are as high as their part of the time: between kernels it is little. */
function addGap(
	batch: Batch,
	x: number,
	width: number,
	place: Place,
	cause: number,
	part: number,
): void {
	const height = Math.max(2, Math.round(place.height * part));
	const top = place.top + place.height - height;
	if (width < HATCH_LEAST || height < HATCH_LEAST)
		batch.thinCause(cause).add(x, top, width, height);
	else batch.cause(cause).add(x, top, part < 1 ? width : width - 1, height);
}

function addLabel(
	pen: Pen,
	batch: Batch,
	text: string,
	x: number,
	right: number,
	place: Place,
	ground: Ground,
): void {
	const from = Math.max(x, 0) + LABEL_PAD;
	const room = Math.min(right, pen.width) - from - LABEL_PAD;
	if (room < LABEL_LEAST - 2 * LABEL_PAD) return;
	const shown = pen.theme.clipped(text, room);
	if (shown) batch.label(shown, from, place.top + place.height / 2 + 0.5, ground);
}

/* Entries of a lane that are in this part of the time. */
export function collectLane(
	pen: Pen,
	batch: Batch,
	sheet: Sheet,
	lane: Lane,
	place: Place,
	part: Span,
): void {
	const { start, dur, fill, count, wait, cause, label } = sheet;
	const color = sheet.paint ?? sheet.color;
	const { span, perNs } = pen;
	const right = pen.width + 2;
	const least = 1 / pen.scale;
	let last = -Infinity; /* the right edge of what is drawn: thinner ones under it vanish */

	const { order } = place;
	for (let at = firstAfter(sheet, lane, part.from, order); at < lane.end; at++) {
		const i = order ? (order[at] ?? 0) : at;
		const begin = start[i] ?? 0;
		if (begin >= part.to) break;
		const length = dur[i] ?? 0;
		const x0 = (begin - span.from) * perNs;
		const x1 = (begin + length - span.from) * perNs;
		let x = snap(pen, Math.max(x0, -4));
		const to = Math.max(snap(pen, Math.min(x1, right)), x + least);
		if (to <= last) continue;
		if (x < last) x = last;
		last = to;
		const width = to - x;
		const merged = (count[i] ?? 1) > 1;
		if (cause[i] !== NO_CAUSE) {
			addGap(
				batch,
				x,
				width,
				place,
				cause[i] ?? 0,
				merged ? (fill[i] ?? 0) / 256 : 1,
			);
			if (width > LABEL_LEAST && label[i] !== NO_LABEL)
				addLabel(
					pen,
					batch,
					sheet.labels[label[i] ?? 0] ?? "",
					x,
					to,
					place,
					"hatch",
				);
			continue;
		}
		const shade = merged ? Math.min(SHADES - 1, (fill[i] ?? 0) >> 6) : SHADES - 1;
		const waited = wait[i] ?? 0;
		if (waited && width >= HATCH_LEAST) {
			const until = Math.min(
				to,
				Math.max(x, snap(pen, x0 + ((x1 - x0) * waited) / 255)),
			);
			batch.wait(color[i] ?? 0).add(x, place.top, until - x, place.height);
			if (until < to)
				addSlice(
					batch,
					until,
					to - until,
					place,
					color[i] ?? 0,
					shade,
					merged,
				);
		} else addSlice(batch, x, width, place, color[i] ?? 0, shade, merged);
		if (width > LABEL_LEAST && label[i] !== NO_LABEL) {
			const hatched = waited > 0 && x0 + ((x1 - x0) * waited) / 255 > x + 20;
			const ground = hatched ? "hatch" : shade < 2 ? "pale" : "full";
			addLabel(pen, batch, sheet.labels[label[i] ?? 0] ?? "", x, to, place, ground);
		}
	}
}

function collectSheet(
	pen: Pen,
	batch: Batch,
	row: Row,
	held: TrackSheet,
	shift: number,
	part: Span,
) {
	const [lanes, order] = shownLanes(row, held);
	for (const lane of lanes) {
		if (lane.lane >= row.lanes) continue;
		const top = laneTop(row, lane.lane) + shift;
		if (top > pen.height || top + row.lane < 0) continue;
		collectLane(
			pen,
			batch,
			held.sheet,
			lane,
			{ top, height: row.lane - 2, order },
			part,
		);
	}
}

/* The fine sheet, and what the coarse one knows of the rest. */
export function collectTrack(
	pen: Pen,
	batch: Batch,
	row: Row,
	kept: { now: TrackSheet | null; base: TrackSheet | null },
	shift: number,
): void {
	const { span } = pen;
	const { now, base } = kept;
	if (!now) return;
	const inside = { from: Math.max(span.from, now.from), to: Math.min(span.to, now.to) };
	if (base && base !== now) {
		if (now.from > span.from)
			collectSheet(pen, batch, row, base, shift, {
				from: span.from,
				to: now.from,
			});
		if (now.to < span.to)
			collectSheet(pen, batch, row, base, shift, { from: now.to, to: span.to });
	}
	if (inside.from < inside.to) collectSheet(pen, batch, row, now, shift, inside);
}

/* A frame around every entry whose label was found. */
export function outlineFound(
	pen: Pen,
	row: Row,
	held: TrackSheet,
	shift: number,
	found: Uint8Array,
): void {
	const { context, span, perNs } = pen;
	const { sheet } = held;
	const [lanes, order] = shownLanes(row, held);
	for (const lane of lanes) {
		if (lane.lane >= row.lanes) continue;
		const top = laneTop(row, lane.lane) + shift;
		for (let at = firstAfter(sheet, lane, span.from, order); at < lane.end; at++) {
			const i = order ? (order[at] ?? 0) : at;
			const begin = sheet.start[i] ?? 0;
			if (begin > span.to) break;
			const label = sheet.label[i] ?? NO_LABEL;
			if (label === NO_LABEL || !found[label]) continue;
			const x = Math.max((begin - span.from) * perNs, -3);
			const to = Math.min(x + (sheet.dur[i] ?? 0) * perNs, pen.width + 3);
			context.rect(x + 0.5, top + 0.5, Math.max(1, to - x - 2), row.lane - 3);
		}
	}
}

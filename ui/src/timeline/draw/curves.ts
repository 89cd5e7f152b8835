/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curves.ts - memory, utilization, queue and counters as areas, from minimum to maximum in each
 * pixel.
 */
import type { CurveOffer } from "../../core/types";
import { formatBytes, formatCount, formatPercent } from "../../core/format";
import type { Curve } from "../decode";
import type { Row } from "../model";
import type { CurveSheet } from "../sheets";
import { type Pen, Rectangles, snap, xOf } from "./pen";

/* Curves have the colour of what they are about. */
const COLOR_OF: Record<string, number> = { utilization: 0, memory: 7, reserved: 8, queue: 4 };
const OTHER = 10;

export function formatValue(offer: CurveOffer, value: number): string {
	if (Number.isNaN(value)) return "unknown";
	if (offer.unit === "bytes") return formatBytes(value);
	if (offer.unit === "percent") return formatPercent(value);
	if (Number.isInteger(value)) return formatCount(value);
	return value.toPrecision(3);
}

export function valueAt(held: CurveSheet, ns: number): number {
	const { curve } = held;
	const points = curve.high.length;
	const i = Math.floor(((ns - held.from) / (held.to - held.from)) * points);
	return curve.high[Math.min(points - 1, Math.max(0, i))] ?? Number.NaN;
}

/* Kept between frames. */
const areas = new Rectangles();
const edges = new Rectangles();

/*
 * The known parts as upright rectangles, one for each stretch of the same height: cheaper than
 * a path of thousands of points, and as exact as the screen.
 */
function collect(pen: Pen, curve: Curve, top: number, height: number, most: number): void {
	const points = curve.high.length;
	const perPoint = (curve.to - curve.from) / points;
	const first = Math.max(0, Math.floor((pen.span.from - curve.from) / perPoint));
	const last = Math.min(points, Math.ceil((pen.span.to - curve.from) / perPoint) + 1);
	const base = top + height;
	let from = 0; /* of the stretch */
	let level = Number.NaN;
	for (let i = first; i <= last; i++) {
		const value = i < last ? (curve.high[i] ?? Number.NaN) : Number.NaN;
		const part = Math.max(0, Math.min(1, value / most));
		const y = snap(pen, base - part * height);
		if (y === level || (Number.isNaN(y) && Number.isNaN(level))) continue;
		const x = snap(pen, xOf(pen, curve.from + i * perPoint));
		/* several points in a pixel: the first one stands */
		if (x <= from && i < last && !Number.isNaN(level)) continue;
		if (!Number.isNaN(level)) {
			areas.add(from, level, x - from, base - level);
			edges.add(from, level - 0.5, x - from, 1);
			if (!Number.isNaN(y))
				edges.add(x - 0.5, Math.min(level, y), 1, Math.abs(y - level));
		}
		from = x;
		level = y;
	}
}

export function drawCurve(
	pen: Pen,
	row: Row,
	held: CurveSheet | null,
	most: number,
	shift: number,
): void {
	const { context, theme } = pen;
	const offer = row.curve;
	if (!offer) return;
	const top = row.y + shift + 4;
	const height = row.height - 7;
	const color = COLOR_OF[offer.curve] ?? OTHER;
	if (!held) return;
	collect(pen, held.curve, top, height, most);
	areas.fill(context, theme.fills[color * 4] ?? theme.soft);
	edges.fill(context, theme.fills[color * 4 + 3] ?? theme.soft);
}

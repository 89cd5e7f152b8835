/*
 * curves.ts - memory, utilization, queue and counters as areas, one pixel at a time from
 * the least to the most.
 */
import { formatBytes, formatCount, formatPercent } from "../../core/format";
import type { CurveOffer } from "../../core/types";
import type { Curve } from "../decode";
import type { Row } from "../model";
import type { CurveSheet } from "../sheets";
import { type Pen, xOf } from "./pen";

/* Curves have the colour of what they are about. */
const COLOR_OF: Record<string, number> = { utilization: 0, memory: 7, reserved: 8, queue: 4 };
const OTHER = 10;

export function formatValue(offer: CurveOffer, value: number): string {
	if (Number.isNaN(value)) return "not known";
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

/* Areas of the known parts: along the most, and back along the base. */
function traceArea(pen: Pen, curve: Curve, top: number, height: number, most: number): void {
	const { context } = pen;
	const points = curve.high.length;
	const perPoint = (curve.to - curve.from) / points;
	const first = Math.max(0, Math.floor((pen.span.from - curve.from) / perPoint));
	const last = Math.min(points, Math.ceil((pen.span.to - curve.from) / perPoint) + 1);
	const base = top + height;
	let begun = false;
	let x = 0;
	let lastY = -1;
	for (let i = first; i < last; i++) {
		const value = curve.high[i] ?? Number.NaN;
		x = xOf(pen, curve.from + i * perPoint);
		if (Number.isNaN(value)) {
			if (begun) context.lineTo(x, base);
			begun = false;
			continue;
		}
		const y = base - Math.max(0, Math.min(1, value / most)) * height;
		if (!begun) context.moveTo(x, base);
		/* a level stretch needs no point of its own */
		if (!begun || Math.abs(y - lastY) > 0.2) {
			if (begun) context.lineTo(x, lastY);
			context.lineTo(x, y);
			lastY = y;
		}
		begun = true;
	}
	if (begun) {
		const end = xOf(pen, curve.from + last * perPoint);
		context.lineTo(end, lastY);
		context.lineTo(end, base);
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
	if (held) {
		context.beginPath();
		traceArea(pen, held.curve, top, height, most);
		context.fillStyle = theme.fills[color * 4] ?? theme.soft;
		context.fill();
		context.strokeStyle = theme.fills[color * 4 + 3] ?? theme.soft;
		context.lineWidth = 1;
		context.stroke();
	}
}

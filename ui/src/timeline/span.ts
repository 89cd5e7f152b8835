/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.ts - the visible time range: zooming, panning, axis ticks.
 */
import { formatNs } from "../core/format";

export interface Span {
	from: number;
	to: number;
}

/* Nothing is recorded finer than a nanosecond: a window of 50 has pixels of 0.04 ns. */
const LEAST_NS = 50;

/* The run and a little of nothing on both sides, so that its ends can be seen. */
export function wholeOf(span: number): Span {
	const around = Math.max(span * 0.01, 10);
	return { from: -around, to: span + around };
}

/* Inside the whole, not shorter than can be told apart. */
export function bounded(span: Span, whole: Span): Span {
	const most = whole.to - whole.from;
	const length = Math.min(Math.max(span.to - span.from, LEAST_NS), most);
	const middle = (span.from + span.to) / 2;
	const from = Math.min(Math.max(middle - length / 2, whole.from), whole.to - length);
	return { from, to: from + length };
}

/* `by` > 1 shows more. */
export function zoomed(span: Span, at: number, by: number, whole: Span): Span {
	const length = Math.max((span.to - span.from) * by, LEAST_NS);
	const part = (at - span.from) / (span.to - span.from);
	const from = at - part * length;
	return bounded({ from, to: from + length }, whole);
}

export function panned(span: Span, by: number, whole: Span): Span {
	return bounded({ from: span.from + by, to: span.to + by }, whole);
}

/* A seventh of the length of free room on each side. */
export function fitted(from: number, to: number, whole: Span): Span {
	const around = Math.max((to - from) / 7, 5);
	return bounded({ from: from - around, to: to + around }, whole);
}

/* 1, 2 or 5 times a power of ten: the least that is not below. */
export function roundStep(least: number): number {
	const ten = 10 ** Math.floor(Math.log10(least));
	for (const times of [1, 2, 5]) if (ten * times >= least) return ten * times;
	return ten * 10;
}

/* A moment beside others that are `step` apart: enough digits to tell them apart. */
export function formatMoment(ns: number, step: number): string {
	const units: [number, string][] = [
		[1e9, "s"],
		[1e6, "ms"],
		[1e3, "µs"],
		[1, "ns"],
	];
	if (ns === 0) return "0";
	const size = Math.abs(ns);
	const [unit, word] = units.find(([one]) => size >= one) ?? [1, "ns"];
	const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
	return `${(ns / unit).toFixed(digits)} ${word}`;
}

/* "from 9.16 ms to 665 ms"; with more digits where three would not tell the ends apart. */
export function formatSpan(from: number, to: number): string {
	const fine = to - from < to / 100;
	const [a, b] = [from, to].map((ns) =>
		fine ? formatMoment(ns, (to - from) / 10) : formatNs(ns),
	);
	return `from ${a} to ${b}`;
}

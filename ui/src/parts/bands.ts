/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bands.ts - more bars than a chart has room for: neighbours become one band, which shows the bar
 * in their middle and how far they reach. Bars narrower than pixels would only flicker.
 */
import { formatNs } from "../core/format";
import type { Bar } from "./bars";

/* A bar and the space beside it. */
const LEAST_PITCH = 4;

export function wholeOf(bar: Bar): number {
	return bar.parts.reduce((all, part) => all + part, 0);
}

function bandOf(bars: Bar[]): Bar {
	const sorted = [...bars].sort((a, b) => wholeOf(a) - wholeOf(b));
	const middle = sorted[(sorted.length - 1) >> 1] as Bar;
	const [first, last] = [bars[0] as Bar, bars.at(-1) as Bar];
	const low = wholeOf(sorted[0] as Bar);
	const high = wholeOf(sorted.at(-1) as Bar);
	const sign = bars.find((bar) => bar.sign)?.sign;
	return {
		...middle,
		label: first.label,
		title:
			`${first.label} to ${last.label}: median ${formatNs(wholeOf(middle))}, ` +
			`from ${formatNs(low)} to ${formatNs(high)}. The median is ${middle.title}`,
		faint: bars.every((bar) => bar.faint ?? false),
		marks: bars.some((bar) => bar.marks ?? false),
		...(sign ? { sign } : {}),
		reach: { low, high },
	};
}

export function bandsOf(bars: Bar[], width: number): Bar[] {
	const each = Math.ceil((bars.length * LEAST_PITCH) / Math.max(1, width));
	if (each <= 1) return bars;
	return Array.from({ length: Math.ceil(bars.length / each) }, (_, i) =>
		bandOf(bars.slice(i * each, (i + 1) * each)),
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waterfall.tsx - the change in step time between two runs, part by part.
 */
import { useState } from "preact/hooks";
import { formatNs, formatPercent } from "../../core/format";
import { percentOf, Whole } from "../verdict/waterfall";
import { type Bar, barsOf, type Change } from "./model";

function signed(ns: number): string {
	return `${ns > 0 ? "▲ +" : "▼ −"}${formatNs(Math.abs(ns))}`;
}

function tell({ change }: Bar): string {
	const by = change.b - change.a;
	const share = change.a ? ` (change: ${formatPercent((100 * by) / change.a)})` : "";
	return `${change.name}: ${formatNs(change.a)} before, ${formatNs(change.b)} after${share}.`;
}

const HINT = "Parts of the mean step as the files mark it; they add up to it.";

function ChangeRow(props: { bar: Bar; whole: number; say: (hint: string | null) => void }) {
	const { bar, whole, say } = props;
	const word = bar.to > bar.from ? "worse" : "better";
	const text = tell(bar);
	const place = {
		left: percentOf(Math.min(bar.from, bar.to), whole),
		width: percentOf(Math.abs(bar.to - bar.from), whole),
	};
	return (
		<div
			class="fall compare-fall"
			role="img"
			tabIndex={0}
			title={text}
			aria-label={text}
			onMouseEnter={() => say(text)}
			onMouseLeave={() => say(null)}
			onFocus={() => say(text)}
			onBlur={() => say(null)}
		>
			<span class="fall-name">
				<i style={{ background: `var(--c-${bar.change.color})` }} />
				{bar.change.name}
			</span>
			<span class="fall-track">
				<span class={`${word}-bar`} style={place} />
			</span>
			<span class={`fall-figure ${word}`}>{signed(bar.to - bar.from)}</span>
		</div>
	);
}

export function StepChange({ changes, names }: { changes: Change[]; names: [string, string] }) {
	const { start, bars, end } = barsOf(changes);
	const [hint, say] = useState<string | null>(null);
	const whole = Math.max(start, end, ...bars.map((bar) => Math.max(bar.from, bar.to)));

	return (
		<section class="falls" aria-label="Change in step time">
			<Whole name={`A: ${names[0]}`} ns={start} step={whole} kind="fall-today" />
			{bars.map((bar) => (
				<ChangeRow
					key={bar.change.name}
					bar={bar}
					whole={whole}
					say={say}
				/>
			))}
			<Whole name={`B: ${names[1]}`} ns={end} step={whole} kind="fall-today" />
			<p class="falls-hint" aria-live="polite">
				{hint ?? HINT}
			</p>
		</section>
	);
}

/*
 * waterfall.tsx - from one run's step to the other's, part by part.
 */
import { useState } from "preact/hooks";
import { formatNs, formatPercent } from "../../core/format";
import { type Bar, barsOf, type Change } from "./model";

function percent(ns: number, whole: number): string {
	return `${whole > 0 ? (100 * ns) / whole : 0}%`;
}

function signed(ns: number): string {
	return `${ns > 0 ? "▲ +" : "▼ −"}${formatNs(Math.abs(ns))}`;
}

function tell({ change }: Bar): string {
	const by = change.b - change.a;
	const share = change.a ? ` (${formatPercent((100 * by) / change.a)} of what it was)` : "";
	return `${change.name}: ${formatNs(change.a)} before, ${formatNs(change.b)} after${share}.`;
}

export function StepChange({ changes, names }: { changes: Change[]; names: [string, string] }) {
	const { start, bars, end } = barsOf(changes);
	const [hint, say] = useState<string | null>(null);
	const whole = Math.max(start, end, ...bars.map((bar) => Math.max(bar.from, bar.to)));

	return (
		<section class="falls" aria-label="From one step to the other">
			<div class="fall whole">
				<span class="fall-name">A: {names[0]}</span>
				<span class="fall-track">
					<span class="fall-today" style={{ left: 0, width: percent(start, whole) }} />
				</span>
				<span class="fall-figure">{formatNs(start)}</span>
			</div>
			{bars.map((bar) => (
				<div
					key={bar.change.name}
					class="fall compare-fall"
					role="img"
					tabIndex={0}
					title={tell(bar)}
					aria-label={tell(bar)}
					onMouseEnter={() => say(tell(bar))}
					onMouseLeave={() => say(null)}
					onFocus={() => say(tell(bar))}
					onBlur={() => say(null)}
				>
					<span class="fall-name">
						<i style={{ background: `var(--c-${bar.change.color})` }} />
						{bar.change.name}
					</span>
					<span class="fall-track">
						<span
							class={bar.to > bar.from ? "worse-bar" : "better-bar"}
							style={{
								left: percent(Math.min(bar.from, bar.to), whole),
								width: percent(Math.abs(bar.to - bar.from), whole),
							}}
						/>
					</span>
					<span class={`fall-figure ${bar.to > bar.from ? "worse" : "better"}`}>
						{signed(bar.to - bar.from)}
					</span>
				</div>
			))}
			<div class="fall whole">
				<span class="fall-name">B: {names[1]}</span>
				<span class="fall-track">
					<span class="fall-today" style={{ left: 0, width: percent(end, whole) }} />
				</span>
				<span class="fall-figure">{formatNs(end)}</span>
			</div>
			<p class="falls-hint" aria-live="polite">
				{hint ?? "Parts of a step, mean of the steps of all devices; they sum to the step."}
			</p>
		</section>
	);
}

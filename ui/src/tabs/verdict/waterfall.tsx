/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waterfall.tsx - from today's step to the predicted one: one bar per fix, with a checkbox.
 */
import type { Diagnosis } from "../../core/types";
import { useState } from "preact/hooks";
import { formatNs, formatNsRange, formatPercent } from "../../core/format";
import { markOf } from "../../core/words";
import { boundsOf, type Fall, isRange, savedRange } from "./model";

interface Props {
	told: Diagnosis;
	shown: Diagnosis;
	falls: Fall[];
	busy: boolean;
	toggle: (fix: string) => void;
}

const REPLAYED = "the recorded steps are replayed each time; savings are never just added up.";
const HINT = `Untick a fix to see the step without it: ${REPLAYED}`;
const NONE_TICKED = `Tick a fix to see the step with it: ${REPLAYED}`;

export function percentOf(ns: number, whole: number): string {
	return `${whole > 0 ? (100 * ns) / whole : 0}%`;
}

function hintOf(fall: Fall, step: number): string {
	const { cost, finding } = fall;
	if (!fall.on)
		return (
			`${finding.title}: not applied. ` +
			`On its own, the fix would save ${formatNs(finding.alone_ns)} per step.`
		);
	if (!cost || cost.cost_ns === null) return `${finding.title}: not computed yet.`;
	const bounds = boundsOf(cost);
	return (
		`${finding.title}: saves ${formatNs(cost.cost_ns)}, ` +
		`${formatPercent((100 * cost.cost_ns) / step)} of the step` +
		`${bounds ? `, ${bounds}` : ""}, with larger ones in place. ` +
		`On its own it saves ${formatNs(cost.alone_ns)}.`
	);
}

/* −88 ms; where only bounds mean something or these are far apart, both. */
export function figureOf(fall: Fall, bounded: boolean): string {
	const { cost } = fall;
	if (!fall.on) return "not applied";
	if (!cost?.cost_ns) return "0";
	const range = savedRange(cost, bounded);
	return (range ?? formatNs(cost.cost_ns)).replaceAll(/(?<![\d.])\d/g, "−$&");
}

function Row(props: {
	fall: Fall;
	step: number;
	bounded: boolean;
	toggle: (fix: string) => void;
	hint: (text: string | null) => void;
}) {
	const { fall, step, toggle, hint } = props;
	const text = hintOf(fall, step);
	const cost = fall.cost?.cost_ns ?? 0;
	const sure = Math.max(0, Math.min(cost, fall.cost?.cost_low_ns ?? cost));

	return (
		<label
			class={`fall ${fall.on ? "" : "off"}`}
			title={text}
			onMouseEnter={() => hint(text)}
			onMouseLeave={() => hint(null)}
		>
			<span class="fall-name">
				<input
					type="checkbox"
					checked={fall.on}
					aria-label={`Fix: ${fall.finding.title}`}
					aria-description={text}
					onChange={() => toggle(fall.fix)}
					onFocus={() => hint(text)}
					onBlur={() => hint(null)}
				/>
				<span class="fall-number">{markOf(fall.finding, fall.number)}</span>
				<span class="fall-title">{fall.finding.title}</span>
			</span>
			<span class="fall-track" aria-hidden="true">
				{fall.on && cost > 0 ? (
					<>
						<span
							class="fall-maybe"
							style={{
								left: percentOf(fall.to_ns, step),
								width: percentOf(cost, step),
							}}
						/>
						<span
							class="fall-sure"
							style={{
								left: percentOf(
									fall.from_ns - sure,
									step,
								),
								width: percentOf(sure, step),
							}}
						/>
					</>
				) : (
					<span class="fall-none" style={{ left: percentOf(fall.to_ns, step) }} />
				)}
			</span>
			<span class="fall-figure">{figureOf(fall, props.bounded)}</span>
		</label>
	);
}

export function Whole(props: {
	name: string;
	ns: number;
	step: number;
	kind: string;
	figure?: string | undefined;
}) {
	return (
		<div class="fall whole">
			<span class="fall-name">{props.name}</span>
			<span class="fall-track" aria-hidden="true">
				<span
					class={props.kind}
					style={{ left: 0, width: percentOf(props.ns, props.step) }}
				/>
			</span>
			<span class="fall-figure">{props.figure ?? formatNs(props.ns)}</span>
		</div>
	);
}

/* What the replay cannot tell exactly is a range. */
function rangeOf(shown: Diagnosis): string {
	return formatNsRange(shown.fixed_low_ns ?? 0, shown.fixed_high_ns ?? 0);
}

export function Waterfall({ told, shown, falls, busy, toggle }: Props) {
	const [hint, change] = useState<string | null>(null);
	const step = told.step_ns ?? 0;
	const ranges = falls.some((fall) => fall.cost && savedRange(fall.cost, told.only_bounds));

	return (
		<section
			class={`falls ${busy ? "busy" : ""} ${ranges ? "bounded" : ""}`}
			aria-label="From today's step to the predicted one"
		>
			<Whole name="Step today" ns={step} step={step} kind="fall-today" />
			{falls.map((fall) => (
				<Row
					key={fall.number}
					fall={fall}
					step={step}
					bounded={told.only_bounds}
					toggle={toggle}
					hint={change}
				/>
			))}
			<Whole
				name="Step with these fixes"
				ns={shown.fixed_step_ns ?? step}
				step={step}
				kind="fall-after"
				figure={told.only_bounds || isRange(step, shown) ? rangeOf(shown) : undefined}
			/>
			<p class="falls-hint" aria-live="polite">
				{hint ?? (falls.some((fall) => fall.on) ? HINT : NONE_TICKED)}
			</p>
		</section>
	);
}

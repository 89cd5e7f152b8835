/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentence.tsx - the headline: how long a step takes, and what it could take.
 */
import type { Diagnosis } from "../../core/types";
import { formatNs, formatNsRange, formatPercent, isNear } from "../../core/format";
import { Terms } from "../../parts/tips";
import { baseOf, healthyLimit, isRange, openShare, speedUp } from "./model";

/* Figures of a replay that misses the recorded step are only bounds. */
function Bounds({ told, shown }: { told: Diagnosis; shown: Diagnosis }) {
	const step = told.step_ns ?? 0;
	const slow = shown.fixed_high_ns ?? step;
	const fast = shown.fixed_low_ns ?? step;
	if (slow === step && fast === step)
		return <>How much faster it could be is unknown.</>;
	if (isNear(fast, slow))
		return (
			<>
				It could take about <b>{formatNs(fast)}</b>.
			</>
		);
	return (
		<>
			It could take between <b>{formatNs(fast)}</b> and <b>{formatNs(slow)}</b>.
		</>
	);
}

function Gain({ step, shown }: { step: number; shown: Diagnosis }) {
	const after = shown.fixed_step_ns ?? step;
	if (!isRange(step, shown))
		return (
			<>
				<b>{formatNs(after)}</b>:{" "}
				<b class="gain">{speedUp(step, after)} faster</b>.
			</>
		);
	const [fast, slow] = [shown.fixed_low_ns ?? after, shown.fixed_high_ns ?? after];
	return (
		<>
			<b>{formatNsRange(fast, slow)}</b>:{" "}
			<b class="gain">
				{speedUp(step, slow).replace(" ×", "")} to {speedUp(step, fast)} faster
			</b>
			.
		</>
	);
}

function Possible({ told, shown, all }: { told: Diagnosis; shown: Diagnosis; all: boolean }) {
	const step = told.step_ns ?? 0;
	const after = shown.fixed_step_ns ?? step;
	if (told.only_bounds) return <Bounds told={told} shown={shown} />;
	if (after < step)
		return (
			<>
				{all ? "It could take " : "With these fixes: "}
				<Gain step={step} shown={shown} />
			</>
		);
	const open = openShare(told.account);
	if (all && told.start_up_ns) return null;
	if (all && told.blind_text) return <>{told.blind_text}</>;
	if (all && open) return <>No rule explains {open} of it.</>;
	if (all) return <>No fix was found that saves more than {healthyLimit(told)}.</>;
	return <>Without fixes it stays the same.</>;
}

const RANGE = "The range is wide: how much a fix saves depends on what the trace does not show.";

function notes(told: Diagnosis, shown: Diagnosis, more: string[]): string[] {
	const texts = [told.steps_text, told.gpu_text, told.ceiling_text];
	const said = texts.flatMap((text) => text ?? []).concat(more);
	if (told.only_bounds)
		said.push(
			`The replay of the recorded steps is off by ${formatPercent(
				Math.abs(told.replay_error_percent ?? 0),
			)} (more than 5 %), so only bounds are shown.`,
		);
	else if (isRange(told.step_ns ?? 0, shown)) said.push(RANGE);
	else if (
		shown.fixed_low_ns !== null &&
		!isNear(shown.fixed_low_ns, shown.fixed_high_ns ?? 0)
	)
		said.push(
			`Between ${formatNs(shown.fixed_low_ns)} ` +
				`and ${formatNs(shown.fixed_high_ns)}, ` +
				"depending on how well the fixes work.",
		);
	if (shown.not_found) said.push(`Not found in these files: ${shown.not_found}.`);
	return said;
}

interface Props {
	told: Diagnosis;
	shown: Diagnosis;
	all: boolean; /* everything that the verdict warns of is fixed */
	busy: boolean;
	more: string[]; /* what else must be known before the figures are believed */
}

export function Sentence({ told, shown, all, busy, more }: Props) {
	return (
		<div class="sentence">
			<h2 aria-live="polite">
				A <Terms text="step" /> takes <b>{formatNs(told.step_ns)}</b>.{" "}
				{told.start_up_ns ? (
					<>
						<b>{formatNs(told.start_up_ns)}</b> of it is start-up, which a
						steady step does not have.{" "}
					</>
				) : null}
				<span class={busy ? "busy" : ""}>
					<Possible told={told} shown={shown} all={all} />
				</span>
			</h2>
			<p class={told.spread?.uneven ? "soft sentence-base" : "soft"}>
				measured, {baseOf(told)}{" "}
				<button
					type="button"
					class="button quiet"
					title="One or two pages: the verdict with its findings and fixes"
					onClick={() => print()}
				>
					Print
				</button>
			</p>
			<p class="sentence-notes">
				{notes(told, shown, more).join(" ") || "\u00a0"}
			</p>
			{told.spread?.outliers_text ? (
				<p class="sentence-notes">{told.spread.outliers_text}</p>
			) : null}
		</div>
	);
}

export function NoSteps() {
	return (
		<div class="sentence-none">
			<h2>No steps were found, so savings cannot be measured.</h2>
			<p>
				Call <code>prof.step()</code> at the end of each step: it writes the{" "}
				<code>ProfilerStep#N</code> ranges. The timeline and the tables show
				everything that was recorded.
			</p>
		</div>
	);
}

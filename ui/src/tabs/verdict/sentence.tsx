/*
 * sentence.tsx - the first line of all: how long a step takes, and what it could take.
 */
import { formatNs, formatPercent } from "../../core/format";
import type { Diagnosis } from "../../core/types";
import { baseOf, healthyLimit, openShare, speedUp } from "./model";

/* Figures of a replay that misses the recorded step are only bounds. */
function Bounds({ told, shown }: { told: Diagnosis; shown: Diagnosis }) {
	const step = told.step_ns ?? 0;
	const slow = shown.fixed_low_ns ?? step;
	const fast = shown.fixed_high_ns ?? step;
	if (slow === step && fast === step)
		return <>Nothing can be said about what it could take.</>;
	return (
		<>
			It could take between <b>{formatNs(fast)}</b> and <b>{formatNs(slow)}</b>.
		</>
	);
}

/* Of a gain of which not even a tenth is sure the figure is the best case, and is told so. */
function isUnsure(step: number, after: number, slow: number | null): boolean {
	return slow !== null && step - slow < (step - after) / 10;
}

function Possible({ told, shown, all }: { told: Diagnosis; shown: Diagnosis; all: boolean }) {
	const step = told.step_ns ?? 0;
	const after = shown.fixed_step_ns ?? step;
	if (told.only_bounds) return <Bounds told={told} shown={shown} />;
	if (after < step) {
		const unsure = isUnsure(step, after, shown.fixed_low_ns);
		return (
			<>
				{all ? "It could take " : "With these fixes: "}
				{unsure ? "as little as " : ""}
				<b>{formatNs(after)}</b>:{" "}
				<b class="gain">
					{unsure ? "up to " : ""}
					{speedUp(step, after)} faster
				</b>
				.
			</>
		);
	}
	const open = openShare(told.account);
	if (all && open) return <>No rule explains {open} of it.</>;
	if (all) return <>Nothing was found that gains more than {healthyLimit(told)}.</>;
	return <>Without these fixes it stays so.</>;
}

function notes(told: Diagnosis, shown: Diagnosis, more: string[]): string[] {
	const said: string[] = [...more];
	if (told.only_bounds)
		said.push(
			`The replay of the recorded steps is off by ${formatPercent(
				Math.abs(told.replay_error_percent ?? 0),
			)} (more than 5 %): only bounds can be given.`,
		);
	else if (shown.fixed_low_ns !== null && shown.fixed_low_ns !== shown.fixed_high_ns)
		said.push(
			`Between ${formatNs(shown.fixed_high_ns)} ` +
				`and ${formatNs(shown.fixed_low_ns)}, ` +
				"as fixes do more or less than expected.",
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
				A step takes <b>{formatNs(told.step_ns)}</b>.{" "}
				<span class={busy ? "busy" : ""}>
					<Possible told={told} shown={shown} all={all} />
				</span>
			</h2>
			<p class="soft">measured, {baseOf(told)}</p>
			<p class="sentence-notes">
				{notes(told, shown, more).join(" ") || "\u00a0"}
			</p>
		</div>
	);
}

export function NoSteps() {
	return (
		<div class="sentence-none">
			<h2>No steps were found: there is nothing to measure a gain by.</h2>
			<p>
				<code>ProfilerStep#N</code> marks them: call{" "}
				<code>prof.step()</code> at the end of each. The timeline and the
				tables show everything that was recorded.
			</p>
		</div>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.tsx - where the recorded step time goes: parts that add up to the step.
 */
import { useLoaded, useOpened } from "../../core/context";
import { formatNs } from "../../core/format";
import { StackedBar } from "../../parts/stacked-bar";
import { type Budget, budgetOf, hostBudgetOf } from "./model";

/* host: nothing ran on a device, so the training thread's time is shared out */
type Told = Budget & { host: boolean };

/* Below this share both figures of a step look alike. */
const ALIKE = 0.01;

/* Why the mean of the steps is not the verdict's, where both are shown. */
export function OtherStep({ mean, step }: { mean: number; step: number | null }) {
	if (!step || !(mean > 0) || Math.abs(mean - step) <= ALIKE * step) return null;
	return (
		<p class="soft">
			The parts add up to {formatNs(mean)}, the mean step as the files mark it. The
			verdict's {formatNs(step)} counts the first step from the same kind of boundary
			as the others.
		</p>
	);
}

export function BudgetBar({ rank, step }: { rank: number | null; step: number }) {
	const { client } = useOpened();
	const budget = useLoaded(async (): Promise<Told> => {
		const devices = budgetOf(await client.view("budget", { group: "part", rank }));
		if (devices.parts.length) return { ...devices, host: false };
		return { ...hostBudgetOf(await client.view("breakdown", { rank })), host: true };
	}, [rank]);

	const parts = budget.value?.parts ?? [];
	const mean = parts.reduce((sum, part) => sum + part.value, 0) / (budget.value?.devices || 1);
	return (
		<section class="budget">
			<h3>Recorded step by activity</h3>
			{budget.state === "failed" ? (
				<p class="soft">Could not load the breakdown: {budget.error}</p>
			) : parts.length ? (
				<StackedBar
					parts={parts}
					label="Parts of the recorded step"
					whole={
						budget.value?.host
							? "of a step on the host"
							: "of a step on the GPUs"
					}
					format={(value) =>
						formatNs(value / (budget.value?.devices || 1))
					}
				/>
			) : (
				<p class="soft budget-empty">
					{budget.state === "loading" ? "…" : "No times were recorded."}
				</p>
			)}
			{budget.value?.host ? null : <OtherStep mean={mean} step={step} />}
			{budget.value?.host && parts.length ? (
				<p class="soft">
					Nothing ran on a GPU, so these are parts of the training
					thread's time. To record GPUs, add
					<code> ProfilerActivity.CUDA</code> or <code>XPU</code>.
				</p>
			) : null}
		</section>
	);
}

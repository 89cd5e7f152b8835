/*
 * budget.tsx - where a step's time goes: parts that sum to all of it.
 */
import { useLoaded, useOpened } from "../../core/context";
import { formatNs, formatPercent } from "../../core/format";
import { store } from "../../core/store";
import { StackedBar } from "../../parts/stacked-bar";
import { type Budget, budgetOf, hostBudgetOf } from "./model";

/* host: nothing ran on a device, so the training thread's time is shared out */
type Told = Budget & { host: boolean };

/* As of the command: devices that stand idle for more than half of a step make one ask why. */
const IDLE_SHARE = 0.5;

function idleShare(budget: Budget): number {
	const sum = (parts: Budget["parts"]) => parts.reduce((all, part) => all + part.value, 0);
	const whole = sum(budget.parts);
	return whole ? sum(budget.parts.filter((part) => part.name.startsWith("idle"))) / whole : 0;
}

function Unexplained({ budget }: { budget: Budget }) {
	const share = idleShare(budget);
	if (share <= IDLE_SHARE) return null;
	return (
		<p>
			The devices stand idle {formatPercent(100 * share)} of the step, and no rule
			knows what to do about it:{" "}
			<button type="button" class="md-link" onClick={() => store.set({ tab: "gaps" })}>
				the causes of the gaps ▸
			</button>
		</p>
	);
}

/* found: there is something to change, which the findings tell */
export function BudgetBar({ rank, found }: { rank: number | null; found: boolean }) {
	const { client } = useOpened();
	const budget = useLoaded(async (): Promise<Told> => {
		const found = budgetOf(await client.view("budget", { group: "part", rank }));
		if (found.parts.length) return { ...found, host: false };
		return { ...hostBudgetOf(await client.view("breakdown", { rank })), host: true };
	}, [rank]);

	const parts = budget.value?.parts ?? [];
	return (
		<section class="budget">
			<h3>Where a step's time goes</h3>
			{budget.state === "failed" ? (
				<p class="soft">The budget cannot be had: {budget.error}</p>
			) : parts.length ? (
				<StackedBar
					parts={parts}
					label="Parts of a step"
					whole={
						budget.value?.host
							? "of a step of the host"
							: "of a step of the devices"
					}
					format={(value) =>
						formatNs(value / (budget.value?.devices || 1))
					}
				/>
			) : (
				<p class="soft budget-empty">
					{budget.state === "loading" ? "…" : "No time is known."}
				</p>
			)}
			{budget.value && !budget.value.host && !found ? (
				<Unexplained budget={budget.value} />
			) : null}
			{budget.value?.host && parts.length ? (
				<p class="soft">
					Nothing ran on a device: these are parts of the training
					thread's time.
					<code> ProfilerActivity.CUDA</code> or <code>XPU</code>{" "}
					records devices.
				</p>
			) : null}
		</section>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.tsx - overview: the mean step in parts that add up to it, the same as the verdict's.
 */
import { useLoaded, useOpened } from "../../core/context";
import { sum } from "../../core/rows";
import { useView } from "../../core/store";
import { Basis } from "../../parts/basis";
import { Meter } from "../../parts/meter";
import { Failed, Loading, Nothing } from "../../parts/state";
import { OtherStep } from "../verdict/budget";
import { budgetOf, hostBudgetOf } from "../verdict/model";

function whose(devices: number): string {
	if (!devices) return "No GPU was recorded; this is host time.";
	return devices > 1 ? `Mean of ${devices} GPUs.` : "";
}

export function Budget() {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const told = useLoaded(() => client.diagnosis({ rank }), [client, rank]).value;
	const loaded = useLoaded(async () => {
		const basis = await client.view("budget", { rank, step, group: "part" });
		const budget = budgetOf(basis);
		if (budget.parts.length) return { ...budget, basis };
		return { ...hostBudgetOf(await client.view("breakdown", { rank, step })), basis: null };
	}, [client, rank, step]);

	if (!loaded.value)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Adding up the step…" />
		);
	const { devices, basis } = loaded.value;
	const parts = loaded.value.parts.map((part) => ({
		...part,
		ns: part.value / Math.max(1, devices),
		...(part.name.startsWith("idle") ? { href: "#/gaps" } : {}),
	}));
	if (!parts.length) return <Nothing>No steps to measure.</Nothing>;
	const ns = sum(parts.map((part) => part.ns));
	const name = step === null ? "the mean step" : `step ${step}`;
	return (
		<>
			<Basis of={basis} />
			<Meter
				label="The mean step in parts"
				parts={parts.sort((a, b) => b.ns - a.ns)}
				whole={{ name, ns }}
				base={name}
			/>
			<p class="soft">{whose(basis ? devices : 0)} The parts sum to the step.</p>
			{basis && step === null ? <OtherStep mean={ns} step={told?.step_ns ?? null} /> : null}
		</>
	);
}

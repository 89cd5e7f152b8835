/* SPDX-License-Identifier: Apache-2.0 */
/*
 * two-runs.tsx - both verdicts, the change in step time, and tables of both runs.
 */
import type { Job } from "../../core/client";
import type { Diagnosis } from "../../core/types";
import { useMemo } from "preact/hooks";
import { useOpened, useLoaded } from "../../core/context";
import type { Client } from "../../core/client";
import { formatNs } from "../../core/format";
import { store, useView } from "../../core/store";
import { runName, runWords } from "../../core/words";
import { Chips } from "../../parts/chips";
import { Failed, Loading } from "../../parts/state";
import { type Budget, baseOf, budgetOf, hostBudgetOf, speedUp } from "../verdict/model";
import "../verdict/verdict.css";
import { AlignedRuns } from "./aligned";
import { FindingChanges, type RunChange, Unlike } from "./findings";
import { JoinedTable, TABLES } from "./joined-table";
import { changesOf } from "./model";
import { StepChange } from "./waterfall";

interface Run {
	job: Job;
	told: Diagnosis;
	budget: Budget;
}

async function loadRun(client: Client, run: number): Promise<Run> {
	const of = run ? { run } : {};
	const [job, told, budget] = await Promise.all([
		client.job(run),
		client.diagnosis(of),
		client.view("budget", { ...of, group: "part" }),
	]);
	return { job, told, budget: budgetOf(budget) };
}

/* Devices with devices, hosts with hosts: if one run has no device, the hosts are compared. */
async function loadRuns(client: Client): Promise<[Run, Run]> {
	const runs = await Promise.all([loadRun(client, 0), loadRun(client, 1)]);
	if (runs.every((run) => run.budget.parts.length)) return runs;
	const hosts = await Promise.all(
		[0, 1].map((run) => client.view("breakdown", run ? { run } : {})),
	);
	runs.forEach((run, i) => {
		const host = hosts[i];
		if (host) run.budget = hostBudgetOf(host);
	});
	return runs;
}

function Card({ letter, run }: { letter: string; run: Run }) {
	const { told, job } = run;
	const gains = !told.only_bounds && (told.step_ns ?? 0) > (told.fixed_step_ns ?? 0);
	const could = gains ? `It could take ${formatNs(told.fixed_step_ns)}.` : "";
	return (
		<section class="compare-card">
			<h3>
				{letter}: {runName(job)} <span class="soft">{runWords(job)}</span>
			</h3>
			<p class="compare-step">
				{told.step_ns ? (
					<>
						A step takes <b>{formatNs(told.step_ns)}</b>.{" "}
						{could}
					</>
				) : (
					"No steps were found."
				)}
			</p>
			<p class="soft">{told.step_ns ? baseOf(told) : ""}</p>
		</section>
	);
}

function Sentence({ a, b, alike }: { a: Diagnosis; b: Diagnosis; alike: boolean }) {
	if (!a.step_ns || !b.step_ns) return <h2>Cannot compare steps: one run has none.</h2>;
	if (!alike)
		return (
			<h2>
				A's step takes <b>{formatNs(a.step_ns)}</b>, B's step{" "}
				<b>{formatNs(b.step_ns)}</b>.
			</h2>
		);
	const faster = b.step_ns < a.step_ns;
	const by = Math.abs(b.step_ns - a.step_ns);
	/* below a tenth of a percent runs are alike: one step differs more from the next */
	if (by < a.step_ns / 1000) return <h2>Both steps take {formatNs(a.step_ns)}.</h2>;
	return (
		<h2>
			B's step takes <b>{formatNs(b.step_ns)}</b> instead of{" "}
			<b>{formatNs(a.step_ns)}</b>:{" "}
			<b class={faster ? "better" : "worse"}>
				{faster
					? `${speedUp(a.step_ns, b.step_ns)} faster`
					: `${speedUp(b.step_ns, a.step_ns)} slower`}
			</b>
			.
		</h2>
	);
}

export function TwoRuns() {
	const { client } = useOpened();
	const loaded = useLoaded(() => loadRuns(client), [client]);
	/* what changed: the command's own words; they may take a replay of the first run */
	const compared = useLoaded(
		() => client.json<{ change: RunChange | null }>("compare"),
		[client],
	);
	const change = compared.value?.change ?? null;
	const table = useView((view) => view.own.table) || TABLES[0]?.id || "";
	const jobs = useMemo<[Job, Job] | null>(
		() => loaded.value && [loaded.value[0].job, loaded.value[1].job],
		[loaded.value],
	);

	if (!loaded.value || !jobs)
		return (
			<div class="page">
				{loaded.state === "failed" ? (
					<Failed error={loaded.error} />
				) : (
					<Loading what="Comparing both runs …" />
				)}
			</div>
		);
	const [a, b] = loaded.value;
	const changes = changesOf(a.budget, b.budget);
	return (
		<div class="page">
			<div class="compare-sentence">
				<Sentence a={a.told} b={b.told} alike={change?.comparable !== false} />
			</div>
			<Unlike a={a.job} b={b.job} change={change} />
			{change ? (
				<FindingChanges a={a.told} b={b.told} change={change} />
			) : compared.state === "failed" ? (
				<Failed error={compared.error} />
			) : (
				<Loading what="Comparing the findings …" />
			)}
			<AlignedRuns jobs={jobs} />
			<div class="compare-cards">
				<Card letter="A" run={a} />
				<Card letter="B" run={b} />
			</div>
			{changes.length ? (
				<StepChange
					changes={changes}
					names={[runName(a.job), runName(b.job)]}
				/>
			) : null}
			<Chips
				label="What is compared"
				chips={TABLES}
				chosen={table}
				onChoose={(id) => store.setOwn({ table: id })}
				strong
			/>
			<div class="compare-table">
				<JoinedTable key={table} table={table} />
			</div>
		</div>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - the first tab: how long a step takes, what it could take, what to change.
 */
import type { Diagnosis, TableDocument } from "../../core/types";
import { useEffect, useState } from "preact/hooks";
import { useLoaded, useOpened, useWork } from "../../core/context";
import { store, useView } from "../../core/store";
import { WorkBar } from "../../parts/state";
import { Terms } from "../../parts/tips";
import type { Tab } from "../tab";
import { AccountBar } from "./account";
import { BudgetBar } from "./budget";
import { Doubts } from "./doubts";
import { FindingCard } from "./finding";
import { fallsOf, fixOf, isFix, openShare, recordedSteps, sameSet, warnedFixes } from "./model";
import { useFlags } from "./places";
import { QualityLine } from "./quality-line";
import { NoSteps, Sentence } from "./sentence";
import { useWhatIf } from "./use-what-if";
import "./verdict.css";
import { Waterfall } from "./waterfall";

/* Below this share nothing is looked for: what the closing line says. */
const LEAST_PERCENT = 1;

/* Unticked fixes stand in the address: a link shows the same set. */
function useFixes(told: Diagnosis): [Set<string>, (fix: string) => void] {
	const own = useView((view) => view.own.fix);
	const on = !own ? warnedFixes(told) : new Set(own.split(",").filter(fixNamed));
	return [
		on,
		(fix) => {
			const next = new Set(on);
			if (!next.delete(fix)) next.add(fix);
			const same = sameSet(next, warnedFixes(told));
			store.setOwn({ fix: same ? "" : [...next].join(",") || "none" });
		},
	];
}

function fixNamed(fix: string): boolean {
	return fix !== "" && fix !== "none";
}

function nothingElse(cards: number): string {
	return `Nothing ${cards ? "else " : ""}above ${LEAST_PERCENT} % of the step was found.`;
}

/* Time that no rule explains, without a figure of what can be saved. */
function isOpen(finding: Diagnosis["findings"][number]): boolean {
	return finding.rule === "unexplained-time" && finding.cost_ns === null;
}

function Findings({ told, on }: { told: Diagnosis; on: Set<string> }) {
	const flags = useFlags(told.findings.length > 0);
	const { account } = told;
	/* as of the command: next to it everything else is small */
	const mostlyOpen = account && account.unexplained_ns > account.step_ns / 2;
	const cards = told.findings.map((finding, i) => ({ finding, number: i + 1 }));
	const warned = cards.filter(({ finding }) => finding.level === "warning");
	const open = cards.filter(({ finding }) => isOpen(finding));
	const small = cards.filter(
		({ finding }) => finding.level !== "warning" && !isOpen(finding),
	);
	const card = ({ finding, number }: (typeof cards)[number]) => (
		<FindingCard
			key={number}
			number={number}
			finding={finding}
			told={told}
			flags={flags}
			off={isFix(finding) && !on.has(fixOf(finding))}
		/>
	);

	return (
		<>
			{(mostlyOpen ? [...open, ...warned] : [...warned, ...open]).map(card)}
			{small.length ? (
				<h3 class="smaller">
					<Terms text="Other findings" />
				</h3>
			) : null}
			{small.map(card)}
			{told.step_ns ? (
				<p class="nothing-else">
					{openShare(told.account) ? "" : nothingElse(cards.length)}
					{told.next ? ` What is left: ${told.next}.` : ""}
				</p>
			) : null}
		</>
	);
}

function Told({ told, rank }: { told: Diagnosis; rank: number | null }) {
	const [on, toggle] = useFixes(told);
	const { shown, busy, error } = useWhatIf(told, on, rank);
	const all = sameSet(on, warnedFixes(told));
	const more = useMore();
	const falls = fallsOf(told, shown, on);

	if (!told.step_ns)
		return (
			<>
				<NoSteps />
				{told.findings.length ? <Findings told={told} on={on} /> : null}
			</>
		);
	return (
		<>
			<Sentence told={told} shown={shown} all={all} busy={busy} more={more} />
			{error ? (
				<p class="bad" role="alert">{`Could not compute this selection: ${error}`}</p>
			) : null}
			{falls.length ? (
				<Waterfall
					told={told}
					shown={shown}
					falls={falls}
					busy={busy}
					toggle={toggle}
				/>
			) : null}
			<AccountBar account={shown.account ?? told.account} busy={busy} />
			<BudgetBar rank={rank} step={told.step_ns} />
			<Findings told={told} on={on} />
		</>
	);
}

function cellOf(table: TableDocument, row: number, column: string) {
	return table.rows[row]?.[table.columns.findIndex((one) => one.name === column)] ?? null;
}

/* One rank of many looks like a whole job, so the page says that it is not. */
function useMissingRanks(): string | null {
	const { client, job } = useOpened();
	const files = useLoaded(() => client.view("files"), [client]);
	const world = files.value ? cellOf(files.value, 0, "world_size") : null;
	const have = job.files.filter((file) => !file.problem).length;
	if (typeof world !== "number" || world <= have) return null;
	const open = `Only ${have} of ${world} ranks ${have === 1 ? "is" : "are"}`;
	return `${open} open. To see which rank waits for which, open all of them.`;
}

/* What the figures leave out. */
function useMore(): string[] {
	const missing = useMissingRanks();
	const step = useView((view) => view.step);
	const rank = useView((view) => view.rank);
	const said = missing ? [missing] : [];
	if (rank !== null) said.push(`Only rank ${rank}.`);
	if (step !== null) said.push("The verdict covers all steps, not only the selected one.");
	return said;
}

function Verdict() {
	const { client, job } = useOpened();
	const rank = useView((view) => view.rank);
	const told = useLoaded(() => client.diagnosis({ rank }), [rank]);
	const [slow, wait] = useState(false);
	const work = useWork(told.state === "loading");

	useEffect(() => {
		const timer = setTimeout(() => wait(true), 300);
		return () => clearTimeout(timer);
	}, []);

	return (
		<div class="page">
			<div
				class={
					told.state === "loading" && told.value
						? "verdict stale"
						: "verdict"
				}
			>
				{told.state === "failed" ? (
					<p
						class="bad"
						role="alert"
					>{`Could not compute the verdict: ${told.error}`}</p>
				) : null}
				{told.value ? <Doubts told={told.value} /> : null}
				{told.value ? (
					<Told key={`${rank}`} told={told.value} rank={rank} />
				) : told.state === "loading" ? (
					<p class="sentence sentence-wait" role="status">
						{slow ? `${recordedSteps(job)} Computing the verdict …` : "\u00a0"}
						{work ? <WorkBar work={work} /> : null}
					</p>
				) : null}
				{told.value ? <QualityLine told={told.value} /> : null}
			</div>
		</div>
	);
}

export const verdictTab: Tab = { id: "verdict", title: "Verdict", component: Verdict };

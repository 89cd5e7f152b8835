/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: ranks: stragglers, waits, clock offsets.
 */
import type { Cell, Diagnosis, Finding } from "../../core/types";
import { useLoaded, useOpened } from "../../core/context";
import { formatNs } from "../../core/format";
import { store, useView } from "../../core/store";
import { Chips } from "../../parts/chips";
import { ranksOf } from "../../parts/scope";
import { TableView } from "../../parts/table-view";
import type { Tab } from "../tab";
import { savedRange } from "../verdict/model";
import { RankBars } from "./bars";
import { PairsMap } from "./pair-map";
import "./ranks.css";
import { StepsMap } from "./step-map";

const PARTS = [
	{ id: "stragglers", title: "Stragglers", about: "Ranks that hold the others up, and why" },
	{ id: "pairs", title: "Who waits for whom", about: "Waits in collectives, rank by rank" },
	{ id: "ranks", title: "Side by side", about: "What each rank did, mean per step" },
	{ id: "imbalance", title: "Load", about: "How unevenly the work is spread over the ranks" },
	{ id: "idle-together", title: "All ranks idle", about: "When no rank had work, and why" },
	{
		id: "clocks",
		title: "Clocks",
		about: "Clock offsets between ranks, and their error",
	},
];

/* Rows of the tables below the map; few ranks are stragglers. */
const LINES: Record<string, number> = { stragglers: 4, "idle-together": 5 };
const OTHER_LINES = 10;

/* The finding that stands for late ranks: a straggler's own, else the first of the verdict. */
function findingOf(told: Diagnosis | null): { own: boolean; finding: Finding } | null {
	const warned = told?.findings.filter((one) => one.level === "warning" && one.cost_ns) ?? [];
	const own = warned.find((one) => one.rule === "straggler");
	const finding = own ?? warned[0];
	return finding ? { own: finding === own, finding } : null;
}

/* The verdict's saving, and why it is another one without the fixes above it. */
function Saving({ finding, only }: { finding: Finding; only: boolean }) {
	const [all, alone] = [formatNs(finding.cost_ns), formatNs(finding.alone_ns)];
	const saving = savedRange(finding, only) ?? all;
	return (
		<>
			{`In the verdict its fix saves ${saving} per step`}
			{finding.alone_ns === null || all === alone
				? "."
				: `, with the fixes above it in place; on its own, ${alone}.`}
		</>
	);
}

/* What the job gains if those that arrive last were on time: the replay's answer. */
function OnTime({ who, told }: { who: string; told: Diagnosis }) {
	const { client } = useOpened();
	const shown = useLoaded(() => client.whatIf(["straggler"]), [client]).value;
	const [step, fixed] = [told.step_ns ?? 0, shown?.fixed_step_ns ?? null];
	if (!step || fixed === null) return null;
	/* three digits are what people see */
	const [from, to] = [formatNs(step), formatNs(fixed)];
	return (
		<>
			{from === to
				? `If ${who} were on time, a step would still take ${from}`
				: `If ${who} were on time, a step would take ${to} instead of ${from}`}
			{": the other hosts are late, too. "}
		</>
	);
}

/* Of many late ranks the sentence names these, and tells the causes of the first ones. */
const MOST_NAMED = 8;
const MOST_TOLD = 3;

/* The stragglers in a sentence, as the verdict has it, or why nobody is one. */
function Sentence() {
	const { client } = useOpened();
	const loaded = useLoaded(() => client.view("stragglers"), [client]);
	const told = useLoaded(() => client.diagnosis(), [client]).value;
	const table = loaded.value;
	const at = (name: string) =>
		table?.columns.findIndex((column) => column.name === name) ?? -1;
	const row = table?.rows[0];
	if (!table) return <p class="ranks-sentence">{"\u00a0"}</p>;
	if (!row)
		return (
			<p class="ranks-sentence">
				No rank holds the others up.{" "}
				<span class="soft">{table.notes.join(" ")}</span>
			</p>
		);
	const late = table.rows.filter((one) => one[at("rank")] !== null);
	const causeOf = (one: Cell[]) => `${String(one[at("cause")] ?? "")}.`;
	if (late.length < 1) {
		const cause = causeOf(row);
		return <p class="ranks-sentence">{cause.charAt(0).toUpperCase() + cause.slice(1)}</p>;
	}
	const several = late.length > 1;
	const names = late.slice(0, MOST_NAMED).map((one) => one[at("rank")]);
	const rest = late.length > names.length ? ` and ${late.length - names.length} more` : "";
	const who = `Rank${several ? "s" : ""} ${names.join(", ")}${rest}`;
	const each = (one: Cell[]) => `rank ${one[at("rank")]}: ${causeOf(one)} `;
	const why = several ? late.slice(0, MOST_TOLD).map(each).join("") : `${causeOf(row)} `;
	const found = findingOf(told);
	/* the verdict found that the job gains little without the late rank */
	if (told && !found?.own)
		return (
			<p class="ranks-sentence">
				{`${who} ${several ? "arrive" : "arrives"} last: ${why}`}
				<OnTime who={several ? "they" : "it"} told={told} />
				{found ? `The verdict: ${found.finding.title}.` : ""}
			</p>
		);
	return (
		<p class="ranks-sentence">
			{`${who} ${several ? "hold" : "holds"} the others up: ${why}`}
			{found ? <Saving finding={found.finding} only={told?.only_bounds ?? false} /> : null}
		</p>
	);
}

function Ranks() {
	const { job } = useOpened();
	const part = useView((view) => view.own.view) || "stragglers";
	const alone = ranksOf(job).length < 2;
	return (
		<div class="page ranks">
			{alone ? (
				<p class="ranks-sentence">
					Only one rank is open, so there is nothing to compare it
					with. Open the files of all ranks together.
				</p>
			) : (
				<Sentence />
			)}
			{alone ? null : <RankBars />}
			<StepsMap />
			{alone ? null : (
				<>
					<Chips
						label="Parts of this tab"
						chips={PARTS}
						chosen={part}
						onChoose={(id) => store.setOwn({ view: id })}
						strong
					/>
					<div class="ranks-part">
						{part === "pairs" ? (
							<PairsMap />
						) : (
							<TableView
								key={part}
								view={part}
								id={part}
								lines={LINES[part] ?? OTHER_LINES}
							/>
						)}
					</div>
				</>
			)}
		</div>
	);
}

export const ranksTab: Tab = { id: "ranks", title: "Ranks", component: Ranks };

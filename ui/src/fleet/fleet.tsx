/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.tsx - the page of a store: what all runs lose, and who is slow in several of them.
 */
import type { Cell, TableDocument } from "../core/types";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Client } from "../core/client";
import { useLoaded } from "../core/context";
import { formatPercent } from "../core/format";
import { plural } from "../core/words";
import { Chips } from "../parts/chips";
import { writeCsv } from "../parts/csv";
import { arrange } from "../parts/rows";
import { Failed, Loading } from "../parts/state";
import { Table } from "../parts/table";
import { Tips } from "../parts/tips";
import { ThemeButton } from "../shell/header";
import {
	CHANGES,
	cellOf,
	DAYS,
	type Draft,
	drawnOf,
	type FleetAnswer,
	formatGpu,
	LATE,
	LOSSES,
	numberOf,
	RUNS,
	seriesOf,
} from "./model";
import { AllSeries } from "./series";
import { addressOf } from "./stored";
import "../shell/shell.css";
import "./fleet.css";

/* What the server asks for at most: store/fleet.h. */
const NEWEST = 10_000;

function useFleet(client: Client, question: string, label = "") {
	return useLoaded(async () => {
		const text = await client.text(`fleet/${question}`, { label });
		const answer = JSON.parse(text) as FleetAnswer;
		if (answer.error || !answer.table) throw new Error(answer.error ?? "no answer");
		return { ...answer, table: answer.table };
	}, [client, question, label]);
}

interface Part {
	client: Client;
	question: string;
	label?: string;
	lines: number;
	empty: string;
	drafts: Draft[];
	notes?: (table: TableDocument) => string[];
	onRow?: (row: Cell[]) => void;
	children?: ComponentChildren;
}

function FleetTable(props: Part) {
	const { client, question, label = "", drafts, onRow } = props;
	const loaded = useFleet(client, question, label);
	const table = loaded.value?.table;
	const drawn = useMemo(() => (table ? drawnOf(table, drafts) : null), [table, drafts]);
	if (!table || !drawn)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Asking the store …" />
		);
	const { columns, rows } = drawn;
	const csv = (order: string, filter: string) => {
		const names = columns.map((column) => column.name);
		const heads = columns.map(({ name, title }) => ({
			name: name.endsWith("_s") ? (title ?? name) : name,
		}));
		const found = arrange(rows, names, order, filter);
		return Promise.resolve(
			writeCsv(
				heads,
				found.map((index) => rows[index] ?? []),
			),
		);
	};
	return (
		<Table
			label={question}
			columns={columns}
			rows={rows}
			lines={props.lines}
			empty={props.empty}
			notes={props.notes?.(table) ?? []}
			csv={csv}
			csvAbout="The rows as they are shown"
			{...(onRow ? { onRow } : {})}
		>
			{props.children}
		</Table>
	);
}

function Lead({ client }: { client: Client }) {
	const loaded = useFleet(client, "total");
	const total = loaded.value?.table;
	if (!total)
		return loaded.state === "failed" ? (
			<>
				<h1>Runs of a store</h1>
				<Failed error={loaded.error} />
			</>
		) : (
			<h1>Asking the store …</h1>
		);
	const n = (name: string) => numberOf(total, 0, name);
	const day = (name: string) => String(cellOf(total, 0, name) ?? "");
	const span = n("days") > 1 ? `${day("first_day")} to ${day("last_day")}` : day("last_day");
	return (
		<>
			<h1>
				{plural(n("runs"), "run")} lost {formatGpu(n("lost_s"))} of{" "}
				{formatGpu(n("recorded_s"))} recorded (
				{formatPercent(n("lost_percent"))}).
			</h1>
			<p class="soft">
				{plural(n("jobs"), "job")}, {plural(n("days"), "day")}: {span}. Lost is
				what the findings cost per step and rank × ranks × recorded steps. Jobs
				train longer than they record: nothing is extrapolated.
			</p>
		</>
	);
}

function Losses({ client }: { client: Client }) {
	const [label, choose] = useState("");
	const labels = useFleet(client, "labels").value?.table;
	const keys = labels?.rows.map((row) => String(row[0])) ?? [];
	const chips = [
		{ id: "", title: "all runs" },
		...keys.map((key) => ({ id: key, title: `by ${key}` })),
	];
	const drafts = useMemo(
		() =>
			label
				? LOSSES.map((draft) =>
						draft.name === "value" ? { ...draft, title: label } : draft,
					)
				: LOSSES.filter((draft) => draft.name !== "value"),
		[label],
	);
	return (
		<FleetTable
			client={client}
			question="losses"
			label={label}
			lines={12}
			drafts={drafts}
			empty="No run has a finding that costs time."
			notes={() => ["GPU time of the recorded steps; the findings of a run add up."]}
		>
			{keys.length ? (
				<Chips label="Group by label" chips={chips} chosen={label} onChoose={choose} />
			) : null}
		</FleetTable>
	);
}

function Steps({ client }: { client: Client }) {
	const loaded = useFleet(client, "series");
	const answer = loaded.value;
	const all = useMemo(
		() => (answer ? seriesOf(answer.table, answer.changes ?? []) : []),
		[answer],
	);
	if (!answer)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Asking the store …" />
		);
	const changes = answer.changes?.length ?? 0;
	return (
		<>
			<p class="soft">
				Median step of each run, in the order in which they started.{" "}
				{changes
					? `${plural(changes, "change")} of the level by 3 % or more, marked by a line.`
					: "No job changed its level by 3 % or more for three runs."}
				{answer.table.rows.length >= NEWEST ? " The newest 10,000 runs are shown." : ""}
			</p>
			<AllSeries all={all} />
		</>
	);
}

/* A run is another page, which Back leads away from. */
function openRow(row: Cell[]): void {
	location.href = addressOf(String(row[RUNS.findIndex(({ name }) => name === "run_id")]));
}

const runNotes = (table: TableDocument) => [
	"Click a run, or press Enter on it, to open its traces.",
	...(table.rows.length >= NEWEST ? ["The newest 10,000 runs are shown."] : []),
];

/* Looked for when somebody wants to know: the steps of weeks are read, and others wait. */
function Changes({ client }: { client: Client }) {
	const [wanted, want] = useState(false);
	if (!wanted)
		return (
			<p>
				<button type="button" class="button" onClick={() => want(true)}>
					Look through live numbers
				</button>
			</p>
		);
	return (
		<FleetTable
			client={client}
			question="changes"
			lines={10}
			drafts={CHANGES}
			empty="No change: the store has no live numbers, or the steps kept their level."
		/>
	);
}

/* All questions but the first. */
function Parts({ client }: { client: Client }) {
	return (
		<>
			<h2>GPU time lost by cause</h2>
			<Losses client={client} />
			<h2>Per day</h2>
			<FleetTable
				client={client}
				question="days"
				lines={8}
				drafts={DAYS}
				empty="No days."
			/>
			<h2>Steps over time</h2>
			<Steps client={client} />
			<h2>Changes of running jobs</h2>
			<Changes client={client} />
			<h2>Late in several runs</h2>
			<FleetTable
				client={client}
				question="late"
				lines={10}
				drafts={LATE}
				empty="No GPU is late in two or more runs, or hosts were not recorded."
			/>
			<h2>Runs</h2>
			<FleetTable
				client={client}
				question="runs"
				lines={16}
				drafts={RUNS}
				empty="No runs."
				notes={runNotes}
				onRow={openRow}
			/>
		</>
	);
}

export function Fleet({ client }: { client: Client }) {
	const total = useFleet(client, "total");
	const store = total.value?.store;
	return (
		<div class="frame fleet-frame">
			<header class="header">
				<strong class="product">stepscope</strong>
				<span class="run soft">Fleet {store ? `· ${store}` : ""}</span>
				<span class="spring" />
				<ThemeButton />
			</header>
			<main class="fleet" tabIndex={-1}>
				<Lead client={client} />
				{total.state === "failed" ? null : <Parts client={client} />}
			</main>
			<Tips />
		</div>
	);
}

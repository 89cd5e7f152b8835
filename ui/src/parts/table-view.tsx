/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table-view.tsx - shows a view of the core as a table, in the scope of the status bar.
 */
import type { Job } from "../core/client";
import type { Cell, TableDocument, ViewOffer } from "../core/types";
import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { type Client, type Parameters, targetOf } from "../core/client";
import { useLoaded, useOpened } from "../core/context";
import { formatCount } from "../core/format";
import { store, useView, type View } from "../core/store";
import { plural } from "../core/words";
import { Basis } from "./basis";
import { Chips } from "./chips";
import { hasPlaces, showRow } from "./place";
import {
	columnsOf,
	hasSpread,
	MOST_OF_RANKS,
	MOST_ROWS,
	ranksOf,
	scopeOf,
	usualOrder,
} from "./scope";
import { Failed, Loading } from "./state";
import { Table } from "./table";
import type { Total } from "./table-row";

export interface TableViewProps {
	view: string;
	/* Two tables of one tab need two ids: what was chosen is kept under it. */
	id?: string;
	/* Fixed parameters, before those of the scope. */
	parameters?: Parameters;
	/* The drawer knows them, too, and can ask for the table again. */
	told?: boolean;
	/* Where the view has groups: the one to begin with. */
	group?: string;
	lines?: number;
	/* A sentence above it. */
	summary?: string;
	/* Columns that would mislead here. */
	without?: string[];
	/* Instead of details in the drawer; false: those after all. */
	onRow?: (row: Cell[], document: TableDocument) => boolean;
	children?: ComponentChildren;
}

/* What the user chose for a table, out of the address. */
export interface Choice {
	group: string;
	order: string;
	filter: string;
	shown: string[] | null;
	each: boolean;
}

export function choiceOf(view: View, id: string, group = ""): Choice {
	const own = (name: string) => view.own[id ? `${id}.${name}` : name] ?? "";
	return {
		group: own("group") || group,
		order: own("sort"),
		filter: own("filter"),
		shown: own("cols")
			? own("cols")
					.split(",")
					.filter((name) => name !== "none")
			: null,
		each: view.own.ranks === "each",
	};
}

/* Tables that are longer than what comes at once are ordered and filtered by the core. */
async function load(
	client: Client,
	name: string,
	asked: Parameters,
	choice: Choice,
): Promise<{ document: TableDocument; whole: TableDocument }> {
	const whole = await client.view(name, asked);
	const cut = whole.rows.length < whole.row_count;
	if (!cut || (!choice.order && !choice.filter)) return { document: whole, whole };
	const sort = choice.order || asked.sort;
	const parameters = { ...asked, sort, name: choice.filter };
	return { document: await client.view(name, parameters), whole };
}

/* The sums of all rows, and of those that the filter leaves: both are the core's. */
function useTotals(
	client: Client,
	name: string,
	ready: { whole: TableDocument; asked: Parameters } | null,
	filter: string,
): Total[] {
	const wanted = filter.trim();
	const found = useLoaded(async () => {
		if (!wanted || !ready?.whole.totals) return null;
		const parameters = { ...ready.asked, name: wanted, top: 1 };
		return { wanted, table: await client.view(name, parameters) };
	}, [client, name, ready?.whole, wanted]).value;
	const shown = found?.wanted === wanted ? found.table : null;
	const whole = ready?.whole;
	return useMemo(() => {
		if (!whole?.totals || whole.row_count < 2) return [];
		const all = { label: `total of ${plural(whole.row_count, "row")}`, cells: whole.totals };
		if (!shown) return [all];
		const label = `shown: ${plural(shown.row_count, "row")}`;
		return [{ label, cells: shown.totals ?? [] }, all];
	}, [whole, shown]);
}

const SPREADS = [
	{ id: "", title: "median of ranks", about: "One row; min and max are under Columns" },
	{ id: "each", title: "each rank", about: "One row per rank" },
];

function Groups(props: {
	job: Job;
	view: View;
	offer: ViewOffer;
	choice: Choice;
	set: (change: Record<string, string>) => void;
}) {
	const groups = props.offer.groups.map((name) => ({ id: name, title: `by ${name}` }));
	return (
		<>
			{groups.length > 1 ? (
				<Chips
					label="Group rows"
					chips={groups}
					chosen={props.choice.group || (groups[0]?.id ?? "")}
					onChoose={(group) =>
						props.set({ group, sort: "", cols: "" })
					}
				/>
			) : null}
			{hasSpread(props.job, props.view, props.offer, props.choice.group) ? (
				<Chips
					label="Ranks"
					chips={SPREADS}
					chosen={props.choice.each ? "each" : ""}
					onChoose={(ranks) => {
						props.set({ sort: "", cols: "" });
						store.setOwn({ ranks });
					}}
				/>
			) : null}
		</>
	);
}

/* The document of a table as the address has it. */
export function useTable(name: string, id: string, group: string, fixed: Parameters = {}) {
	const { client, job } = useOpened();
	const view = useView((all) => all);
	const choice = choiceOf(view, id, group);
	const [again, retry] = useState(0);
	const cut = useRef(false);
	const asks = cut.current ? `${choice.order} ${choice.filter}` : "";
	const loaded = useLoaded(async () => {
		const offer = await client.offer(name);
		if (!offer) throw new Error(`This version of stepscope has no view “${name}”.`);
		const asked = { ...scopeOf(job, view, offer, choice.group, choice.each), ...fixed };
		const { document, whole } = await load(client, name, asked, choice);
		cut.current =
			document.row_count > document.rows.length || (cut.current && asks !== "");
		const one = view.rank !== null || ranksOf(job).length < 2;
		const columns = columnsOf(document, offer).map((column) =>
			one && column.name === "rank" ? { ...column, detail: true } : column,
		);
		return { offer, asked, document, whole, columns };
	}, [
		client,
		name,
		view.rank,
		view.step,
		choice.group,
		choice.each,
		again,
		targetOf("", fixed),
		asks,
	]);
	return { client, job, view, choice, loaded, retry: () => retry((count) => count + 1) };
}

const OF_JOB = "This table covers the whole job; the selected step does not filter it.";

function notesOf(document: TableDocument, asked: Parameters): string[] {
	if (document.rows.length >= document.row_count) return [...document.notes];
	const shown = asked.sort
		? `The first ${formatCount(MOST_OF_RANKS)} of ${formatCount(document.row_count)} rows`
		: `The first ${formatCount(MOST_ROWS)} rows per rank`;
	return [...document.notes, `${shown} are shown; the CSV has all of them.`];
}

export function TableView(props: TableViewProps) {
	const id = props.id ?? "";
	const { client, job, view, choice, loaded, retry } = useTable(
		props.view,
		id,
		props.group ?? "",
		props.parameters,
	);
	const [said, say] = useState("");
	const ready = loaded.value;
	const set = (change: Record<string, string>) =>
		store.setOwn(
			Object.fromEntries(
				Object.entries(change).map(([name, value]) => [
					id ? `${id}.${name}` : name,
					value,
				]),
			),
		);
	const notes = ready ? notesOf(ready.document, ready.asked) : [];
	const totals = useTotals(client, props.view, ready, choice.filter);
	if (ready?.offer.of_job && view.step !== null) notes.unshift(OF_JOB);

	if (!ready)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} retry={retry} />
		) : (
			<Loading what={`Loading ${props.view}…`} />
		);
	const { document, offer, asked } = ready;
	const columns = ready.columns.filter(
		({ name, spread }) => !props.without?.includes(spread?.stem ?? name),
	);
	/* Of each rank the core puts rank after rank; people want the most first. */
	const own = !offer.of_job && !offer.of_snapshot;
	const several = own && view.rank === null && ranksOf(job).length > 1;
	const usual = several ? usualOrder(document, offer) : "";
	const selected = view.selected;
	const marked =
		selected?.kind === "row" &&
		selected.view === props.view &&
		selected.group === choice.group
			? selected.index
			: null;
	const show = async (row: Cell[]) =>
		say((await showRow(client, job, props.view, document, row)) ?? "");
	/* The drawer asks for the table again: not one with parameters that it does not know,
	 * and not one of which the core chose the rows. */
	const cut = document.rows.length < document.row_count;
	const chosen = cut && (choice.order || choice.filter);
	const open = (row: Cell[], index: number) => {
		const { group } = choice;
		if (props.onRow?.(row, document)) return;
		if (!props.told && (props.parameters || chosen)) void show(row);
		else store.set({ selected: { kind: "row", view: props.view, group, index } });
	};
	return (
		<>
			{loaded.state === "failed" ? (
				<Failed error={loaded.error} retry={retry} />
			) : null}
			<p class="soft summary">
				{props.summary}
				{props.summary && document.basis ? " · " : ""}
				<Basis of={document} />
			</p>
			<Table
				label={props.view}
				columns={columns}
				rows={document.rows}
				rowCount={document.row_count}
				totals={totals}
				notes={said ? [said, ...notes] : notes}
				empty={offer.empty}
				order={choice.order || usual}
				onOrder={(sort) => set({ sort })}
				filter={choice.filter}
				onFilter={(filter) => set({ filter })}
				shown={choice.shown ?? []}
				onShown={(names) => set({ cols: names.join(",") || "none" })}
				marked={marked}
				onRow={open}
				{...(!offer.of_snapshot && hasPlaces(document, offer) ? { onShow: show } : {})}
				csv={(sort, name) =>
					client.text(`view/${props.view}`, {
						...asked,
						top: 0,
						sort,
						name,
						format: "csv",
					})
				}
				{...(props.lines ? { lines: props.lines } : {})}
			>
				{props.children}
				<Groups
					job={job}
					view={view}
					offer={offer}
					choice={choice}
					set={set}
				/>
			</Table>
		</>
	);
}

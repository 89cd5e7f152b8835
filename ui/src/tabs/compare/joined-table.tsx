/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joined-table.tsx - a view of both runs, row by row, largest change first.
 */
import type { Client, Job } from "../../core/client";
import type { Cell, TableDocument } from "../../core/types";
import { useMemo, useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { store, useView } from "../../core/store";
import { cellReader, showRow } from "../../parts/place";
import { scopeOf } from "../../parts/scope";
import { Failed, Loading } from "../../parts/state";
import { Table } from "../../parts/table";
import { byChange, columnsOf, mainStem } from "./model";

interface Joined {
	id: string;
	title: string;
	view: string;
	group?: string;
	keys: string[]; /* what rows are about */
	/* Figures that stand there at once; the first that the table has gives the order. */
	stems: string[];
}

export const TABLES: Joined[] = [
	{
		id: "operators",
		title: "Operators",
		view: "operators",
		keys: ["name"],
		stems: ["device_self_ns", "host_self_ns"],
	},
	{
		id: "kernels",
		title: "Kernels",
		view: "kernels",
		keys: ["kernel"],
		stems: ["total_ns", "calls"],
	},
	{
		id: "communication",
		title: "Communication",
		view: "communication",
		keys: ["collective", "group"],
		stems: ["total_ns", "exposed_ns"],
	},
	{
		id: "gaps",
		title: "Gaps",
		view: "gaps",
		group: "cause",
		keys: ["cause"],
		stems: ["idle_ns", "gaps"],
	},
	{
		id: "memory",
		title: "Memory",
		view: "memory",
		keys: ["device"],
		stems: ["peak_allocated_bytes", "peak_reserved_bytes"],
	},
	{
		id: "phases",
		title: "Phases",
		view: "phases",
		keys: ["phase"],
		stems: ["device_ns", "host_ns"],
	},
	{
		id: "steps",
		title: "Steps",
		view: "steps",
		keys: ["step"],
		stems: ["dur_ns", "device_events"],
	},
];

/* The answer of the route compare. */
interface Comparison {
	tables: TableDocument[];
}

/* Rows that come at once. */
const MOST_ROWS = 5000;
const LINES = 16;

/* The same row of the first run's table, by everything that is no figure; -1: it has none. */
function indexIn(whole: TableDocument, joined: TableDocument, row: Cell[]): number {
	const own = cellReader(joined, row);
	const common = joined.columns.filter(({ name }) =>
		whole.columns.some((column) => column.name === name),
	);
	return whole.rows.findIndex((other) => {
		const read = cellReader(whole, other);
		return common.every(({ name }) => read(name) === own(name));
	});
}

/* Opens the page of a row; of what only the second run has the page of its name there. */
async function openRow(
	client: Client,
	job: Job,
	{ view, group = "", keys }: Joined,
	joined: TableDocument,
	row: Cell[],
): Promise<string> {
	const offer = await client.offer(view);
	if (!offer) return "";
	const whole = await client.view(view, scopeOf(job, store.view, offer, group, false));
	const index = indexIn(whole, joined, row);
	const read = cellReader(joined, row);
	const name = read("name") ?? read(keys[0] ?? "");
	if (index >= 0) store.set({ selected: { kind: "row", view, group, index } });
	else if (typeof name === "string")
		store.set({ selected: { kind: "name", name, run: 1 } });
	else return "The first run has no such row.";
	return "";
}

export function JoinedTable({ table }: { table: string }) {
	const { client, job } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const wanted = TABLES.find((one) => one.id === table) ?? TABLES[0];
	const asked = { group: wanted?.group, rank, step };
	const [said, say] = useState("");
	const loaded = useLoaded(async () => {
		const found = await client.json<Comparison>(`compare/${wanted?.view}`, {
			...asked,
			top: MOST_ROWS,
		});
		return found.tables[0] ?? null;
	}, [client, table, rank, step]);
	const document = loaded.value;
	const stems = wanted?.stems ?? [];
	const columns = useMemo(
		() => (document ? columnsOf(document, stems, wanted?.keys ?? []) : []),
		[document],
	);
	const rows = useMemo(
		() => (document ? byChange(document, mainStem(document, stems)) : []),
		[document],
	);

	if (!document)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Comparing the tables of both runs …" />
		);
	return (
		<Table
			label={`${wanted?.title ?? table} of both runs`}
			columns={columns}
			rows={rows}
			rowCount={document.row_count}
			notes={said ? [said, ...document.notes] : document.notes}
			empty="Neither run has any rows."
			lines={LINES}
			onRow={async (row) =>
				wanted && say(await openRow(client, job, wanted, document, row))
			}
			onShow={async (row) =>
				say((await showRow(client, job, table, document, row)) ?? "")
			}
			csv={(sort, name) =>
				client.text(`compare/${wanted?.view}`, {
					...asked,
					top: 0,
					sort,
					name,
					format: "csv",
				})
			}
		/>
	);
}

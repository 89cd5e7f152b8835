/*
 * joined-table.tsx - a view of both runs, row by row, by what changed most.
 */
import { useMemo } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import type { TableDocument } from "../../core/types";
import { Failed, Loading } from "../../parts/state";
import { Table } from "../../parts/table";
import { byChange, columnsOf, mainStem } from "./model";

interface Joined {
	id: string;
	title: string;
	view: string;
	group?: string;
	/* Figures that stand there at once; the first that the table has gives the order. */
	stems: string[];
}

export const TABLES: Joined[] = [
	{ id: "operators", title: "Operators", view: "operators", stems: ["device_total_ns", "host_self_ns", "calls"] },
	{ id: "kernels", title: "Kernels", view: "kernels", stems: ["total_ns", "calls", "mean_ns"] },
	{ id: "communication", title: "Communication", view: "communication", stems: ["total_ns", "exposed_ns", "calls"] },
	{ id: "gaps", title: "Gaps", view: "gaps", group: "cause", stems: ["idle_ns", "gaps"] },
	{ id: "memory", title: "Memory", view: "memory", stems: ["peak_allocated_bytes", "peak_reserved_bytes"] },
	{ id: "phases", title: "Phases", view: "phases", stems: ["device_ns", "host_ns"] },
	{ id: "steps", title: "Steps", view: "steps", stems: ["dur_ns"] },
];

/* Rows that come at once. */
const MOST_ROWS = 5000;
const LINES = 16;

export function JoinedTable({ table }: { table: string }) {
	const { client } = useOpened();
	const wanted = TABLES.find((one) => one.id === table) ?? TABLES[0];
	const loaded = useLoaded(
		() =>
			client.json<TableDocument>(`compare/${wanted?.view}`, {
				group: wanted?.group,
				top: MOST_ROWS,
			}),
		[client, table],
	);
	const document = loaded.value;
	const stems = wanted?.stems ?? [];
	const columns = useMemo(() => (document ? columnsOf(document, stems) : []), [document]);
	const rows = useMemo(
		() => (document ? byChange(document, mainStem(document, stems)) : []),
		[document],
	);

	if (!document)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Joining the tables of both runs …" />
		);
	return (
		<Table
			label={`${wanted?.title ?? table} of both runs`}
			columns={columns}
			rows={rows}
			rowCount={document.row_count}
			notes={document.notes}
			empty="Neither run has any."
			lines={LINES}
		/>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.tsx - the rows of a query, or what is wrong with it.
 */
import type { TableDocument } from "../../core/types";
import { useMemo } from "preact/hooks";
import type { Client } from "../../core/client";
import { formatNs } from "../../core/format";
import { Copy } from "../../parts/copy";
import { writeCsv } from "../../parts/csv";
import { arrange } from "../../parts/rows";
import { Table } from "../../parts/table";
import { asTabs, columnsOf, letterAt, notesOf, placeOf, type SqlAnswer } from "./model";

/* A query and its answer, as they were. */
export interface Answered {
	query: string;
	answer: SqlAnswer;
}

function Problem({ query, answer }: Answered) {
	const { error } = answer;
	if (!error) return null;
	if (error.stopped) return <p class="state">Stopped after {formatNs(answer.seconds * 1e9)}.</p>;
	const place = error.at === null ? "" : placeOf(query, letterAt(query, error.at));
	return (
		<p class="state state-failed" role="alert">
			{place ? <strong>{place}: </strong> : null}
			{error.text}
		</p>
	);
}

function Rows(props: Answered & { client: Client; table: TableDocument }) {
	const { client, query, answer, table } = props;
	const columns = useMemo(() => columnsOf(table), [table]);
	const cut = answer.row_count === null || (answer.row_count ?? 0) > table.rows.length;
	const csv = (order: string, filter: string) => {
		if (cut) return client.text("sql", { query, format: "csv" });
		const names = columns.map((column) => column.name);
		const rows = arrange(table.rows, names, order, filter);
		return Promise.resolve(
			writeCsv(
				table.columns,
				rows.map((index) => table.rows[index] ?? []),
			),
		);
	};
	return (
		<Table
			label="Result"
			columns={columns}
			rows={table.rows}
			rowCount={answer.row_count ?? table.rows.length}
			notes={notesOf(answer)}
			empty="The query has no rows."
			csv={csv}
			csvAbout={cut ? "All rows: runs the query again" : "The rows as they are shown"}
		>
			<span class="soft">{formatNs(answer.seconds * 1e9)}</span>
			<Copy
				label="copy rows"
				title="Copies the rows with tabs between the cells, for a spreadsheet"
				text={() => asTabs(table.columns, table.rows)}
			/>
		</Table>
	);
}

export function Result(props: Answered & { client: Client }) {
	const { answer } = props;
	if (answer.error) return <Problem {...props} />;
	if (!answer.table) return <p class="state">Done; the statement has no rows.</p>;
	return <Rows {...props} table={answer.table} />;
}

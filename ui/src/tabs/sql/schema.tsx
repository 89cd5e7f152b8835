/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.tsx - the tables and their columns; a click puts a name into the query.
 */
import { useState } from "preact/hooks";
import { matcher } from "../../parts/rows";
import type { SqlTable } from "./model";

function Name(props: { name: string; about: string; onInsert: (name: string) => void }) {
	return (
		<button
			type="button"
			class="sql-name mono"
			title={`Insert ${props.name}`}
			onClick={() => props.onInsert(props.name)}
		>
			{props.name}
		</button>
	);
}

function TableEntry(props: {
	table: SqlTable;
	open: boolean;
	onInsert: (name: string) => void;
}) {
	const { table, onInsert } = props;
	return (
		<details open={props.open}>
			<summary class="mono">{table.name}</summary>
			<p class="soft">
				{table.about}.{" "}
				{table.parameters.length ? (
					<>Parameters: {table.parameters.join(", ")}. </>
				) : null}
				<button
					type="button"
					class="button"
					onClick={() => onInsert(table.name)}
				>
					Insert {table.name}
				</button>
			</p>
			<ul>
				{table.columns.map((column) => (
					<li key={column.name}>
						<Name {...column} onInsert={onInsert} />
						<span class="soft sql-type">{column.type}</span>
						<span class="soft">{column.about}</span>
					</li>
				))}
			</ul>
		</details>
	);
}

/* Tables whose own name or column matches; of the latter only those columns. */
function found(tables: SqlTable[], wanted: string): SqlTable[] {
	if (!wanted.trim()) return tables;
	const matches = matcher(wanted);
	return tables.flatMap((table) => {
		if (matches(table.name)) return [table];
		const columns = table.columns.filter(
			({ name, about }) => matches(name) || matches(about),
		);
		return columns.length ? [{ ...table, columns }] : [];
	});
}

export function Schema(props: { tables: SqlTable[]; onInsert: (name: string) => void }) {
	const [wanted, want] = useState("");
	const tables = found(props.tables, wanted);
	return (
		<section class="sql-schema" aria-label="Tables">
			<input
				type="search"
				class="field"
				placeholder="Find a table or column"
				aria-label="Find a table or column"
				value={wanted}
				onInput={(event) => want(event.currentTarget.value)}
			/>
			<div class="sql-tables" tabIndex={0} role="region" aria-label="List of tables">
				{tables.map((table) => (
					<TableEntry
						key={table.name}
						table={table}
						open={wanted.trim() !== ""}
						onInsert={props.onInsert}
					/>
				))}
				{tables.length ? null : (
					<p class="soft">No table or column contains “{wanted}”.</p>
				)}
			</div>
		</section>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-details.tsx - drawer: a table row with all its columns and full names.
 */
import type { Cell, TableDocument } from "../core/types";
import { useLoaded } from "../core/context";
import { formatCell } from "../core/format";
import { type Selection, showOnTimeline } from "../core/store";
import { CopyFacts } from "../places/copy-facts";
import { RowPage } from "../places/row-page";
import { exactly, headingOf, isNumeric, type TableColumn } from "./columns";
import { Copy } from "./copy";
import { titleName } from "./names";
import { cellReader, hasPlace, spotOf } from "./place";
import { Failed, Loading, Nothing } from "./state";
import { useTable } from "./table-view";
import "./row-details.css";

type RowSelection = Extract<Selection, { kind: "row" }>;

/* Of a figure over all ranks: from the least to the most, and who has the most. */
function reachWords(column: TableColumn, columns: TableColumn[], row: Cell[]): string {
	const part = (name: string) => {
		const of = (one: TableColumn) =>
			one.spread?.stem === column.spread?.stem && one.spread?.part === name;
		const found = columns.find(of);
		return found ? (row[found.index] ?? null) : null;
	};
	const least = formatCell(part("min"), column.type);
	const most = formatCell(part("max"), column.type);
	const worst = part("worst");
	if (part("min") === part("max")) return "the same on all ranks";
	return `${least} to ${most}${worst === null ? "" : `, highest on rank ${worst}`}`;
}

function Value(props: { column: TableColumn; columns: TableColumn[]; row: Cell[] }) {
	const { column, row } = props;
	const value = row[column.index] ?? null;
	if (!isNumeric(column)) return <>{exactly(column, value)}</>;
	const more = column.spread
		? reachWords(column, props.columns, row)
		: column.type === "count" || column.type === "number"
			? ""
			: exactly(column, value);
	return (
		<>
			{formatCell(value, column.type)} <span class="soft">{more}</span>
		</>
	);
}

/* What a table over all ranks has once, and what the row has at all. */
function knownOf(columns: TableColumn[], row: Cell[]): TableColumn[] {
	return columns.filter(
		(column) =>
			row[column.index] !== null &&
			(!column.spread || column.spread.part === "median"),
	);
}

/* All that is known but the title. */
export function RowFacts(props: { columns: TableColumn[]; row: Cell[]; title: string }) {
	const { columns, row, title } = props;
	return (
		<dl>
			{knownOf(columns, row)
				.filter((column) => row[column.index] !== title)
				.map((column) => (
					<div key={column.name} title={column.about}>
						<dt>
							{column.type === "percent"
								? `${headingOf(column)} %`
								: headingOf(column)}
						</dt>
						<dd class={isNumeric(column) ? "" : "mono"}>
							<Value column={column} columns={columns} row={row} />
						</dd>
					</div>
				))}
		</dl>
	);
}

const SCOPES = ["rank", "device", "stream", "step"];

/* "rank 1, device 1": what a row stands for if nothing else tells it from the others. */
function scopeTitle(document: TableDocument, row: Cell[]): string {
	const said = (cells: Cell[]) => {
		const read = cellReader(document, cells);
		return SCOPES.flatMap((name) => {
			const value = read(name);
			return typeof value === "number" ? [`${name} ${value}`] : [];
		}).join(", ");
	};
	if (document.columns.some((column) => column.name === "name")) return "";
	const own = said(row);
	return document.rows.some((other) => other !== row && said(other) === own) ? "" : own;
}

/* Not the choice of any table: the selection says which group it is of. */
const ROW_ID = "row";

export function RowDetails({ selected }: { selected: RowSelection }) {
	const { client, job, loaded, retry } = useTable(selected.view, ROW_ID, selected.group);
	const ready = loaded.value;
	const row = ready?.document.rows[selected.index];
	/* no button that leads nowhere */
	const spot = useLoaded(
		async () =>
			ready && row && hasPlace(ready.document, row, ready.offer)
				? spotOf(client, job, selected.view, ready.document, row)
				: null,
		[client, ready, row],
	).value;

	if (loaded.state === "failed") return <Failed error={loaded.error} retry={retry} />;
	if (!ready) return <Loading what="Looking up the row…" />;
	if (!row) return <Nothing>This row is no longer in the table.</Nothing>;
	const texts = knownOf(ready.columns, row).filter((column) => column.type === "text");
	/* what it is about stands behind its device */
	const placed = ready.offer.columns.filter(({ place, detail }) => place === "slice" && !detail);
	const title =
		texts.find((column) => column.name === "name") ??
		texts.find((column) => placed.some((one) => one.name === column.name)) ??
		texts[0];
	const scope = scopeTitle(ready.document, row);
	const place = ready.document.rows.length > 1 ? `, row ${selected.index + 1}` : "";
	const name = scope || String(row[title?.index ?? -1] ?? `${selected.view}${place}`);
	/* the core's own short name stands first */
	const first = String(row[texts[0]?.index ?? -1] ?? "");
	const isShort = first !== "" && name.includes(first.replace(/<.*/, ""));
	const short = titleName(isShort ? first : name);

	return (
		<div class="row-details">
			<header>
				<h2 class="mono">{short}</h2>
				<Copy text={name} label="copy name" />
				<CopyFacts
					title={name}
					facts={knownOf(ready.columns, row).map((column) => [
						column.name,
						row[column.index] ?? null,
					])}
				/>
				{spot ? (
					<button
						type="button"
						class="button"
						onClick={() =>
							showOnTimeline(
								spot.start,
								spot.duration,
								spot.selected,
							)
						}
					>
						Show on timeline
					</button>
				) : null}
			</header>
			{short === name ? null : <p class="mono row-name">{name}</p>}
			<RowFacts columns={ready.columns} row={row} title={name} />
			<RowPage
				offer={ready.offer}
				group={ready.document.group ?? ""}
				read={cellReader(ready.document, row)}
			/>
		</div>
	);
}

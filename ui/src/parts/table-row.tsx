/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table-row.tsx - header and rows of a table.
 */
import type { Cell } from "../core/types";
import { Component } from "preact";
import { type DrawnColumn, exactly, formatChange, formatIn } from "./columns";
import { shortName } from "./names";
import { nextOrder, type Order } from "./rows";
import { tipOf } from "./tips";

export type Style = Record<string, string>;

function sortWord(column: DrawnColumn, order: Order): "ascending" | "descending" | "none" {
	if (order === column.name) return column.numeric ? "descending" : "ascending";
	if (order === `-${column.name}`) return column.numeric ? "ascending" : "descending";
	return "none";
}

const ARROWS = { ascending: "▲", descending: "▼", none: "" };

export function Header(props: {
	columns: DrawnColumn[];
	style: Style;
	order: Order;
	onOrder: (order: Order) => void;
}) {
	return (
		<div class="table-row table-head" role="row" aria-rowindex={1} style={props.style}>
			{props.columns.map((column) => {
				const word = sortWord(column, props.order);
				return (
					<div
						key={column.name}
						role="columnheader"
						class={column.numeric ? "number" : "text"}
						aria-sort={word}
					>
						<button
							type="button"
							{...tipOf(column.heading, column.about)}
							onClick={() =>
								props.onOrder(
									nextOrder(
										props.order,
										column.name,
									),
								)
							}
						>
							{column.heading}
							{column.unit ? (
								<span class="unit">
									{" "}
									{column.unit}
								</span>
							) : null}
							<span class="arrow" aria-hidden="true">
								{ARROWS[word]}
							</span>
						</button>
					</div>
				);
			})}
		</div>
	);
}

function Show({ onShow }: { onShow: () => void }) {
	return (
		<button
			type="button"
			class="row-show"
			tabIndex={-1}
			title="Show on timeline (T)"
			onClick={(event) => {
				event.stopPropagation();
				onShow();
			}}
		>
			timeline →
		</button>
	);
}

/* Arrow and sign tell it without the colour. */
function Change(props: { column: DrawnColumn; value: number; title: string }) {
	const { column, value } = props;
	const arrow = value > 0 ? "▲ " : value < 0 ? "▼ " : "";
	const tone = column.change === "cost" && value ? (value > 0 ? "worse" : "better") : "";
	return (
		<div role="gridcell" class={`number ${tone}`} title={props.title}>
			<span class="figure">
				{arrow}
				{formatChange(column, value)}
			</span>
		</div>
	);
}

function CellOf(props: { column: DrawnColumn; value: Cell; onShow: (() => void) | null }) {
	const { column, value } = props;
	const title = exactly(column, value);
	if (!column.numeric) {
		const text = typeof value === "string" ? shortName(value) : formatIn(column, value);
		const kind = value === null ? "text none" : "text";
		return (
			<div
				role="gridcell"
				class={kind}
				title={title === text ? undefined : title}
			>
				{text}
				{props.onShow ? <Show onShow={props.onShow} /> : null}
			</div>
		);
	}
	if (column.change && typeof value === "number")
		return <Change column={column} value={value} title={title} />;
	const part = column.bar && typeof value === "number" && column.most > 0;
	return (
		<div
			role="gridcell"
			class={value === null ? "number none" : "number"}
			title={title}
		>
			{part ? (
				<span
					class="bar"
					aria-hidden="true"
					style={{
						width: `${(100 * Math.abs(value)) / column.most}%`,
					}}
				/>
			) : null}
			<span class="figure">{formatIn(column, value)}</span>
			{props.onShow ? <Show onShow={props.onShow} /> : null}
		</div>
	);
}

/* Sums below the rows: of those that are shown, of all. */
export interface Total {
	label: string;
	cells: Cell[];
}

/* Stands in all columns before the first sum. */
function Label({ words, room }: { words: string; room: number }) {
	if (room < 1) return null;
	return (
		<div
			role="gridcell"
			class="text"
			aria-colspan={room}
			style={{ gridColumn: `span ${room}` }}
		>
			{words}
		</div>
	);
}

export function Totals(props: {
	totals: Total[];
	columns: DrawnColumn[];
	style: Style;
	firstLine: number;
}) {
	const { totals, columns } = props;
	const summed = (column: DrawnColumn, { cells }: Total) =>
		column.numeric && (cells[column.index] ?? null) !== null;
	if (!totals.some((total) => columns.some((column) => summed(column, total)))) return null;
	return (
		<div class="table-totals" style={{ minWidth: props.style.minWidth ?? "" }}>
			{totals.map((total, i) => (
				<div
					key={total.label}
					class="table-row"
					role="row"
					aria-rowindex={props.firstLine + i}
					style={props.style}
				>
					<Label
						words={total.label}
						room={columns.findIndex((column) => summed(column, total))}
					/>
					{columns
						.slice(columns.findIndex((column) => summed(column, total)))
						.map((column) => (
							<div
								key={column.name}
								role="gridcell"
								class="number"
								title={
									summed(column, total)
										? exactly(
												column,
												total.cells[column.index] ??
													null,
											)
										: undefined
								}
							>
								{summed(column, total)
									? formatIn(
											column,
											total.cells[column.index] ?? null,
										)
									: ""}
							</div>
						))}
				</div>
			))}
		</div>
	);
}

interface RowProps {
	id: string;
	line: number;
	row: Cell[];
	columns: DrawnColumn[];
	style: Style;
	active: boolean;
	marked: boolean;
	onRow: ((line: number) => void) | null;
	onShow: ((line: number) => void) | null;
}

/* While the table scrolls most rows stay as they are. */
export class Row extends Component<RowProps> {
	override shouldComponentUpdate(next: RowProps): boolean {
		const now = this.props;
		return (
			next.id !== now.id ||
			next.row !== now.row ||
			next.columns !== now.columns ||
			next.style !== now.style ||
			next.active !== now.active ||
			next.marked !== now.marked ||
			next.onRow !== now.onRow ||
			next.onShow !== now.onShow
		);
	}

	override render() {
		const { line, row, columns, onRow, onShow } = this.props;
		const words = ["table-row"];
		if (this.props.active) words.push("active");
		if (this.props.marked) words.push("marked");
		if (onRow) words.push("opens");
		const named = columns.find((column) => column.type === "text") ?? columns[0];
		const show = onShow ? () => onShow(line) : null;

		return (
			<div
				id={this.props.id}
				class={words.join(" ")}
				role="row"
				aria-rowindex={line + 2}
				aria-selected={this.props.marked}
				style={this.props.style}
				onClick={onRow ? () => onRow(line) : undefined}
				onDblClick={show ?? undefined}
			>
				{columns.map((column) => (
					<CellOf
						key={column.name}
						column={column}
						value={row[column.index] ?? null}
						onShow={column === named ? show : null}
					/>
				))}
			</div>
		);
	}
}

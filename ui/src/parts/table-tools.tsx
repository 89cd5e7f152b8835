/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table-tools.tsx - the controls above a table: chips, filter, columns, CSV.
 */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatCount } from "../core/format";
import { plural } from "../core/words";
import type { DrawnColumn } from "./columns";
import { Menu } from "./menu";
import { saveAs } from "./save";

/* The browser saves a text as a file. */
export function saveText(name: string, text: string, type: string): void {
	saveAs(new Blob([text], { type }), name);
}

function Columns(props: {
	details: DrawnColumn[];
	shown: string[];
	onShown: (names: string[]) => void;
}) {
	const turn = (name: string, on: boolean) =>
		props.onShown(
			on ? [...props.shown, name] : props.shown.filter((one) => one !== name),
		);
	return (
		<Menu text="Columns ▾">
			{props.details.map((column) => (
				<label key={column.name} title={column.about}>
					<input
						type="checkbox"
						checked={props.shown.includes(column.name)}
						onChange={(event) =>
							turn(
								column.name,
								event.currentTarget.checked,
							)
						}
					/>
					<span>{column.heading}</span>
					<span class="soft">{column.about}</span>
				</label>
			))}
		</Menu>
	);
}

const CSV_ABOUT = "The whole table, as the command prints it with --format csv";

function Csv(props: { label: string; csv: () => Promise<string>; about: string }) {
	const { label, csv, about } = props;
	const [failed, fail] = useState("");

	return (
		<button
			type="button"
			class="button"
			title={failed || about}
			onClick={async () => {
				try {
					saveText(`stepscope-${label}.csv`, await csv(), "text/csv");
					fail("");
				} catch (error) {
					fail(
						error instanceof Error
							? error.message
							: String(error),
					);
				}
			}}
		>
			{failed ? "CSV failed" : "CSV"}
		</button>
	);
}

export function Toolbar(props: {
	label: string;
	filter: string;
	onFilter: (filter: string) => void;
	details: DrawnColumn[];
	shown: string[];
	onShown: (names: string[]) => void;
	csv: (() => Promise<string>) | null;
	csvAbout?: string | undefined;
	found: number;
	rowCount: number;
	children?: ComponentChildren;
}) {
	const whole = plural(props.rowCount, "row");
	const count =
		props.found === props.rowCount ? whole : `${formatCount(props.found)} of ${whole}`;
	return (
		<div class="table-tools">
			{props.children}
			<span class="table-own">
				<span class="soft" aria-live="polite">
					{count}
				</span>
				<input
					type="search"
					class="field"
					placeholder="Filter by name"
					aria-label={`Filter ${props.label} by name`}
					value={props.filter}
					onInput={(event) => props.onFilter(event.currentTarget.value)}
					onKeyDown={(event) => {
						if (event.key !== "Escape" || !props.filter) return;
						props.onFilter("");
						event.stopPropagation();
					}}
				/>
				{props.details.length ? (
					<Columns
						details={props.details}
						shown={props.shown}
						onShown={props.onShown}
					/>
				) : null}
				{props.csv ? (
					<Csv
						label={props.label}
						csv={props.csv}
						about={props.csvAbout ?? CSV_ABOUT}
					/>
				) : null}
			</span>
		</div>
	);
}

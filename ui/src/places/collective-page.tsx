/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective-page.tsx - all collectives of one kind, group and size: how long they transfer, who
 * comes last and who waits, and where they are on the timeline.
 */
import type { Cell, TableDocument } from "../core/types";
import { useLoaded, useOpened } from "../core/context";
import { formatNs } from "../core/format";
import { useView } from "../core/store";
import { plural } from "../core/words";
import { cellReader, type Read, showRow } from "../parts/place";
import { asText } from "./model";
import { DurationBars, Owned, Walk } from "./name-page";
import { SmallBars } from "./small-bars";
import { type RowPlace, ViewQuery } from "./view-page";

const ROWS_MOST = 20_000;

/* What collectives of one class have in common. */
const CLASS = ["collective", "group", "members", "message_bytes"];

/* Longest waits that are listed. */
const LISTED = 5;

/* Rows of this class. Of a group that has no sizes a row has none either. */
export function sameClass(document: TableDocument, own: Read): Cell[][] {
	return document.rows.filter((row) => {
		const read = cellReader(document, row);
		return CLASS.every((name) => read(name) === own(name));
	});
}

/* How much of a figure each rank or step has. */
export function tallied(
	document: TableDocument,
	rows: Cell[][],
	by: string,
	figure: string | null,
) {
	const found = new Map<string, number>();
	for (const row of rows) {
		const read = cellReader(document, row);
		const value = figure === null ? 1 : read(figure);
		const label = read(by);
		if (label === null || typeof value !== "number") continue;
		found.set(asText(label), (found.get(asText(label)) ?? 0) + value);
	}
	return [...found].sort(([a], [b]) => Number(a) - Number(b));
}

function Bars(props: {
	title: string;
	of: string;
	found: [string, number][];
	format: (n: number) => string;
}) {
	const { title, of, found, format } = props;
	return (
		<SmallBars
			title={title}
			format={format}
			bars={found.map(([label, value]) => ({
				label,
				value,
				says: `${of} ${label}: ${format(value)}`,
			}))}
		/>
	);
}

export function CollectivePage(place: RowPlace) {
	const { client, job } = useOpened();
	const rank = useView((view) => view.rank);
	const { read } = place;
	const name = asText(read("collective"));
	const of = (group: string) =>
		client.view("collectives", { group, rank, name, top: ROWS_MOST });
	const loaded = useLoaded(
		() => Promise.all([of("each"), of("arrival")]),
		[client, rank, name],
	).value;
	if (!loaded) return null;
	const [each, arrivals] = loaded;
	const rows = sameClass(each, read);
	const wait = (row: Cell[]) => Number(cellReader(each, row)("wait_ns") ?? 0);
	const show = (row: Cell[] | undefined) =>
		row && void showRow(client, job, "collectives", each, row);
	const calls = rows.flatMap((row, i) => {
		const transfer = cellReader(each, row)("transfer_ns");
		return typeof transfer === "number"
			? [{ file: 0, row: i, start_ns: 0, dur_ns: transfer }]
			: [];
	});
	const members = sameClass(arrivals, read);
	const times = (count: number) => plural(count, "time");
	return (
		<div class="name-page">
			<p>
				{plural(rows.length, "call")} of {asText(read("members"))} ranks.{" "}
				<Walk
					key={rows.length}
					calls={rows.length}
					of={rows.length}
					onShow={(index) => show(rows[index])}
				/>
			</p>
			<div class="name-columns">
				{calls.length > 1 ? <DurationBars title="Calls by transfer" calls={calls} /> : null}
				<Bars
					title="Last to arrive"
					of="rank"
					found={tallied(each, rows, "last", null)}
					format={times}
				/>
				<Bars
					title="Waiting by rank"
					of="rank"
					found={tallied(arrivals, members, "rank", "wait_ns")}
					format={formatNs}
				/>
				<Bars
					title="Waiting of all ranks by step"
					of="step"
					found={tallied(each, rows, "step", "wait_ns")}
					format={formatNs}
				/>
				<section>
					<h3>Longest waits</h3>
					<ul class="place-list">
						{rows
							.toSorted((a, b) => wait(b) - wait(a))
							.slice(0, LISTED)
							.map((row) => {
								const cell = cellReader(each, row);
								return (
									<li key={cell("number")}>
										<button
											type="button"
											class="link"
											onClick={() =>
												show(
													row,
												)
											}
										>
											{cell("step") === null
												? "outside of steps"
												: `step ${cell("step")}`}
										</button>{" "}
										<span class="soft">
											{formatNs(wait(row))} summed over
											ranks, rank {asText(cell("last"))}{" "}
											last
										</span>
									</li>
								);
							})}
					</ul>
				</section>
				<Owned name={name} />
				<ViewQuery {...place} />
			</div>
		</div>
	);
}

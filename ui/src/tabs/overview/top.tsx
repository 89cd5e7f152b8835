/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.tsx - overview: the top five operators, kernels and gaps.
 */
import type { Job } from "../../core/client";
import type { Cell, TableDocument } from "../../core/types";
import { useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { formatNs, formatPercent } from "../../core/format";
import { store, useView } from "../../core/store";
import { Basis } from "../../parts/basis";
import { shortName } from "../../parts/names";
import { cellReader, showRow } from "../../parts/place";
import { ranksOf } from "../../parts/scope";
import { Failed, Loading } from "../../parts/state";

export interface TopOf {
	view: string;
	title: string;
	group: string | null;
	name: string[]; /* the first that is known is shown */
	more?: string[]; /* and behind it the first of these */
	value: string; /* the column of the order, a time */
	share: string | null;
	/* One row for all ranks; else the most of any rank. */
	spread: boolean;
	empty: string;
}

const COUNT = 5;

/* "total_ns" of a table over all ranks is "total_median_ns". */
function medianColumn(column: string): string {
	return column.replace(/_(ns|percent)$/, "_median_$1");
}

interface Line {
	row: Cell[];
	name: string;
	ns: number;
	share: number | null;
	rank: Cell;
}

function linesOf(document: TableDocument, top: TopOf): Line[] {
	const number = (cell: Cell) => (typeof cell === "number" ? cell : null);
	return document.rows
		.map((row) => {
			const read = cellReader(document, row);
			const figure = (column: string) =>
				number(read(column)) ?? number(read(medianColumn(column)));
			const first = (names: string[]) =>
				names.map(read).find((cell) => typeof cell === "string");
			const words = [first(top.name) ?? "–", first(top.more ?? [])];
			return {
				row,
				name: words.filter((word) => word !== undefined).join(" · "),
				ns: figure(top.value) ?? 0,
				share: top.share ? figure(top.share) : null,
				rank: read("rank"),
			};
		})
		.sort((a, b) => b.ns - a.ns)
		.slice(0, COUNT);
}

function ask(client: ReturnType<typeof useOpened>["client"], job: Job, top: TopOf) {
	const { rank, step } = store.view;
	const spread = top.spread && rank === null && ranksOf(job).length > 1;
	return client.view(top.view, {
		rank: spread ? "all" : rank,
		step,
		group: top.group,
		sort: spread ? medianColumn(top.value) : top.value,
		top: COUNT,
	});
}

export function Top({ top }: { top: TopOf }) {
	const { client, job } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const [said, say] = useState("");
	const loaded = useLoaded(() => ask(client, job, top), [client, rank, step, top]);
	const document = loaded.value;

	if (!document)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what={`Loading ${top.title.toLowerCase()}…`} />
		);
	const lines = linesOf(document, top);
	if (!lines.length) return <p class="soft">{top.empty}</p>;
	return (
		<>
			<Basis of={document} />
			<ol class="top">
				{lines.map((line, i) => (
					<li key={i}>
						<button
							type="button"
							title={`${line.name}\nShow on the timeline`}
							onClick={async () =>
								say(
									(await showRow(
										client,
										job,
										top.view,
										document,
										line.row,
									)) ?? "",
								)
							}
						>
							<span class="top-name">
								{shortName(line.name)}
							</span>
							<span class="soft">
								{line.rank === null ||
								ranksOf(job).length < 2
									? ""
									: `rank ${line.rank}`}
							</span>
							<span class="number">
								{formatNs(line.ns)}
							</span>
							<span class="number soft">
								{line.share === null
									? ""
									: formatPercent(line.share)}
							</span>
						</button>
					</li>
				))}
			</ol>
			<p class="soft" role="status">
				{said}
			</p>
		</>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.tsx - drawer: what ran in a time range on the selected rows.
 */
import type { Job } from "../../core/client";
import type { RangeAnswer } from "../../core/types";
import { useMemo, useRef, useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { formatNs } from "../../core/format";
import { type Selection, store, useView } from "../../core/store";
import { plural } from "../../core/words";
import { Chips } from "../../parts/chips";
import { writeCsv } from "../../parts/csv";
import { Failed, Loading } from "../../parts/state";
import { Table } from "../../parts/table";
import { Flame } from "../../tabs/flame/flame";
import { readCalls } from "../../tabs/flame/flame-model";
import { runOnTimeline } from "../commands";
import { readRows } from "../rows";
import { formatSpan } from "../span";
import { busyAndIdle, byCategory, byName, byRow } from "./range-tables";
import "./details.css";

type RangeSelection = Extract<Selection, { kind: "range" }>;

const NAMES_MOST = 500;
const NAMES_IN_CSV = 10000;
const LINES = 7;

const PARTS = [
	{ id: "name", title: "By name", make: byName },
	{ id: "category", title: "By category", make: byCategory },
	{ id: "device", title: "Busy and idle", make: busyAndIdle },
	{ id: "row", title: "Rows", make: byRow },
];

const CHIPS = [...PARTS, { id: "flame", title: "Flame graph" }];

function Choice({ chosen }: { chosen: string }) {
	return (
		<Chips
			label="Tables of the range"
			chips={CHIPS}
			chosen={chosen}
			onChoose={(range) => store.setOwn({ range })}
		/>
	);
}

function FlameOf({ answer }: { answer: RangeAnswer }) {
	const count = useRef(0);
	const [root, key] = useMemo(() => [readCalls(answer), count.current++], [answer]);
	const [search, find] = useState("");
	return (
		<>
			<div class="table-tools">
				<Choice chosen="flame" />
				<span class="spring" />
				<input
					type="search"
					class="field"
					placeholder="Find a frame"
					aria-label="Find a frame by name"
					value={search}
					onInput={(event) => find(event.currentTarget.value)}
				/>
			</div>
			{root.total ? (
				<Flame key={key} root={root} search={search} />
			) : (
				<p class="state">Nothing ran here.</p>
			)}
		</>
	);
}

/* The tables have at most NAMES_MOST names, the file all. */
function Part(props: {
	id: string;
	answer: RangeAnswer;
	job: Job;
	all: () => Promise<RangeAnswer>;
}) {
	const { id, answer, job } = props;
	const part = PARTS.find((one) => one.id === id);
	const table = useMemo(() => part?.make(answer, job), [part, answer, job]);
	if (!part || !table) return <FlameOf answer={answer} />;
	const csv = async () => {
		const whole = answer.names.length < answer.name_count ? await props.all() : answer;
		const { columns, rows } = part.make(whole, job);
		return writeCsv(columns, rows);
	};
	const go = (index: number) => {
		const selected = table.leads[index];
		if (selected) store.set({ selected });
	};
	return (
		<Table
			key={id}
			label={`range ${part.title.toLowerCase()}`}
			columns={table.columns}
			rows={table.rows}
			rowCount={id === "name" ? answer.name_count : table.rows.length}
			lines={LINES}
			empty={table.empty}
			notes={[table.about]}
			csv={csv}
			csvAbout="The whole table as CSV"
			onRow={(_, index) => go(index)}
		>
			<Choice chosen={id} />
		</Table>
	);
}

/* "3 rows of rank 0", "rows of 2 ranks", "all rows of 8 ranks" */
function rowWords(rows: string | undefined, job: Job, files: number, rank: number | null): string {
	if (!rows) return `all rows of ${rank === null ? plural(files, "rank") : `rank ${rank}`}`;
	const chosen = readRows(rows);
	const [file = 0] = chosen.keys();
	const own = job.files[file]?.rank;
	const where =
		chosen.size > 1 || own == null ? plural(chosen.size, "rank") : `rank ${own}`;
	if (![...chosen.values()].some((tracks) => tracks.length)) return `all rows of ${where}`;
	const count = [...chosen.values()].reduce((sum, tracks) => sum + tracks.length, 0);
	return `${plural(count, "row")} of ${where}`;
}

export function RangeDetails({ selected }: { selected: RangeSelection }) {
	const { client, job } = useOpened();
	const rank = useView((view) => view.rank);
	const chosen = useView((view) => view.own.range ?? "name");
	const { from, to, rows } = selected;
	const files = job.files.filter(
		(file) => file.problem === null && (rank === null || file.rank === rank),
	);
	const list = files.map((file) => file.file).join(",");
	const ask = (limit: number) =>
		client.json("range", {
			...(rows ? { rows } : { files: list }),
			from,
			to,
			limit,
		});
	const loaded = useLoaded(() => ask(NAMES_MOST), [client, list, from, to, rows]);

	return (
		<div class="about">
			<header>
				<h2>{formatNs(to - from)} selected</h2>
				<span class="soft">
					{formatSpan(from, to)} after the start of the run,{" "}
					{rowWords(rows, job, files.length, rank)}
				</span>
				<button
					type="button"
					class="button"
					onClick={() => runOnTimeline("fit")}
				>
					Zoom to range (F)
				</button>
				<button
					type="button"
					class="button"
					onClick={() => runOnTimeline("mark")}
				>
					Mark range (M)
				</button>
				<button
					type="button"
					class="button"
					onClick={() => store.set({ selected: { kind: "note", from, to } })}
				>
					Add a note (N)
				</button>
			</header>
			{loaded.state === "failed" ? <Failed error={loaded.error} /> : null}
			{loaded.value ? (
				<Part
					id={chosen}
					answer={loaded.value}
					job={job}
					all={() => ask(NAMES_IN_CSV)}
				/>
			) : loaded.state === "loading" ? (
				<Loading what="Summing up what ran…" />
			) : null}
		</div>
	);
}

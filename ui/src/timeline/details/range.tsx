/*
 * range.tsx - drawer: what ran in a stretch of time.
 */
import { useMemo } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { COLOR_WORDS } from "../../core/colors";
import { formatNs } from "../../core/format";
import { type Selection, store, useView } from "../../core/store";
import type { Cell, Job } from "../../core/types";
import { plural } from "../../core/words";
import type { TableColumn } from "../../parts/columns";
import { Failed, Loading } from "../../parts/state";
import { Table } from "../../parts/table";
import type { RangeAnswer } from "../answers";
import { runOnTimeline } from "../commands";
import { rankTitle } from "../model";
import "./details.css";

type RangeSelection = Extract<Selection, { kind: "range" }>;

const NAMES_MOST = 500;
const LINES = 7;

function column(
	index: number,
	name: string,
	type: TableColumn["type"],
	about: string,
): TableColumn {
	const title = name;
	return {
		name,
		type,
		about,
		index,
		detail: false,
		bar: name === "time" || name === "busy",
		title,
	};
}

const TRACK_COLUMNS = [
	column(0, "rank", "text", "the file's rank"),
	column(1, "row", "text", "the row of the timeline"),
	column(2, "busy", "ns", "time in which something ran; overlaps count once"),
	column(3, "share", "percent", "busy time, of the stretch that is selected"),
	column(4, "slices", "count", "slices that are at least partly inside"),
];

const NAME_COLUMNS = [
	column(0, "name", "text", "name of the slices"),
	column(1, "time", "ns", "their time inside of the stretch; nested ones count in full"),
	column(2, "count", "count", "how many there are"),
	column(3, "row", "text", "the row of the timeline"),
	column(4, "kind", "text", "what they are"),
	column(5, "rank", "text", "the file's rank"),
];

function titleOf(job: Job, file: number): string {
	const found = job.files[file];
	return found ? rankTitle(found) : String(file);
}

/* Ranges over streams and the profiler itself say nothing new: they stand at the end. */
function reordered(answer: RangeAnswer): RangeAnswer {
	const last = new Set(
		answer.tracks
			.filter((one) => one.kind === "other")
			.map((one) => `${one.file}.${one.track}`),
	);
	const isLast = (one: { file: number; track: number }) =>
		last.has(`${one.file}.${one.track}`);
	const order = <T extends { file: number; track: number }>(list: T[]) => [
		...list.filter((one) => !isLast(one)),
		...list.filter(isLast),
	];
	return { ...answer, tracks: order(answer.tracks), names: order(answer.names) };
}

function rowsOf(answer: RangeAnswer, job: Job): { tracks: Cell[][]; names: Cell[][] } {
	const length = Math.max(1, answer.to_ns - answer.from_ns);
	const title = new Map(answer.tracks.map((one) => [`${one.file}.${one.track}`, one.name]));
	return {
		tracks: answer.tracks.map((one) => [
			titleOf(job, one.file),
			one.name,
			one.busy_ns,
			(one.busy_ns * 100) / length,
			one.count,
		]),
		names: answer.names.map((one) => [
			one.name,
			one.total_ns,
			one.count,
			title.get(`${one.file}.${one.track}`) ?? null,
			COLOR_WORDS[one.color] ?? null,
			titleOf(job, one.file),
		]),
	};
}

function Tables({ answer: given, job }: { answer: RangeAnswer; job: Job }) {
	const answer = useMemo(() => reordered(given), [given]);
	const rows = useMemo(() => rowsOf(answer, job), [answer, job]);
	const go = (index: number) => {
		const name = answer.names[index];
		if (name?.longest_row !== undefined)
			store.set({
				selected: { kind: "slice", file: name.file, row: name.longest_row },
			});
	};
	return (
		<div class="range-tables">
			<Table
				label="Rows"
				columns={TRACK_COLUMNS}
				rows={rows.tracks}
				lines={LINES}
				empty="Nothing ran here."
			/>
			<Table
				label="Names"
				columns={NAME_COLUMNS}
				rows={rows.names}
				rowCount={answer.name_count}
				lines={LINES}
				empty="Nothing ran here."
				onRow={(_, index) => go(index)}
			/>
		</div>
	);
}

export function RangeDetails({ selected }: { selected: RangeSelection }) {
	const { client, job } = useOpened();
	const rank = useView((view) => view.rank);
	const { from, to } = selected;
	const files = job.files.filter(
		(file) => file.problem === null && (rank === null || file.rank === rank),
	);
	const list = files.map((file) => file.file).join(",");
	const ask = () =>
		client.json<RangeAnswer>("range", { files: list, from, to, limit: NAMES_MOST });
	const loaded = useLoaded(ask, [client, list, from, to]);

	return (
		<div class="about">
			<header>
				<h2>{formatNs(to - from)} selected</h2>
				<span class="soft">
					from {formatNs(from)} to {formatNs(to)} after the start of
					the run,{" "}
					{rank === null
						? plural(files.length, "rank")
						: `rank ${rank}`}
				</span>
				<button
					type="button"
					class="button"
					onClick={() => runOnTimeline("fit")}
				>
					Zoom to it (F)
				</button>
				<button
					type="button"
					class="button"
					onClick={() => runOnTimeline("mark")}
				>
					Mark it (M)
				</button>
				<button
					type="button"
					class="button"
					onClick={() => store.set({ selected: { kind: "note", from, to } })}
				>
					Write a note (N)
				</button>
			</header>
			{loaded.state === "failed" ? <Failed error={loaded.error} /> : null}
			{loaded.value ? (
				<Tables answer={loaded.value} job={job} />
			) : loaded.state === "loading" ? (
				<Loading what="Summing up what ran…" />
			) : null}
		</div>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: stacks as a flame graph, by time or in the order of time.
 */
import type { JobFile, Step, TableDocument, Track, TracksAnswer } from "../../core/types";
import { useMemo, useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { formatCount, formatPercent } from "../../core/format";
import { store, useView } from "../../core/store";
import { Basis } from "../../parts/basis";
import { Chips } from "../../parts/chips";
import { Failed, Loading } from "../../parts/state";
import { decodeTiles } from "../../timeline/decode";
import { Missing, Notes, useRank } from "../modules/told";
import type { Tab } from "../tab";
import { Flame } from "./flame";
import { type By, readStacks, readTrack } from "./flame-model";
import "../modules/modules.css";

const TIMES = [
	{
		id: "device",
		title: "GPU time",
		about: "Kernels, copies and memsets, by the code that launched them",
	},
	{ id: "host", title: "host time", about: "Self time of operators and ranges on the CPU" },
];

const ORDERS = [
	{ id: "heavy", title: "longest first", about: "Equal stacks are one; the longest is left" },
	{
		id: "time",
		title: "in time order",
		about: "One thread or stream of one step, as it ran",
	},
];

const BYS: { id: By; title: string; about: string }[] = [
	{ id: "calls", title: "calls", about: "All frames; threads are summed" },
	{ id: "thread", title: "threads", about: "All frames, below their thread" },
	{ id: "module", title: "modules", about: "Only nn.Modules, and what took the time" },
	{ id: "line", title: "lines", about: "Only lines of Python, and what took the time" },
];

/* Stacks that come at once, the longest first; a note counts the rest. */
const MOST_STACKS = 4000;

/* Slices of a step narrower than one of these come as one. */
const STEP_PIXELS = 8192;

/* What the frames that are shown do not hold. */
function leftOut(table: TableDocument): string | null {
	const at = table.columns.findIndex((column) => column.name === "share_percent");
	const share = table.rows.reduce((sum, row) => sum + Number(row[at] ?? 0), 0);
	if (table.rows.length >= table.row_count) return null;
	const [some, all] = [formatCount(table.rows.length), formatCount(table.row_count)];
	return `Showing the ${some} longest of ${all} stacks: ${formatPercent(share)} of all time.`;
}

function Heavy({ search, hit }: { search: string; hit: number }) {
	const { client } = useOpened();
	const { rank, told } = useRank();
	const step = useView((view) => view.step);
	const time = useView((view) => view.own.time) || "device";
	const by = (useView((view) => view.own.by) || "calls") as By;
	const loaded = useLoaded(
		() => client.view("stacks", { group: time, rank, step, top: MOST_STACKS }),
		[rank, step, time],
	);
	const root = useMemo(
		() => (loaded.value ? readStacks(loaded.value, by) : null),
		[loaded.value, by],
	);

	if (!loaded.value || !root)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Reading stacks …" />
		);
	if (!loaded.value.rows.length)
		return <Missing notes={loaded.value.notes} flags="with_stack=True" />;
	return (
		<>
			<Basis of={loaded.value} />
			<Flame key={`${rank} ${step} ${time} ${by}`} {...{ root, search, hit }} />
			<Notes
				table={loaded.value}
				more={[told, leftOut(loaded.value)].filter(Boolean).join(" ")}
			/>
		</>
	);
}

/* The chosen step, or the first whole one; a file without steps is shown from end to end. */
function windowOf(file: JobFile, chosen: number | null): Pick<Step, "start_ns" | "end_ns"> {
	const steps = file.steps ?? [];
	const step =
		steps.find((one) => one.number === chosen) ??
		steps.find((one) => one.dropped === null) ??
		steps[0];
	return step ?? { start_ns: file.start_ns ?? 0, end_ns: file.end_ns ?? 0 };
}

/* Threads for host time, streams for that of the device. */
function rowsOf(tracks: TracksAnswer, time: string): Track[] {
	const wanted = (track: Track) =>
		track.kind !== "other" && (time === "host" ? track.device === null : track.stream !== null);
	return tracks.tracks.filter((track) => wanted(track) && track.slices > 0);
}

function InOrder({ search, hit }: { search: string; hit: number }) {
	const { client, job } = useOpened();
	const { rank, told } = useRank();
	const step = useView((view) => view.step);
	const time = useView((view) => view.own.time) || "device";
	const wanted = Number(useView((view) => view.own.track) || "-1");
	const file = job.files.find(
		(one) => one.problem === null && (rank === null || one.rank === rank),
	);
	const loaded = useLoaded(async () => {
		if (!file) return null;
		const tracks = await client.json("tracks", { file: file.file });
		const rows = rowsOf(tracks, time);
		const row = rows.find((one) => one.track === wanted) ?? rows[0];
		if (!row) return { rows, row: null, root: null };
		const { start_ns: from, end_ns: to } = windowOf(file, step);
		const asked = { file: file.file, tracks: row.track, from, to, pixels: STEP_PIXELS };
		const sheet = decodeTiles((await client.bytes("tiles", asked)).bytes);
		/* tiles may reach beyond the step */
		return { rows, row, root: readTrack({ ...sheet, from, to }, row.track) };
	}, [file, step, time, wanted]);

	if (!loaded.value?.root || !loaded.value.row)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : loaded.state === "ready" ? (
			<Missing
				notes={[`Nothing of the ${time} was recorded.`]}
				flags="with_stack=True"
			/>
		) : (
			<Loading what="Reading slices …" />
		);
	const { rows, row, root } = loaded.value;
	return (
		<>
			<p class="soft flame-track">
				<select
					class="select"
					aria-label="Thread or stream"
					value={String(row.track)}
					onChange={(event) =>
						store.setOwn({ track: event.currentTarget.value })
					}
				>
					{rows.map((one) => (
						<option key={one.track} value={String(one.track)}>
							{one.name}
						</option>
					))}
				</select>{" "}
				one step, as it ran{told ? `. ${told}` : ""}
			</p>
			{root.children.length ? (
				<Flame
					key={`${rank} ${step} ${row.track}`}
					{...{ root, search, hit }}
				/>
			) : (
				<p class="state">Nothing of {row.name} ran in this step.</p>
			)}
		</>
	);
}

function FlameTab() {
	const time = useView((view) => view.own.time) || "device";
	const order = useView((view) => view.own.order) || "heavy";
	const by = useView((view) => view.own.by) || "calls";
	const search = useView((view) => view.own.find) ?? "";
	const [hit, go] = useState(0);
	const Body = order === "time" ? InOrder : Heavy;
	return (
		<div class="pane">
			<div class="modules-bar">
				<Chips
					label="Whose time"
					chips={TIMES}
					chosen={time}
					onChoose={(id) => store.setOwn({ time: id })}
					strong
				/>
				<Chips
					label="Order"
					chips={ORDERS}
					chosen={order}
					onChoose={(id) => store.setOwn({ order: id })}
				/>
				{order === "heavy" ? (
					<Chips
						label="By"
						chips={BYS}
						chosen={by}
						onChoose={(id) => store.setOwn({ by: id })}
					/>
				) : null}
				<input
					class="field"
					type="search"
					placeholder="Find a frame"
					aria-label="Find a frame"
					title="Enter: the next frame with the text"
					value={search}
					onInput={(event) => {
						go(0);
						store.setOwn({ find: event.currentTarget.value });
					}}
					onKeyDown={(event) => {
						if (event.key !== "Enter" || !search) return;
						event.preventDefault();
						go((last) => last + 1);
					}}
				/>
			</div>
			<Body search={search} hit={hit} />
		</div>
	);
}

export const flameTab: Tab = { id: "flame", title: "Flame", component: FlameTab };

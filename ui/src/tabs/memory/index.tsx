/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: memory: curve, peaks, steps, holders, allocations.
 */
import { useMemo } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { formatBytes } from "../../core/format";
import { store, useView } from "../../core/store";
import { Chips } from "../../parts/chips";
import { CopyBox } from "../../parts/copy-box";
import { Failed, Loading } from "../../parts/state";
import { TableView } from "../../parts/table-view";
import type { Tab } from "../tab";
import { CurveOf } from "./curve";
import "./memory.css";
import { deviceNumber, type Peak, readPeaks } from "./model";
import { Snapshots } from "./snapshot";
import { useEntry } from "./snapshot/chosen";
import { Phases } from "./snapshot/phases";
import { Traced } from "./traced";

const PARTS = [
	{ id: "memory", title: "Peaks", about: "Highest memory use of each device" },
	{ id: "memory-steps", title: "Steps", about: "What grows from step to step" },
	{
		id: "memory-ops",
		title: "Holders",
		about: "Operators, lines and modules at the peak",
	},
	{
		id: "allocations",
		title: "Allocations",
		about: "The largest, and those that were never freed",
	},
];

const RECORDING = `torch.profiler.profile(..., profile_memory=True)
# add with_stack=True to see source lines`;

/* Rows of the tables below the curve; there are few devices. */
const LINES: Record<string, number> = { memory: 5 };
const OTHER_LINES = 10;

/* More curves than this are chosen from a list. */
const CHIPPED = 8;

function NotRecorded({ notes }: { notes: string[] }) {
	return (
		<div class="memory-missing">
			<p>Memory was not recorded.</p>
			{notes.map((note) => (
				<p class="soft" key={note}>
					{note}
				</p>
			))}
			<CopyBox label="how to record it" text={RECORDING} />
		</div>
	);
}

function titleOf(peak: Peak): string {
	return peak.rank === null ? peak.device : `rank ${peak.rank} · ${peak.device}`;
}

function keyOf(peak: Peak): string {
	return `${peak.rank ?? ""}.${peak.device}`;
}

function Which(props: { peaks: Peak[]; chosen: Peak; choose: (key: string) => void }) {
	const { peaks, chosen, choose } = props;
	if (peaks.length < 2) return <h2 class="memory-title">{titleOf(chosen)}</h2>;
	if (peaks.length <= CHIPPED)
		return (
			<Chips
				label="Device"
				chips={peaks.map((peak) => ({
					id: keyOf(peak),
					title: titleOf(peak),
					about: `peak ${formatBytes(peak.allocated)}`,
				}))}
				chosen={keyOf(chosen)}
				onChoose={choose}
			/>
		);
	return (
		<select
			class="select"
			aria-label="Device"
			value={keyOf(chosen)}
			onChange={(event) => choose(event.currentTarget.value)}
		>
			{peaks.map((peak) => (
				<option key={keyOf(peak)} value={keyOf(peak)}>
					{titleOf(peak)}: {formatBytes(peak.allocated)}
				</option>
			))}
		</select>
	);
}

/* What grows, in the words of the core: leaks and fragmentation. */
function Growth({ rank }: { rank: number | null }) {
	const { client } = useOpened();
	const loaded = useLoaded(
		() => client.view("memory-steps", { rank, top: 1 }),
		[client, rank],
	);
	const notes = loaded.value?.notes.filter((note) => /grows/.test(note)) ?? [];
	return (
		<>
			{notes.map((note) => (
				<p class="memory-growth" key={note}>
					{note}
				</p>
			))}
		</>
	);
}

/* The same events as a snapshot's: peaks of the phases, for the device that is shown. */
function TracedPhases({ peak }: { peak: Peak }) {
	const { job } = useOpened();
	const traced = job.traced.find((one) => one.rank === peak.rank)?.snapshot ?? null;
	const entry = useEntry(traced).value;
	const name = String(deviceNumber(peak.device) ?? "cpu");
	const device = entry?.devices?.find((one) => one.device === name);
	if (!entry || entry.snapshot !== traced || !device) return null;
	const show = () =>
		store.set({ own: { kind: "held", traced: String(traced), device: device.device } });
	return (
		<Phases snapshot={traced} device={device.device} events={device.events} show={show} />
	);
}

function Recording() {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const part = useView((view) => view.own.view) || "memory";
	const wanted = useView((view) => view.own.device);
	const loaded = useLoaded(() => client.view("memory", { rank, top: 0 }), [client, rank]);
	const peaks = useMemo(() => (loaded.value ? readPeaks(loaded.value) : []), [loaded.value]);
	const chosen = peaks.find((peak) => keyOf(peak) === wanted) ?? peaks[0];

	if (!loaded.value)
		return (
			<div class="page">
				{loaded.state === "failed" ? (
					<Failed error={loaded.error} />
				) : (
					<Loading what="Reading memory …" />
				)}
			</div>
		);
	if (!chosen)
		return (
			<div class="page">
				<NotRecorded notes={loaded.value.notes} />
			</div>
		);
	return (
		<div class="page">
			<Which
				peaks={peaks}
				chosen={chosen}
				choose={(device) => store.setOwn({ device })}
			/>
			<CurveOf peak={chosen} />
			<Growth rank={chosen.rank} />
			<TracedPhases peak={chosen} />
			<Chips
				label="Parts of this tab"
				chips={PARTS}
				chosen={part}
				onChoose={(id) => store.setOwn({ view: id })}
				strong
			/>
			<div class="memory-part">
				<TableView
					key={part}
					view={part}
					id={part}
					lines={LINES[part] ?? OTHER_LINES}
				/>
			</div>
		</div>
	);
}

const KINDS = [
	{ id: "", title: "Recording", about: "What the profiler recorded" },
	{ id: "held", title: "Holders over time", about: "By category, line or stack" },
	{ id: "snapshot", title: "Snapshot", about: "What the allocator held, block by block" },
];

function Memory() {
	const { job } = useOpened();
	const kind = useView((view) => view.own.kind) ?? "";
	const kinds = KINDS.filter(({ id }) =>
		id === "" ? job.files.length : id === "held" ? job.traced.length : job.snapshots.length,
	);
	const chosen = (kinds.find(({ id }) => id === kind) ?? kinds[0])?.id ?? "";
	return (
		<>
			{kinds.length > 1 ? (
				<div class="memory-kinds">
					<Chips
						label="Kind of recording"
						chips={kinds}
						chosen={chosen}
						onChoose={(id) =>
							store.set({ own: id ? { kind: id } : {} })
						}
						strong
					/>
				</div>
			) : null}
			{chosen ? (
				<div class="page">
					{chosen === "held" ? (
						<Traced />
					) : (
						<Snapshots snapshots={job.snapshots} />
					)}
				</div>
			) : (
				<Recording />
			)}
		</>
	);
}

export const memoryTab: Tab = { id: "memory", title: "Memory", component: Memory };

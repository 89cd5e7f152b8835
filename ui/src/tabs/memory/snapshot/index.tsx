/*
 * index.tsx - a snapshot of memory: what it says, the curve, the blocks, its tables.
 */
import { useState } from "preact/hooks";
import { useOpened } from "../../../core/context";
import { formatCount } from "../../../core/format";
import { store, useView } from "../../../core/store";
import type { JobSnapshot, SnapshotDevice } from "../../../core/types";
import { Chips } from "../../../parts/chips";
import { TableView } from "../../../parts/table-view";
import { isTold, NoBlocks } from "../lack";
import { AreaPlot } from "./area";
import { BlockMap } from "./map";
import { type Axis, axisLength, BEFORE, clampWindow, type Window } from "./model";
import "./snapshot.css";
import { StackPanel } from "./stack";
import { SnapshotVerdict } from "./verdict";

const TABLES = [
	{ id: "snapshot-holders", title: "Who holds it", about: "At the peak and at the end" },
	{ id: "snapshot-leaks", title: "Leaks", about: "Allocated and never freed" },
	{ id: "snapshot-allocations", title: "Allocations", about: "The largest first" },
	{ id: "snapshot-segments", title: "Segments", about: "What the allocator reserved" },
	{ id: "snapshot-oom", title: "Out of memory", about: "Allocations that failed, and why" },
	{ id: "snapshot-timeline", title: "Timeline", about: "The curve as figures" },
	{ id: "snapshot-settings", title: "Settings", about: "Of the allocator" },
	{ id: "snapshot-summary", title: "Summary", about: "All figures of each device" },
	{ id: "snapshot-findings", title: "Findings", about: "What stands out" },
	{ id: "snapshot-diff", title: "Compared", about: "With the other snapshot" },
];

/* What a memory timeline has something to say in. */
const SUMS = new Set(["snapshot-summary", "snapshot-timeline"]);

const GROUPS = [
	{ id: "category", title: "by category" },
	{ id: "line", title: "by line" },
	{ id: "stack", title: "by stack" },
];

const AXES = [
	{ id: "event", title: "events", about: "One place for each event" },
	{ id: "time", title: "time", about: "As time went by" },
];

function marksOf(device: SnapshotDevice | null): { event: number; label: string }[] {
	if (!device) return [];
	const marks = device.ooms.map((event) => ({ event, label: "out of memory" }));
	if (device.peak_event !== null) marks.unshift({ event: device.peak_event, label: "peak" });
	return marks;
}

function Curve(props: {
	snapshot: JobSnapshot;
	device: SnapshotDevice | null;
	moment: number | null;
	choose: (event: number, stack: number) => void;
}) {
	const { snapshot, device } = props;
	const group = useView((view) => view.own.stacked) || "category";
	const timed = device ? device.span_ns !== null && device.span_ns > 0 : false;
	const axis: Axis = useView((view) => view.own.axis) === "time" && timed ? "time" : "event";
	const length = axisLength(device, snapshot.points, axis);
	const [window, zoom] = useState<Window | null>(null);
	const [search, look] = useState("");
	const shown = clampWindow(window ?? { from: 0, to: length }, length);
	const peak = device?.peak_event ?? null;
	/* a fiftieth of all events around it */
	const toPeak = (event: number) =>
		zoom(clampWindow({ from: event - length / 100, to: event + length / 100 }, length));
	const marks = marksOf(device);
	if (props.moment !== null) marks.push({ event: props.moment, label: "blocks below" });
	return (
		<>
			<div class="snapshot-tools">
				<Chips
					label="Stacked by"
					chips={device ? GROUPS : GROUPS.slice(0, 1)}
					chosen={device ? group : "category"}
					onChoose={(stacked) => store.setOwn({ stacked })}
				/>
				{timed ? (
					<Chips
						label="Axis"
						chips={AXES}
						chosen={axis}
						onChoose={(next) => {
							zoom(null);
							store.setOwn({ axis: next });
						}}
					/>
				) : null}
				<input
					type="search"
					class="input"
					placeholder="Find a holder"
					aria-label="Find a holder"
					value={search}
					onInput={(event) => look(event.currentTarget.value)}
				/>
				<span class="spring" />
				{peak !== null && axis === "event" ? (
					<button type="button" class="button" onClick={() => toPeak(peak)}>
						Go to the peak
					</button>
				) : null}
				{window ? (
					<button type="button" class="button" onClick={() => zoom(null)}>
						Show all
					</button>
				) : (
					<span class="soft">
						{device
							? "Drag to zoom; click for a stack, then the wheel zooms."
							: "Drag to zoom."}
					</span>
				)}
			</div>
			<AreaPlot
				snapshot={snapshot.snapshot}
				device={device?.device ?? null}
				group={device ? group : "category"}
				axis={axis}
				length={length}
				window={shown}
				zoom={zoom}
				search={search}
				marks={marks}
				choose={props.choose}
				label={`Active memory, stacked by ${device ? group : "category"}`}
			/>
		</>
	);
}

function Moment(props: {
	device: SnapshotDevice;
	moment: number | null;
	set: (to: number | null) => void;
}) {
	const { device, moment, set } = props;
	return (
		<div class="snapshot-tools">
			<h3>
				Segments and blocks{" "}
				{moment === null ? "at the end" : `after event ${formatCount(moment)}`}
			</h3>
			{moment !== null ? (
				<button type="button" class="button" onClick={() => set(null)}>
					Show the end
				</button>
			) : null}
			{device.exact && device.peak_event !== null && moment !== device.peak_event ? (
				<button type="button" class="button" onClick={() => set(device.peak_event)}>
					Show the peak
				</button>
			) : null}
		</div>
	);
}

function Tables(props: {
	snapshot: number;
	ofTrace: boolean;
	device: string | null;
	parameters: Record<string, string | number | null>;
}) {
	const { job } = useOpened();
	const part = useView((view) => view.own.view) || "snapshot-holders";
	const two = job.runs > 1 || (job.snapshots?.length ?? 0) > 1;
	const tables = TABLES.filter(({ id }) =>
		props.device === null ? SUMS.has(id) : id !== "snapshot-diff" || two,
	).filter(({ id }) => isTold(id, props.ofTrace));
	const chosen = tables.find(({ id }) => id === part) ?? tables[0];
	const view = chosen?.id ?? "snapshot-summary";
	/* the second run is what became of the first; within one run, of the snapshot before it */
	const compared =
		job.runs > 1
			? { run: 1, before: props.snapshot }
			: { snapshot: Math.max(1, props.snapshot), before: Math.max(0, props.snapshot - 1) };
	const parameters = view === "snapshot-diff" ? compared : props.parameters;
	return (
		<>
			<Chips
				label="Tables"
				chips={tables}
				chosen={view}
				onChoose={(id) => store.setOwn({ view: id })}
				strong
			/>
			<TableView
				key={`${view} ${props.snapshot} ${props.device}`}
				view={view}
				id={view}
				parameters={parameters}
				lines={12}
			/>
		</>
	);
}

function DeviceOf(props: { snapshot: JobSnapshot; device: SnapshotDevice | null }) {
	const { snapshot, device } = props;
	const [moment, set] = useState<number | null>(null);
	const [stack, show] = useState(0);
	const name = device?.device ?? null;
	const number = snapshot.snapshot;
	const choose = (event: number, chosen: number) => {
		show(chosen);
		if (event !== BEFORE && device?.exact) set(event);
	};
	return (
		<>
			<SnapshotVerdict snapshot={number} device={name} />
			{(device ? device.events : snapshot.points) > 0 ? (
				<Curve snapshot={snapshot} device={device} moment={moment} choose={choose} />
			) : null}
			{stack ? (
				<StackPanel snapshot={number} device={name} stack={stack} close={() => show(0)} />
			) : null}
			{device?.segments ? (
				<>
					<Moment device={device} moment={moment} set={set} />
					<BlockMap
						snapshot={number}
						device={device.device}
						event={moment}
						choose={show}
					/>
				</>
			) : null}
			{snapshot.of_trace ? <NoBlocks /> : null}
			<Tables
				snapshot={number}
				ofTrace={snapshot.of_trace}
				device={name}
				parameters={{ snapshot: number, device: name }}
			/>
		</>
	);
}

function shortPath(path: string): string {
	return path.split(/[/\\]/).pop() ?? path;
}

export function Snapshots({ snapshots }: { snapshots: JobSnapshot[] }) {
	const wanted = useView((view) => view.own.snapshot);
	const named = useView((view) => view.own.device);
	const snapshot = snapshots.find((one) => String(one.snapshot) === wanted) ?? snapshots[0];
	if (!snapshot) return null;
	/* the one that held most is shown first: the first of those with events */
	const usual = snapshot.devices.find((one) => one.events > 0) ?? snapshot.devices[0];
	const device = snapshot.devices.find((one) => one.device === named) ?? usual ?? null;
	return (
		<>
			{snapshots.length > 1 ? (
				<select
					class="select"
					aria-label="Snapshot"
					value={String(snapshot.snapshot)}
					onChange={(event) => store.setOwn({ snapshot: event.currentTarget.value })}
				>
					{snapshots.map((one) => (
						<option key={one.snapshot} value={String(one.snapshot)}>
							{shortPath(one.path)}
						</option>
					))}
				</select>
			) : null}
			{snapshot.devices.length > 1 ? (
				<Chips
					label="Device"
					chips={snapshot.devices.map((one) => ({
						id: one.device,
						title: /^(host|cpu)/.test(one.device) ? one.device : `device ${one.device}`,
						about: `${formatCount(one.events)} events`,
					}))}
					chosen={device?.device ?? ""}
					onChoose={(id) => store.setOwn({ device: id })}
				/>
			) : null}
			<DeviceOf
				key={`${snapshot.snapshot} ${device?.device ?? ""}`}
				snapshot={snapshot}
				device={device}
			/>
		</>
	);
}

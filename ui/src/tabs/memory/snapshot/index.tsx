/*
 * index.tsx - a snapshot of memory: what it says, the curve, the blocks, its tables.
 */
import { useOpened } from "../../../core/context";
import { formatCount } from "../../../core/format";
import { store, useView } from "../../../core/store";
import type { JobSnapshot, SnapshotDevice } from "../../../core/types";
import { Chips } from "../../../parts/chips";
import { TableView } from "../../../parts/table-view";
<<<<<<< HEAD
import { askedOf, type Chosen, choose, chosenOf, MAP_ID, markedOf, momentOf } from "./chosen";
import { Compared, comparedOf, shortPath, TABLES_ID } from "./compared";
import { Curve } from "./curve";
=======
import { isTold, NoBlocks } from "../lack";
import { AreaPlot } from "./area";
>>>>>>> w8_trace
import { BlockMap } from "./map";
import "./snapshot.css";
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

function Moment({ device, moment }: { device: SnapshotDevice; moment: number | null }) {
	const marked = useView((view) => view.own.marked);
	const peak = device.peak_event;
	const set = (event: number | null) =>
		store.setOwn({ moment: event === null ? "" : String(event) });
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
			{device.exact && peak !== null && moment !== peak ? (
				<button type="button" class="button" onClick={() => set(peak)}>
					Show the peak
				</button>
			) : null}
			{marked ? (
				<button
					type="button"
					class="button"
					onClick={() => store.setOwn({ marked: "" })}
				>
					Clear the marks
				</button>
			) : null}
		</div>
	);
}

<<<<<<< HEAD
function Blocks({ chosen, device }: { chosen: Chosen; device: SnapshotDevice }) {
	const own = useView((view) => view.own);
	const moment = momentOf(own, device);
=======
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
>>>>>>> w8_trace
	return (
		<div id={MAP_ID}>
			<Moment device={device} moment={moment} />
			<BlockMap
				snapshot={chosen.snapshot.snapshot}
				device={device.device}
				event={moment}
				marked={markedOf(own)}
			/>
		</div>
	);
}

function Tables({ chosen }: { chosen: Chosen }) {
	const { job } = useOpened();
	const own = useView((view) => view.own);
	const compared = comparedOf(job, chosen);
	const tables = TABLES.filter(({ id }) =>
		chosen.device === null ? SUMS.has(id) : id !== "snapshot-diff" || compared,
	);
	const wanted = tables.find(({ id }) => id === own.view) ?? tables[0];
	const view = wanted?.id ?? "snapshot-summary";
	const asked = view === "snapshot-diff" && compared ? compared : askedOf(chosen);
	return (
		<div id={TABLES_ID}>
			<Chips
				label="Tables"
				chips={tables}
				chosen={view}
				onChoose={(id) => store.setOwn({ view: id })}
				strong
			/>
			<TableView
				key={`${view} ${JSON.stringify(asked)}`}
				view={view}
				id={view}
				parameters={asked}
				told
				lines={12}
			/>
		</div>
	);
}

function Whole({ chosen }: { chosen: Chosen }) {
	const { snapshot, device } = chosen;
	return (
		<>
<<<<<<< HEAD
			<SnapshotVerdict {...askedOf(chosen)} />
			<Compared chosen={chosen} />
			{(device ? device.events : snapshot.points) > 0 ? <Curve chosen={chosen} /> : null}
			{device?.segments ? <Blocks chosen={chosen} device={device} /> : null}
			<Tables chosen={chosen} />
=======
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
>>>>>>> w8_trace
		</>
	);
}

function deviceTitle({ device }: SnapshotDevice): string {
	return device.startsWith("host") ? device : `device ${device}`;
}

export function Snapshots({ snapshots }: { snapshots: JobSnapshot[] }) {
	const chosen = chosenOf(
		snapshots,
		useView((view) => view.own),
	);
	if (!chosen) return null;
	const { snapshot, device } = chosen;
	return (
		<>
			{snapshots.length > 1 ? (
				<select
					class="select"
					aria-label="Snapshot"
					value={String(snapshot.snapshot)}
					onChange={(event) => choose({ snapshot: event.currentTarget.value })}
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
<<<<<<< HEAD
						title: deviceTitle(one),
=======
						title: /^(host|cpu)/.test(one.device) ? one.device : `device ${one.device}`,
>>>>>>> w8_trace
						about: `${formatCount(one.events)} events`,
					}))}
					chosen={device?.device ?? ""}
					onChoose={(id) => choose({ device: id })}
				/>
			) : null}
			<Whole key={`${snapshot.snapshot} ${device?.device ?? ""}`} chosen={chosen} />
		</>
	);
}

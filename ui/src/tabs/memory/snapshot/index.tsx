/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - a memory snapshot: verdict, curve, block map, tables.
 */
import type { JobSnapshot, SnapshotDevice } from "../../../core/types";
import { useOpened } from "../../../core/context";
import { formatCount } from "../../../core/format";
import { store, useView } from "../../../core/store";
import { Chips } from "../../../parts/chips";
import { TableView } from "../../../parts/table-view";
import { isTold, NoBlocks } from "../lack";
import { askedOf, type Chosen, choose, chosenOf, MAP_ID, markedOf, momentOf } from "./chosen";
import { Compared, comparedOf, shortPath, TABLES_ID } from "./compared";
import { Curve } from "./curve";
import { BlockMap } from "./map";
import { Phases } from "./phases";
import "./snapshot.css";
import { SnapshotVerdict } from "./verdict";

const TABLES = [
	{ id: "snapshot-holders", title: "Holders", about: "At the peak and at the end" },
	{ id: "snapshot-phases", title: "Phases", about: "Peak memory of each phase" },
	{ id: "snapshot-leaks", title: "Leaks", about: "Allocated and never freed" },
	{ id: "snapshot-allocations", title: "Allocations", about: "Largest first" },
	{ id: "snapshot-segments", title: "Segments", about: "What the allocator reserved" },
	{ id: "snapshot-oom", title: "Out of memory", about: "Allocations that failed, and why" },
	{ id: "snapshot-timeline", title: "Timeline", about: "The curve as numbers" },
	{ id: "snapshot-settings", title: "Settings", about: "Settings of the allocator" },
	{ id: "snapshot-summary", title: "Summary", about: "All numbers of each device" },
	{ id: "snapshot-findings", title: "Findings", about: "What stands out" },
	{ id: "snapshot-diff", title: "Comparison", about: "Changes from the other snapshot" },
];

/* What a memory timeline has something to say in. */
const SUMS = new Set(["snapshot-summary", "snapshot-timeline"]);

const LAYOUTS = [
	{ id: "", title: "all at once", about: "Segments one after another, wrapped like text" },
	{ id: "rows", title: "one row each", about: "Every segment on its own row" },
];

function Moment({ device, moment }: { device: SnapshotDevice; moment: number | null }) {
	const marked = useView((view) => view.own.marked);
	const rows = useView((view) => view.own.map) === "rows";
	const peak = device.peak_event;
	const set = (event: number | null) =>
		store.setOwn({ moment: event === null ? "" : String(event) });
	return (
		<div class="snapshot-tools">
			<h2>
				Segments and blocks{" "}
				{moment === null ? "at the end" : `after event ${formatCount(moment)}`}
			</h2>
			<Chips
				label="Segments"
				chips={LAYOUTS}
				chosen={rows ? "rows" : ""}
				onChoose={(map) => store.setOwn({ map })}
			/>
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
					Clear marks
				</button>
			) : null}
		</div>
	);
}

function Blocks({ chosen, device }: { chosen: Chosen; device: SnapshotDevice }) {
	const own = useView((view) => view.own);
	const moment = momentOf(own, device);
	return (
		<div id={MAP_ID}>
			<Moment device={device} moment={moment} />
			<BlockMap
				snapshot={chosen.snapshot.snapshot}
				device={device.device}
				event={moment}
				marked={markedOf(own)}
				rows={own.map === "rows"}
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
	).filter(({ id }) => isTold(id, chosen.snapshot.of_trace));
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
			<SnapshotVerdict {...askedOf(chosen)} />
			<Compared chosen={chosen} />
			{(device ? device.events : snapshot.points) > 0 ? <Curve chosen={chosen} /> : null}
			{device?.events ? <Phases {...askedOf(chosen)} events={device.events} /> : null}
			{device?.segments ? <Blocks chosen={chosen} device={device} /> : null}
			{snapshot.of_trace ? <NoBlocks /> : null}
			<Tables chosen={chosen} />
		</>
	);
}

function deviceTitle({ device }: SnapshotDevice): string {
	return /^(host|cpu)/.test(device) ? device : `device ${device}`;
}

export function Snapshots({ snapshots }: { snapshots: JobSnapshot[] }) {
	const chosen = chosenOf(
		snapshots,
		useView((view) => view.own),
	);
	if (!chosen) return null;
	const { snapshot, device } = chosen;
	const devices = snapshot.devices ?? [];
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
			{devices.length > 1 ? (
				<Chips
					label="Device"
					chips={devices.map((one) => ({
						id: one.device,
						title: deviceTitle(one),
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

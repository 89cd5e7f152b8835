/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve.tsx - the curve of a device with its controls: grouping, axis, search, jumps to the peak
 * and to failed allocations.
 */
import type { MemoryEvent, SnapshotDevice } from "../../../core/types";
import { useMemo } from "preact/hooks";
import type { Client } from "../../../core/client";
import { useLoaded, useOpened } from "../../../core/context";
import { store, useView } from "../../../core/store";
import { Chips } from "../../../parts/chips";
import { AreaPlot } from "./area";
import { type Bands, NEVER } from "./bands";
import { askedOf, type Chosen, CURVE_ID, cursorOf, setWindow, windowOf } from "./chosen";
import type { Mark } from "./drawing";
import type { Jump } from "./gestures";
import { type Axis, axisLength, BEFORE, clampWindow, readArea, type Window } from "./model";
import { type Step, Steps, useSteps } from "./stepping";

const GROUPS = [
	{ id: "category", title: "by category" },
	{ id: "line", title: "by line" },
	{ id: "stack", title: "by stack" },
];

const SHAPES = [
	{ id: "", title: "by holder", about: "What each category, line or stack holds" },
	{
		id: "allocation",
		title: "by allocation",
		about: "One band per allocation, from allocation to free",
	},
];

const AXES = [
	{ id: "event", title: "events", about: "The same width for each event" },
	{ id: "time", title: "time", about: "Width by time" },
];

/* Of all that there is, on each side of a place that one goes to. */
const AROUND = 100;

function marksOf(
	device: SnapshotDevice | null,
	peak: number | null,
	moment: number | null,
): Mark[] {
	const marks: Mark[] = (device?.ooms ?? []).map((event) => ({
		event,
		label: "out of memory",
		token: "--bad",
	}));
	if (peak !== null) marks.unshift({ event: peak, label: "peak", token: "--path" });
	const label = device?.exact && device.segments ? "blocks below" : "event";
	if (moment !== null) marks.push({ event: moment, label, token: "--text" });
	return marks;
}

/* The event of the peak; a memory timeline has none, but the one pixel of all shows it. */
function usePeak({ snapshot, device }: Chosen): number | null {
	const { client } = useOpened();
	const { points, snapshot: number } = snapshot;
	const loaded = useLoaded(async () => {
		if (device || points < 1) return null;
		const asked = { snapshot: number, group: "category", from: 0, to: points, pixels: 1 };
		return readArea((await client.bytes("memory", asked)).bytes)?.event[0] ?? null;
	}, [client, number, device, points]);
	return device ? device.peak_event : loaded.value;
}

/* When an event was; null where no times were recorded. */
async function timeOf(client: Client, chosen: Chosen, event: number): Promise<number | null> {
	return (await client.json("event", { ...askedOf(chosen), event }))?.at_ns ?? null;
}

/* The last event that is over at a moment. */
async function eventAt(client: Client, chosen: Chosen, at: number): Promise<number> {
	const window = { from: Math.floor(at), to: Math.floor(at) + 1, pixels: 1 };
	const asked = { ...askedOf(chosen), group: "category", axis: "time", ...window };
	const event = readArea((await client.bytes("memory", asked)).bytes)?.event[0] ?? BEFORE;
	return event === BEFORE ? 0 : event;
}

/* The same stretch on the other axis. */
async function turned(client: Client, chosen: Chosen, window: Window, to: Axis): Promise<Window> {
	const ends = [window.from, window.to - 1];
	const [from = 0, last = 0] = await Promise.all(
		ends.map(async (end) =>
			to === "time"
				? ((await timeOf(client, chosen, end)) ?? 0)
				: await eventAt(client, chosen, end),
		),
	);
	return { from, to: Math.max(from, last) + 1 };
}

/* Where the curve is, and how it goes elsewhere. */
function useTravel(chosen: Chosen) {
	const { client } = useOpened();
	const { snapshot, device } = chosen;
	const own = useView((view) => view.own);
	const peak = usePeak(chosen);
	const timed = device ? device.span_ns !== null && device.span_ns > 0 : false;
	const axis: Axis = own.axis === "time" && timed ? "time" : "event";
	const length = axisLength(device, snapshot.points, axis);
	const window = windowOf(own);
	const shown = clampWindow(window ?? { from: 0, to: length }, length);
	const zoom = (next: Window) =>
		setWindow(next.from <= 0 && next.to >= length ? null : next);
	const go = async (event: number) => {
		const at = axis === "time" ? await timeOf(client, chosen, event) : event;
		if (at === null) return;
		zoom(clampWindow({ from: at - length / AROUND, to: at + length / AROUND }, length));
		if (device) store.setOwn({ moment: String(event) });
	};
	const turn = async (to: Axis) => {
		const next = window ? await turned(client, chosen, shown, to) : null;
		store.setOwn({ axis: to, window: next ? `${next.from}-${next.to}` : "" });
	};
	return { own, axis, timed, length, peak, window, shown, zoom, go, turn };
}

type Travel = ReturnType<typeof useTravel>;

/* The next failure after the one that was gone to last, round and round. */
function nextOom(ooms: number[], moment: number | null, way: 1 | -1): number | null {
	if (!ooms.length) return null;
	const at = moment ?? -1;
	if (way > 0) return ooms.find((event) => event > at) ?? ooms[0] ?? null;
	return [...ooms].reverse().find((event) => event < at) ?? ooms[ooms.length - 1] ?? null;
}

function Jumps({ device, travel }: { device: SnapshotDevice | null; travel: Travel }) {
	const { go, own, peak } = travel;
	const ooms = device?.ooms ?? [];
	const failed = (way: 1 | -1) => {
		const event = nextOom(ooms, cursorOf(own, device), way);
		if (event !== null) void go(event);
	};
	return (
		<>
			{peak !== null ? (
				<button
					type="button"
					class="button"
					title="Press P on the curve"
					onClick={() => void go(peak)}
				>
					Go to the peak
				</button>
			) : null}
			{ooms.length > 1 ? (
				<button
					type="button"
					class="button"
					title="Press Shift+O on the curve"
					onClick={() => failed(-1)}
				>
					Previous failure
				</button>
			) : null}
			{ooms.length ? (
				<button
					type="button"
					class="button"
					title="Out of memory: press O on the curve"
					onClick={() => failed(1)}
				>
					{ooms.length > 1 ? "Next failure" : "Go to the failure"}
				</button>
			) : null}
		</>
	);
}

function Tools({ chosen, travel }: { chosen: Chosen; travel: Travel }) {
	const { device } = chosen;
	const { own, axis } = travel;
	return (
		<div class="snapshot-tools">
			{device ? (
				<Chips
					label="Drawn"
					chips={SHAPES}
					chosen={own.drawn ?? ""}
					onChoose={(drawn) => store.setOwn({ drawn })}
				/>
			) : null}
			<Chips
				label={own.drawn ? "Coloured" : "Stacked"}
				chips={device ? GROUPS : GROUPS.slice(0, 1)}
				chosen={device ? own.stacked || "category" : "category"}
				onChoose={(stacked) => store.setOwn({ stacked })}
			/>
			{travel.timed ? (
				<Chips
					label="Axis"
					chips={AXES}
					chosen={axis}
					onChoose={(next) => void travel.turn(next as Axis)}
				/>
			) : null}
			<input
				type="search"
				class="input"
				placeholder="Find a holder"
				aria-label="Find a holder"
				value={own.find ?? ""}
				onInput={(event) => store.setOwn({ find: event.currentTarget.value })}
			/>
			<span class="spring" />
			<Jumps device={device} travel={travel} />
			<button
				type="button"
				class="button"
				disabled={!travel.window}
				onClick={() => setWindow(null)}
			>
				Show all
			</button>
		</div>
	);
}

/* Steps from where the curve is; what they lead to stays in sight. */
function useStepping(chosen: Chosen, { axis, length, shown, zoom }: Travel) {
	const { client } = useOpened();
	return useSteps(chosen, async (step: Step) => {
		const forth = step.startsWith("next");
		const end = forth ? shown.from : shown.to;
		const near = axis === "time" ? await eventAt(client, chosen, end) : end;
		const show = (found: MemoryEvent) => {
			const at = axis === "time" ? (found.at_ns ?? shown.from) : found.event;
			const half = (shown.to - shown.from) / 2;
			if (at < shown.from || at >= shown.to)
				zoom(clampWindow({ from: at - half, to: at + half }, length));
		};
		const events = chosen.device?.events ?? 0;
		return { event: forth ? near - 1 : Math.min(near, events), show };
	});
}

/* The drawer of a band: of a block from before the events what the map knows, or its stack. */
function chooseBand({ device }: Chosen, event: number, bands: Bands, band: number): void {
	const made = bands.made[band] ?? BEFORE;
	const stack = bands.stack[band] ?? 0;
	const at = event === BEFORE ? null : event;
	const address = `0x${(bands.address[band] ?? 0n).toString(16)}`;
	const stays = (bands.freed[band] ?? NEVER) === NEVER;
	if (made !== BEFORE) store.set({ selected: { kind: "allocation", event: made } });
	else if (device?.segments && (device.exact || stays))
		store.set({ selected: { kind: "block", address, event: device.exact ? at : null } });
	else if (stack) store.set({ selected: { kind: "held", stack, event: null } });
	if (at !== null) store.setOwn({ moment: String(at) });
}

export function Curve({ chosen }: { chosen: Chosen }) {
	const travel = useTravel(chosen);
	const { snapshot, device } = chosen;
	const { own } = travel;
	const moment = cursorOf(own, device);
	const { peak } = travel;
	const marks = useMemo(() => marksOf(device, peak, moment), [device, peak, moment]);
	const group = device ? own.stacked || "category" : "category";
	const banded = device !== null && own.drawn === "allocation";
	const step = useStepping(chosen, travel);
	const jump = (to: Jump) => {
		const way = to === "next-failure" ? 1 : -1;
		const event = to === "peak" ? peak : nextOom(device?.ooms ?? [], moment, way);
		if (event !== null) void travel.go(event);
	};
	const choose = (event: number, stack: number) => {
		const at = event === BEFORE || !device ? null : event;
		if (stack)
			store.set({
				selected: { kind: "held", stack, event: device?.exact ? at : null },
			});
		if (at !== null) store.setOwn({ moment: String(at) });
	};
	return (
		<div id={CURVE_ID}>
			<Tools chosen={chosen} travel={travel} />
			<AreaPlot
				snapshot={snapshot.snapshot}
				device={device?.device ?? null}
				group={group}
				banded={banded}
				axis={travel.axis}
				length={travel.length}
				window={travel.shown}
				zoom={travel.zoom}
				jump={jump}
				search={own.find ?? ""}
				marks={marks}
				choose={choose}
				chooseBand={(event, bands, band) => chooseBand(chosen, event, bands, band)}
				label={
					banded
						? "Active memory, one band per allocation"
						: `Active memory, stacked by ${group}`
				}
			/>
			<Steps chosen={chosen} go={step} />
		</div>
	);
}

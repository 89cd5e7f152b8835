/*
 * curve.tsx - the curve of a device with its tools: what it is stacked by, its axis, search,
 * the ways to the peak and to allocations that failed.
 */
import { useMemo } from "preact/hooks";
import type { Client } from "../../../core/client";
import { useLoaded, useOpened } from "../../../core/context";
import { store, useView } from "../../../core/store";
import type { SnapshotDevice } from "../../../core/types";
import { Chips } from "../../../parts/chips";
import { AreaPlot } from "./area";
import { askedOf, type Chosen, CURVE_ID, momentOf, setWindow, windowOf } from "./chosen";
import type { Mark } from "./drawing";
import {
	type Axis,
	axisLength,
	BEFORE,
	clampWindow,
	type EventAnswer,
	readArea,
	type Window,
} from "./model";

const GROUPS = [
	{ id: "category", title: "by category" },
	{ id: "line", title: "by line" },
	{ id: "stack", title: "by stack" },
];

const AXES = [
	{ id: "event", title: "events", about: "One place for each event" },
	{ id: "time", title: "time", about: "As time went by" },
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
	if (moment !== null) marks.push({ event: moment, label: "blocks below", token: "--text" });
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
	return (await client.json<EventAnswer>("event", { ...askedOf(chosen), event })).at_ns;
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
		if (device?.exact) store.setOwn({ moment: String(event) });
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
		const event = nextOom(ooms, momentOf(own, device), way);
		if (event !== null) void go(event);
	};
	return (
		<>
			{peak !== null ? (
				<button
					type="button"
					class="button"
					title="P on the curve"
					onClick={() => void go(peak)}
				>
					Go to the peak
				</button>
			) : null}
			{ooms.length > 1 ? (
				<button
					type="button"
					class="button"
					title="Shift+O on the curve"
					onClick={() => failed(-1)}
				>
					Previous failure
				</button>
			) : null}
			{ooms.length ? (
				<button
					type="button"
					class="button"
					title="Out of memory: O on the curve"
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
			<Chips
				label="Stacked by"
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

export function Curve({ chosen }: { chosen: Chosen }) {
	const travel = useTravel(chosen);
	const { snapshot, device } = chosen;
	const { own } = travel;
	const moment = momentOf(own, device);
	const { peak } = travel;
	const marks = useMemo(() => marksOf(device, peak, moment), [device, peak, moment]);
	const group = device ? own.stacked || "category" : "category";
	const jump = (to: "peak" | "next" | "previous") => {
		const event =
			to === "peak"
				? peak
				: nextOom(device?.ooms ?? [], moment, to === "next" ? 1 : -1);
		if (event !== null) void travel.go(event);
	};
	const choose = (event: number, stack: number) => {
		const at = event === BEFORE ? null : event;
		const known = device?.exact ? at : null;
		if (stack) store.set({ selected: { kind: "held", stack, event: known } });
		if (known !== null) store.setOwn({ moment: String(known) });
	};
	return (
		<div id={CURVE_ID}>
			<Tools chosen={chosen} travel={travel} />
			<AreaPlot
				snapshot={snapshot.snapshot}
				device={device?.device ?? null}
				group={group}
				axis={travel.axis}
				length={travel.length}
				window={travel.shown}
				zoom={travel.zoom}
				jump={jump}
				search={own.find ?? ""}
				marks={marks}
				choose={choose}
				label={`Active memory, stacked by ${group}`}
			/>
		</div>
	);
}

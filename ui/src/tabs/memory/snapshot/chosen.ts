/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen.ts - which snapshot, device and moment is shown. It comes from the address, so that
 * links, curve, map and drawer agree.
 */
import type { Job } from "../../../core/client";
import type { JobSnapshot, SnapshotDevice } from "../../../core/types";
import { useLoaded, useOpened } from "../../../core/context";
import { store, useView, type View } from "../../../core/store";
import type { Window } from "./model";

type Own = View["own"];

export interface Chosen {
	snapshot: JobSnapshot;
	device: SnapshotDevice | null; /* null: a memory timeline has none */
}

/* Without a choice the first device with events: the others say less. */
export function chosenOf(snapshots: JobSnapshot[], own: Own): Chosen | null {
	const wanted = snapshots.find((one) => String(one.snapshot) === own.snapshot);
	const snapshot = wanted ?? snapshots[0];
	if (!snapshot) return null;
	const devices = snapshot.devices ?? [];
	const usual = devices.find((one) => one.events > 0) ?? devices[0];
	const device = devices.find((one) => one.device === own.device) ?? usual ?? null;
	return { snapshot, device };
}

/* The traces of the ranks in scope, and the one of them whose memory is shown. */
export function tracedOf(job: Job, { own, rank }: Pick<View, "own" | "rank">) {
	const ranked: JobSnapshot[] =
		rank === null ? job.traced : job.traced.filter((one) => one.rank === rank);
	const chosen = ranked.find((one) => String(one.snapshot) === own.traced) ?? ranked[0];
	return { ranked, chosen: chosen ?? null };
}

/* An entry with its devices: the core makes that of a trace when it is asked for. */
export function useEntry(number: number | null) {
	const { client } = useOpened();
	return useLoaded(
		async () =>
			number === null
				? null
				: (await client.json("snapshot", { snapshot: number })).entry,
		[client, number],
	);
}

/* What the tab shows, for the drawer: a snapshot, or the memory of a trace. */
export function useChosen(): Chosen | null {
	const { job } = useOpened();
	const own = useView((view) => view.own);
	const rank = useView((view) => view.rank);
	const traced = own.kind === "held" ? tracedOf(job, { own, rank }).chosen : null;
	const entry = useEntry(traced?.snapshot ?? null).value;
	if (!traced) return chosenOf(job.snapshots, own);
	return entry?.snapshot === traced.snapshot ? chosenOf([entry], own) : null;
}

/* Parameters of requests about a device of a snapshot. */
export type AskedDevice = {
	run?: number;
	snapshot: number;
	device: string | null;
};

export function askedOf(chosen: Chosen): AskedDevice {
	return { snapshot: chosen.snapshot.snapshot, device: chosen.device?.device ?? null };
}

/* Another snapshot or device: places in the last one mean nothing in it. */
export function choose(change: { snapshot?: string; device?: string }): void {
	const gone = { window: "", moment: "", marked: "" };
	const device = change.snapshot === undefined ? {} : { device: "" };
	store.set({ selected: null, own: { ...store.view.own, ...gone, ...device, ...change } });
}

export function windowOf(own: Own): Window | null {
	const found = /^(\d+)-(\d+)$/.exec(own.window ?? "");
	if (!found) return null;
	const [from, to] = [Number(found[1]), Number(found[2])];
	return from < to ? { from, to } : null;
}

export function setWindow(window: Window | null): void {
	store.setOwn({ window: window ? `${window.from}-${window.to}` : "" });
}

/* The event that one has come to; null: none. */
export function cursorOf(own: Own, device: SnapshotDevice | null): number | null {
	const moment = /^\d+$/.test(own.moment ?? "") ? Number(own.moment) : -1;
	return moment >= 0 && moment < (device?.events ?? 0) ? moment : null;
}

/* The event after which the map shows the blocks; null: the end, which is always known. */
export function momentOf(own: Own, device: SnapshotDevice | null): number | null {
	return device?.exact ? cursorOf(own, device) : null;
}

/* Blocks that are looked for: of stacks, or at an address. */
export interface Marked {
	stacks: Set<number>;
	address: bigint | null;
}

export function markedOf(own: Own): Marked | null {
	const text = own.marked ?? "";
	if (/^0x[0-9a-f]{1,16}$/.test(text)) return { stacks: new Set(), address: BigInt(text) };
	if (!/^\d+(\.\d+)*$/.test(text)) return null;
	return { stacks: new Set(text.split(".").map(Number)), address: null };
}

/* More would make the address too long; the largest are the first. */
const MARKED_MOST = 64;

export function writeStacks(stacks: number[]): string {
	return stacks.slice(0, MARKED_MOST).join(".");
}

/* Brings a part of the tab into sight. */
function reveal(id: string): void {
	const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
	const element = document.getElementById(id);
	element?.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
}

export const CURVE_ID = "snapshot-curve";
export const MAP_ID = "snapshot-map";

/* The map at a moment, blocks marked. */
export function showInMap(moment: number | null, marked: string): void {
	store.setOwn({ moment: moment === null ? "" : String(moment), marked });
	reveal(MAP_ID);
}

/* The curve, stacked so that the holder has a colour of its own, and looked for. */
export function showInCurve(stacked: "line" | "category" | "stack", find: string): void {
	store.setOwn({ stacked, find });
	reveal(CURVE_ID);
}

/* Events of the curve, with a tenth of their number around them. */
export function showEvents(from: number, to: number, events: number): void {
	const around = Math.max(8, Math.ceil((to - from) / 10));
	const window = {
		from: Math.max(0, from - around),
		to: Math.min(events, to + around + 1),
	};
	const moment = String(from);
	store.setOwn({ axis: "event", window: `${window.from}-${window.to}`, moment });
	reveal(CURVE_ID);
}

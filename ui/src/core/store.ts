/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.ts - what the page shows: tab, scope, window, selection. It lives in the address, so
 * that a link shows the same; the rest of the page only reads it.
 */
import { useEffect, useState } from "preact/hooks";
import { joinedNotes, type Note, readNote, writeNote } from "./notes";

export type Selection =
	| { kind: "slice"; file: number; row: number }
	| { kind: "gap"; file: number; track: number; gap: number }
	| { kind: "finding"; number: number }
	/* `rows`: as the route range has them; without them all rows of the scope. */
	| { kind: "range"; from: number; to: number; rows?: string }
	| { kind: "note"; from: number; to: number }
	/* Of a snapshot: a stack that holds memory; a block, after an event or at the end; an
	   allocation, by its event. */
	| { kind: "held"; stack: number; event: number | null }
	| { kind: "block"; address: string; event: number | null }
	| { kind: "allocation"; event: number }
	/* All slices of one name; run 1 is what the first one is compared with. */
	| { kind: "name"; name: string; run?: number }
	/* A row of a table: its number in the order of the core. */
	| { kind: "row"; view: string; group: string; index: number };

export interface View {
	tab: string;
	rank: number | null; /* scope: null is all */
	step: number | null;
	from: number | null; /* window of the timeline; null: all of it */
	to: number | null;
	selected: Selection | null;
	search: string;
	notes: Note[]; /* of the whole run: every tab keeps them */
	/* what a tab keeps for itself: group, sort, filter */
	own: Record<string, string>;
}

const EMPTY: View = {
	tab: "verdict",
	rank: null,
	step: null,
	from: null,
	to: null,
	selected: null,
	search: "",
	notes: [],
	own: {},
};

/* The token of a link is no part of the view. */
const KNOWN = new Set(["rank", "step", "from", "to", "at", "q", "note", "token"]);

export function writeSelection(selected: Selection): string {
	if (selected.kind === "slice") return `slice.${selected.file}.${selected.row}`;
	if (selected.kind === "gap")
		return `gap.${selected.file}.${selected.track}.${selected.gap}`;
	if (selected.kind === "finding") return `finding.${selected.number}`;
	if (selected.kind === "name")
		return `${selected.run ? "other" : "name"}.${selected.name}`;
	if (selected.kind === "held") return `held.${selected.stack}.${selected.event ?? "end"}`;
	if (selected.kind === "block")
		return `block.${selected.address}.${selected.event ?? "end"}`;
	if (selected.kind === "allocation") return `allocation.${selected.event}`;
	if (selected.kind === "row")
		return `row.${selected.view}.${selected.group}.${selected.index}`;
	const span = `${Math.round(selected.from)}.${Math.round(selected.to)}`;
	if (selected.kind === "note") return `note.${span}`;
	return `range.${span}${selected.rows ? `.${selected.rows}` : ""}`;
}

function readRow([view = "", group = "", index = ""]: string[]): Selection | null {
	const named = /^[a-z-]+$/.test(view) && /^[a-z-]*$/.test(group) && /^\d+$/.test(index);
	return named ? { kind: "row", view, group, index: Number(index) } : null;
}

function readHeld(kind: string, [what = "", when = ""]: string[]): Selection | null {
	if (!/^(\d+|end)$/.test(when)) return null;
	const event = when === "end" ? null : Number(when);
	if (kind === "block" && /^0x[0-9a-f]+$/.test(what)) return { kind, address: what, event };
	if (kind === "held" && /^\d+$/.test(what)) return { kind, stack: Number(what), event };
	return null;
}

/* Groups of a file and its tracks: 0-3-9_2. */
const ROWS = /^\d+(-\d+)*(_\d+(-\d+)*)*$/;

function readRange([from = "", to = "", rows]: string[]): Selection | null {
	if (!/^\d+$/.test(from) || !/^\d+$/.test(to)) return null;
	const span = { kind: "range" as const, from: Number(from), to: Number(to) };
	if (rows === undefined) return span;
	return ROWS.test(rows) ? { ...span, rows } : null;
}

export function readSelection(text: string | null): Selection | null {
	const [kind, ...words] = (text ?? "").split(".");
	const name = words.join(".");
	if (kind === "name") return name ? { kind, name } : null;
	if (kind === "other") return name ? { kind: "name", name, run: 1 } : null;
	if (kind === "range") return words.length <= 3 ? readRange(words) : null;
	if (kind === "row") return readRow(words);
	if (kind === "held" || kind === "block") return readHeld(kind, words);
	const [a = -1, b = -1, c = -1] = words.map(Number);
	if (!words.every((word) => /^\d+$/.test(word))) return null;
	if (kind === "slice" && words.length === 2) return { kind, file: a, row: b };
	if (kind === "gap" && words.length === 3) return { kind, file: a, track: b, gap: c };
	if (kind === "finding" && words.length === 1) return { kind, number: a };
	if (kind === "allocation" && words.length === 1) return { kind, event: a };
	if (kind === "note" && words.length === 2) return { kind, from: a, to: b };
	return null;
}

export function writeAddress(view: View): string {
	const words = new URLSearchParams();
	if (view.rank !== null) words.set("rank", String(view.rank));
	if (view.step !== null) words.set("step", String(view.step));
	if (view.from !== null) words.set("from", String(Math.round(view.from)));
	if (view.to !== null) words.set("to", String(Math.round(view.to)));
	if (view.selected) words.set("at", writeSelection(view.selected));
	if (view.search) words.set("q", view.search);
	for (const note of view.notes) words.append("note", writeNote(note));
	for (const [name, value] of Object.entries(view.own)) if (value) words.set(name, value);
	const text = words.toString();
	return `#/${view.tab}${text ? `?${text}` : ""}`;
}

function readNumber(text: string | null): number | null {
	return text !== null && /^-?\d+$/.test(text) ? Number(text) : null;
}

export function readAddress(hash: string): View {
	const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
	const words = new URLSearchParams(query);
	const own: Record<string, string> = {};
	for (const [name, value] of words) if (!KNOWN.has(name)) own[name] = value;
	return {
		tab: path || EMPTY.tab,
		rank: readNumber(words.get("rank")),
		step: readNumber(words.get("step")),
		from: readNumber(words.get("from")),
		to: readNumber(words.get("to")),
		selected: readSelection(words.get("at")),
		search: words.get("q") ?? "",
		notes: joinedNotes(words.getAll("note").flatMap((word) => readNote(word) ?? [])),
		own,
	};
}

/* How long the address waits while the view moves: browsers refuse more than 100 in 30 s. */
const ADDRESS_MS = 400;

/* Marks an address of this page in the history: what it says of notes may be old. */
const OWN = "stepscope";

class Store {
	view: View = { ...EMPTY };
	arrived = true; /* by a link, Back or Forward: the address says everything */
	jumped = false; /* to a place whose window is not settled: the timeline sets it */
	private listeners = new Set<() => void>();
	private timer = 0;

	/* `place`: where a report opens that was not told another place. */
	begin(place = ""): void {
		this.view = readAddress(location.hash || place);
		addEventListener("hashchange", () => {
			if (location.hash === writeAddress(this.view)) return;
			clearTimeout(this.timer);
			this.arrived = true;
			this.jumped = false;
			const { notes } = this.view;
			const next = readAddress(location.hash);
			/* Back and Forward lead to places; notes are what one has written since. A
			 * link that somebody sent adds its own. */
			const own = history.state === OWN;
			this.view = {
				...next,
				notes: own ? notes : joinedNotes([...notes, ...next.notes]),
			};
			history.replaceState(OWN, "", writeAddress(this.view));
			this.tell();
		});
	}

	/* Another tab is another place to go back to; everything else changes the place. */
	set(change: Partial<View>): void {
		const goes = change.tab !== undefined && change.tab !== this.view.tab;
		if (goes) return this.go({ own: {}, ...change });
		this.view = { ...this.view, ...change };
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => this.write(), ADDRESS_MS);
		this.tell();
	}

	/* To a place that Back leads away from again. */
	go(change: Partial<View>): void {
		this.write();
		this.arrived = false;
		this.view = { ...this.view, ...change };
		history.pushState(OWN, "", writeAddress(this.view));
		this.tell();
	}

	/* The place as it is now; what waits to be written is not lost. */
	private write(): void {
		clearTimeout(this.timer);
		history.replaceState(OWN, "", writeAddress(this.view));
	}

	setOwn(change: Record<string, string>): void {
		this.set({ own: { ...this.view.own, ...change } });
	}

	subscribe(listener: () => void): () => void {
		this.listeners.add(listener);
		return () => this.listeners.delete(listener);
	}

	private tell(): void {
		for (const listener of [...this.listeners]) listener();
	}
}

export const store = new Store();

/* A part of the view; the component is drawn again when it changes. */
export function useView<T>(select: (view: View) => T): T {
	const [value, change] = useState(() => select(store.view));
	useEffect(() => {
		const update = () => change(() => select(store.view));
		update();
		return store.subscribe(update);
	}, []);
	return value;
}

/* Leads to a place on the timeline: a third of the window on each side of it. Which rows are
 * shown there follows from what is selected (timeline/jump.ts). */
export function showOnTimeline(start: number, duration: number, selected: Selection | null): void {
	if (!Number.isFinite(start) || !Number.isFinite(duration)) return;
	const around = Math.max(duration, 1000);
	const own = store.view.tab === "timeline" ? store.view.own : {};
	const jump = selected ? writeSelection(selected) : "";
	store.jumped = true;
	store.go({
		tab: "timeline",
		from: start - around,
		to: start + duration + around,
		selected,
		own: { ...own, jump },
	});
}

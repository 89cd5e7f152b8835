/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.tsx - notes between the axis and the rows: a bar as long as the time range, with its
 * text. They are buttons over the canvas, moved in every frame.
 */
import { useEffect, useRef } from "preact/hooks";
import { type Note, noteOn } from "../core/notes";
import { store, useView } from "../core/store";
import { type Stage, TOP } from "./stage";

export const NOTE_ROW = 18;

/* Notes over each other take rows; more than these share the last one. */
const ROWS_MOST = 3;

/* Narrower, a text cannot be read; a mark stays. */
const TEXT_LEAST = 28;
const MARK = 6;

export interface Placed {
	note: Note;
	row: number;
	until: number; /* where the next one of the row begins */
}

/* Which row each is in: the first that is free when it begins. Notes are in order. */
export function placeNotes(notes: Note[]): Placed[] {
	const last: (Placed | undefined)[] = [];
	return notes.map((note) => {
		let row = 0;
		while (row < ROWS_MOST - 1 && (last[row]?.note.to ?? -Infinity) > note.from) row++;
		const before = last[row];
		if (before) before.until = note.from;
		const placed = { note, row, until: Infinity };
		last[row] = placed;
		return placed;
	});
}

export function noteRows(placed: Placed[]): number {
	return placed.reduce((most, one) => Math.max(most, one.row + 1), 0);
}

/* From the left edge to where its time ends, and as far as its text finds room. */
function move(element: HTMLElement, placed: Placed, stage: Stage): void {
	const { span, width } = stage;
	const perNs = width / (span.to - span.from);
	const x = (ns: number) => (ns - span.from) * perNs;
	const from = Math.max(0, x(placed.note.from));
	const to = Math.min(width, Math.max(x(placed.note.to), from + MARK));
	const room = Math.min(width, x(placed.until)) - from - 2;
	const seen = x(placed.note.to) >= -1 && from < width && room > 1;
	element.hidden = !seen;
	if (!seen) return;
	const bar = Math.min(to - from, Math.max(room, MARK));
	element.style.transform = `translateX(${Math.round(from)}px)`;
	element.style.maxWidth = `${Math.max(MARK, Math.round(room))}px`;
	element.style.minWidth = `${Math.round(bar)}px`;
	element.style.setProperty("--bar", `${Math.round(bar)}px`);
	element.classList.toggle("bare", room < TEXT_LEAST);
}

export function NoteLane({ stage }: { stage: Stage }) {
	const selected = useView((view) => view.selected);
	const lane = useRef<HTMLDivElement>(null);
	const { placed } = stage;

	useEffect(() => {
		const place = () => {
			const buttons = lane.current?.querySelectorAll<HTMLElement>("button") ?? [];
			buttons.forEach((one, i) => {
				const own = stage.placed[i];
				if (own) move(one, own, stage);
			});
		};
		stage.moved = place;
		place();
		return () => {
			stage.moved = null;
		};
	});
	if (!placed.length) return null;
	const height = `${stage.top - TOP}px`;
	return (
		<>
			<div class="note-head" style={{ top: `${TOP}px`, height }}>
				Notes
			</div>
			<div
				ref={lane}
				class="note-lane"
				role="group"
				aria-label="Notes"
				style={{ top: `${TOP}px`, height, width: `${stage.width}px` }}
			>
				{placed.map(({ note, row }) => (
					<button
						key={`${note.from} ${note.to}`}
						type="button"
						class="note"
						title={note.text}
						aria-pressed={
							selected?.kind === "note" && noteOn([note], selected) !== null
						}
						style={{ top: `${row * NOTE_ROW}px` }}
						onClick={() =>
							stage.click(() =>
								store.set({
									selected: {
										kind: "note",
										from: note.from,
										to: note.to,
									},
								}),
							)
						}
					>
						<bdi>{note.text}</bdi>
					</button>
				))}
			</div>
		</>
	);
}

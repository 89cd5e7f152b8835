/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.tsx - drawer: reads and edits the note on a time range, and lists all others.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useOpened } from "../../core/context";
import { formatNs } from "../../core/format";
import { cleanText, type Note, NOTE_LETTERS, noteOn, withNote } from "../../core/notes";
import { type Selection, store, useView } from "../../core/store";
import { runOnTimeline } from "../commands";
import { formatSpan } from "../span";
import "./details.css";

type NoteSelection = Extract<Selection, { kind: "note" }>;

const FULL = "A link has no room for more notes: shorten or delete one.";

const ABOUT =
	"Notes are part of the address: Copy link includes them, and " +
	"stepscope report --link puts them into a report.";

/* A moment has no length: it is shown with a fiftieth of the run around it. */
function around(note: { from: number; to: number }, span: number): number {
	return Math.max(note.to - note.from, span / 50, 1000);
}

function goTo(note: { from: number; to: number }, span: number): void {
	const room = around(note, span) / 2;
	store.set({
		tab: "timeline",
		from: note.from - room,
		to: note.to + room,
		selected: { kind: "note", from: note.from, to: note.to },
	});
}

function drop(note: { from: number; to: number }): void {
	const { notes, selected } = store.view;
	const next = withNote(notes, { ...note, text: "" }) ?? notes;
	const open = selected?.kind === "note" && noteOn([{ ...selected, text: "" }], note);
	store.set({ notes: next, ...(open ? { selected: null } : {}) });
}

function placeWords({ from, to }: { from: number; to: number }): string {
	return from === to
		? `at ${formatNs(from)}`
		: `${formatNs(from)} to ${formatNs(to)}`;
}

function Editor({ selected }: { selected: NoteSelection }) {
	const { from, to } = selected;
	const note = useView((view) => noteOn(view.notes, { from, to }));
	const [text, change] = useState(note?.text ?? "");
	const [said, say] = useState("");
	const field = useRef<HTMLTextAreaElement>(null);

	/* Who writes one types at once; a note that is read must not take the keys of the timeline. */
	useLayoutEffect(() => {
		if (!note) field.current?.focus();
	}, []);
	const write = (typed: string) => {
		const clean = cleanText(typed);
		const next = withNote(store.view.notes, { from, to, text: clean });
		change(clean);
		say(next ? "" : FULL);
		if (next) store.set({ notes: next });
	};
	return (
		<div class="note-editor">
			<textarea
				ref={field}
				class="field"
				rows={3}
				maxLength={NOTE_LETTERS}
				aria-label="Text of the note"
				placeholder="What do you see here?"
				value={text}
				onInput={(event) => write(event.currentTarget.value)}
			/>
			<p class={said ? "bad" : "soft"} role="status">
				{said || `${text.length} of ${NOTE_LETTERS} characters. ${ABOUT}`}
			</p>
		</div>
	);
}

function AllNotes({ notes, selected }: { notes: Note[]; selected: NoteSelection }) {
	const { job } = useOpened();
	if (!notes.length) return null;
	return (
		<section>
			<h3>All notes</h3>
			<ol class="note-list">
				{notes.map((note) => (
					<li key={`${note.from} ${note.to}`}>
						<button
							type="button"
							class="link"
							title="Show it on the timeline"
							aria-current={noteOn([note], selected) ? "true" : undefined}
							onClick={() => goTo(note, job.span_ns)}
						>
							<bdi>{note.text}</bdi>
						</button>
						<span class="soft">{placeWords(note)}</span>
						<button
							type="button"
							class="button quiet"
							aria-label={`Delete the note ${note.text}`}
							title="Delete this note"
							onClick={() => drop(note)}
						>
							✕
						</button>
					</li>
				))}
			</ol>
		</section>
	);
}

export function NoteDetails({ selected }: { selected: NoteSelection }) {
	const { job } = useOpened();
	const notes = useView((view) => view.notes);
	const { from, to } = selected;
	const moment = from === to;
	const zoom = () => {
		if (moment || !runOnTimeline("fit")) goTo(selected, job.span_ns);
	};
	return (
		<div class="about">
			<header>
				<h2>{moment ? "Note" : `Note on ${formatNs(to - from)}`}</h2>
				<span class="soft">
					{moment
						? `${formatNs(from)} after the start of the run`
						: `${formatSpan(from, to)} after the start of the run`}
				</span>
				<button type="button" class="button" onClick={zoom}>
					Show on timeline
				</button>
				{moment ? null : (
					<button
						type="button"
						class="button"
						title="What ran in this time"
						onClick={() => store.set({ selected: { kind: "range", from, to } })}
					>
						What ran here
					</button>
				)}
				{noteOn(notes, selected) ? (
					<button type="button" class="button" onClick={() => drop(selected)}>
						Delete
					</button>
				) : null}
			</header>
			<Editor key={`${from} ${to}`} selected={selected} />
			<AllNotes notes={notes} selected={selected} />
		</div>
	);
}

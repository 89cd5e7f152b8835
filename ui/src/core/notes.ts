/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.ts - notes that people write on time ranges. Notes live in the address, so they are
 * short and few. An address is untrusted input: its text is checked.
 */
export interface Note {
	from: number; /* whole ns of the timeline; equal to `to`: a moment */
	to: number;
	text: string;
}

/* Of one note, of all of them, and how many: so a link stays below 64 KB in any script. */
export const NOTE_LETTERS = 280;
export const ALL_LETTERS = 6000;
export const NOTES_MOST = 40;

/* Control characters, and those that turn the direction of what follows them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const STRANGE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/* Half of a pair that was cut in two is no letter: addresses cannot hold it. */
const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function cleanText(text: string): string {
	return text.replace(STRANGE, " ").slice(0, NOTE_LETTERS).replace(HALF, "");
}

export function writeNote({ from, to, text }: Note): string {
	return `${Math.round(from)}_${Math.round(to)}_${text}`;
}

export function readNote(word: string): Note | null {
	const found = /^(\d{1,15})_(\d{1,15})_([\s\S]*)$/.exec(word);
	if (!found) return null;
	const [from, to] = [Number(found[1]), Number(found[2])];
	const text = cleanText(found[3] ?? "").trim();
	return text && from <= to ? { from, to, text } : null;
}

function isSame(a: { from: number; to: number }, b: { from: number; to: number }): boolean {
	return Math.round(a.from) === Math.round(b.from) && Math.round(a.to) === Math.round(b.to);
}

export function noteOn(notes: Note[], span: { from: number; to: number }): Note | null {
	return notes.find((one) => isSame(one, span)) ?? null;
}

/* As many as there is room for, one on each stretch of time, by their beginning. */
export function joinedNotes(notes: Note[]): Note[] {
	const kept: Note[] = [];
	let letters = 0;
	for (const note of notes) {
		letters += note.text.length;
		if (kept.length >= NOTES_MOST || letters > ALL_LETTERS) break;
		if (!noteOn(kept, note)) kept.push(note);
	}
	return kept.sort((a, b) => a.from - b.from || b.to - a.to);
}

/* Without a text there is no note; null: there is no room for it. */
export function withNote(notes: Note[], note: Note): Note[] | null {
	const others = notes.filter((one) => !isSame(one, note));
	if (!note.text.trim()) return others;
	const next = joinedNotes([...others, note]);
	return next.length === others.length + 1 ? next : null;
}

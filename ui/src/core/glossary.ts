/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glossary.ts - finds the terms of the glossary in the texts of the page. The terms come from the
 * core, which has them from docs/glossary.md.
 */
export interface Term {
	name: string;
	text: string; /* one sentence of Markdown */
}

/* A part of a text: plain, or a term as it is written there. */
export type Piece = string | { term: Term; shown: string };

/* Shorter single words ("step", "wait") are everyday words in sentences, and terms in labels. */
const PROSE_LEAST = 8;

/* Not within names of code: enumerate(DataLoader)#..., wait.py, host-side. */
const BEFORE = "(?<![\\w.(#/-])";
const AFTER = "(?![\\w(#/)-]|[.:]\\w)";

const known = new Map<string, Term>();
let pattern: RegExp | null = null;

/* "Host syncs" and "host-sync" are "host sync". */
function keyOf(text: string): string {
	return text.toLowerCase().replaceAll("-", " ");
}

function patternOf(name: string): string {
	const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
	return escaped.replace(/[ -]/g, "[ -]");
}

export function learnTerms(list: { name: string; text: string }[]): void {
	known.clear();
	for (const { name, text } of list) known.set(keyOf(name), { name, text });
	const names = list.map(({ name }) => name).sort((a, b) => b.length - a.length);
	pattern = names.length
		? new RegExp(`${BEFORE}(${names.map(patternOf).join("|")})s?${AFTER}`, "gi")
		: null;
}

function isEveryday(term: Term): boolean {
	return /^[a-z]+$/.test(term.name) && term.name.length < PROSE_LEAST;
}

/* Cuts a text at its terms. Each term counts once, and not at all if it was seen before. */
export function cutAtTerms(text: string, prose = false, seen = new Set<string>()): Piece[] {
	if (!pattern) return [text];
	const pieces: Piece[] = [];
	let last = 0;
	for (const found of text.matchAll(pattern)) {
		const term = known.get(keyOf(found[1] ?? ""));
		if (!term || seen.has(term.text) || (prose && isEveryday(term))) continue;
		seen.add(term.text);
		if (found.index > last) pieces.push(text.slice(last, found.index));
		pieces.push({ term, shown: found[0] });
		last = found.index + found[0].length;
	}
	if (last < text.length) pieces.push(text.slice(last));
	return pieces;
}

/* The terms of a label; without any, those of the sentence that explains it. */
export function termsOf(label: string, about = ""): Term[] {
	const pick = (pieces: Piece[]) =>
		pieces.flatMap((piece) => (typeof piece === "string" ? [] : [piece.term]));
	const own = pick(cutAtTerms(label));
	return own.length ? own : pick(cutAtTerms(about, true));
}

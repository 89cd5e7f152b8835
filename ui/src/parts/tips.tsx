/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tips.tsx - the sentences of the glossary where its terms are used: on hover, focus and tap.
 *
 * What has a tip refers to its texts by aria-describedby, so that screen readers find them. <Tips>
 * listens for all of them and shows one box at a time.
 */
import type { Ref } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { cutAtTerms, type Term, termsOf } from "../core/glossary";
import { Inline } from "./markdown";
import "./tips.css";

/* A pointer that only passes by opens nothing, and one that moves to the box closes nothing. */
const OPEN_MS = 250;
const CLOSE_MS = 300;

/* Pixels between a word, its box and the edges of the window. */
const GAP = 4;
const EDGE = 8;

const ANCHOR = "[data-tip]";

/* Texts of tips (Markdown) by the id of a hidden element that has them for screen readers. */
const texts = new Map<string, string>();
const ids = new Map<string, string>();

/* The id of the text's element, which is made at the first use. */
function describe(text: string): string {
	const found = ids.get(text);
	if (found) return found;
	const id = `tip-${ids.size}`;
	ids.set(text, id);
	texts.set(id, text);
	if (typeof document !== "undefined") {
		const element = document.createElement("p");
		element.id = id;
		element.hidden = true;
		element.textContent = text.replace(/\*\*|`/g, "");
		document.body.append(element);
	}
	return id;
}

function describeTerm({ name, text }: Term): string {
	return describe(`**${name}**: ${text}`);
}

/* A text in which each term has its tip; in a sentence everyday words have none. */
export function Terms(props: { text: string; prose?: boolean; seen?: Set<string> }) {
	const pieces = cutAtTerms(props.text, props.prose, props.seen ?? new Set());
	return (
		<>
			{pieces.map((piece, i) =>
				typeof piece === "string" ? (
					piece
				) : (
					<button
						key={i}
						type="button"
						class="term"
						title=""
						data-tip=""
						aria-describedby={describeTerm(piece.term)}
					>
						{piece.shown}
					</button>
				),
			)}
		</>
	);
}

/* Of a button or link that has something else to do: its tip says what it is about, and explains
 * the terms of its label. */
export function tipOf(label: string, about = ""): Record<string, string> {
	const found = termsOf(label, about).map(describeTerm);
	if (about) found.unshift(describe(about));
	return found.length ? { "data-tip": "", "aria-describedby": found.join(" ") } : {};
}

function anchorAt(target: EventTarget | null): HTMLElement | null {
	return target instanceof Element ? target.closest<HTMLElement>(ANCHOR) : null;
}

/* Which anchor has its box open. */
function useAnchor(box: { current: HTMLElement | null }) {
	const [anchor, change] = useState<HTMLElement | null>(null);
	const now = useRef<HTMLElement | null>(null);

	useEffect(() => {
		let timer = 0;
		let pointer = "mouse";
		const show = (element: HTMLElement | null) => {
			clearTimeout(timer);
			now.current = element;
			change(element);
		};
		const later = (element: HTMLElement | null, ms: number) => {
			clearTimeout(timer);
			timer = window.setTimeout(() => show(element), ms);
		};
		const isInside = (target: EventTarget | null) =>
			target instanceof Node && (box.current?.contains(target) ?? false);
		const over = (event: PointerEvent) => {
			if (event.pointerType === "touch") return;
			const found = anchorAt(event.target);
			if (isInside(event.target) || (found && found === now.current)) clearTimeout(timer);
			else if (found) later(found, OPEN_MS);
			else if (now.current !== document.activeElement) later(null, CLOSE_MS);
		};
		const down = (event: PointerEvent) => {
			pointer = event.pointerType;
			clearTimeout(timer);
			if (!isInside(event.target) && anchorAt(event.target) !== now.current) show(null);
		};
		const click = (event: MouseEvent) => {
			const found = anchorAt(event.target);
			if (!found || (pointer !== "touch" && !found.matches(".term"))) return;
			show(found);
		};
		const focus = (event: FocusEvent) => {
			const found = anchorAt(event.target);
			if (found?.matches(":focus-visible")) show(found);
			else if (now.current && !isInside(event.target) && found !== now.current)
				show(null);
		};
		const blur = (event: FocusEvent) => {
			if (now.current && event.target === now.current && !event.relatedTarget) show(null);
		};
		const press = (event: KeyboardEvent) => {
			if (event.key !== "Escape" || !now.current) return;
			show(null);
			event.preventDefault();
			event.stopPropagation();
		};
		const move = (event: Event) => {
			if (now.current && !isInside(event.target)) show(null);
		};
		const leave = () => later(null, CLOSE_MS);
		addEventListener("pointerover", over);
		addEventListener("pointerdown", down, true);
		addEventListener("click", click);
		addEventListener("focusin", focus);
		addEventListener("focusout", blur);
		addEventListener("keydown", press, true);
		addEventListener("scroll", move, true);
		addEventListener("resize", move);
		addEventListener("hashchange", move);
		document.documentElement.addEventListener("pointerleave", leave);
		return () => {
			clearTimeout(timer);
			removeEventListener("pointerover", over);
			removeEventListener("pointerdown", down, true);
			removeEventListener("click", click);
			removeEventListener("focusin", focus);
			removeEventListener("focusout", blur);
			removeEventListener("keydown", press, true);
			removeEventListener("scroll", move, true);
			removeEventListener("resize", move);
			removeEventListener("hashchange", move);
			document.documentElement.removeEventListener("pointerleave", leave);
		};
	}, []);
	return anchor;
}

/* Below the anchor where there is room, else above it; never outside of the window. */
function place(box: HTMLElement, anchor: HTMLElement): void {
	const at = anchor.getBoundingClientRect();
	const { width, height } = box.getBoundingClientRect();
	const below = at.bottom + GAP;
	const fits = below + height <= innerHeight - EDGE;
	const top = fits ? below : Math.max(EDGE, at.top - GAP - height);
	const left = Math.max(EDGE, Math.min(at.left, innerWidth - width - EDGE));
	box.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}

function Box({ anchor, box }: { anchor: HTMLElement; box: Ref<HTMLElement> }) {
	const about = (anchor.getAttribute("aria-describedby") ?? "").split(" ");
	return (
		<aside class="term-tip" aria-label="Explanation" ref={box}>
			<div role="tooltip">
				{about.map((id) => (
					<p key={id}>
						<Inline text={texts.get(id) ?? ""} />
					</p>
				))}
			</div>
		</aside>
	);
}

/* Once in the page: the box of the tip that is open. */
export function Tips() {
	const box = useRef<HTMLElement>(null);
	const anchor = useAnchor(box);

	useLayoutEffect(() => {
		if (anchor && box.current) place(box.current, anchor);
	}, [anchor]);
	return anchor?.isConnected ? <Box anchor={anchor} box={box} /> : null;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.ts - all keys, for the help and for those who listen.
 */
import { GESTURES, KEYS as TIMELINE_KEYS } from "../timeline/keys";

export interface Key {
	keys: string;
	does: string;
}

export interface KeyGroup {
	title: string;
	keys: Key[];
}

export const KEYS: KeyGroup[] = [
	{
		title: "Everywhere",
		keys: [
			{
				keys: "/",
				does: "search names; Enter next hit, Shift+Enter the one before",
			},
			{ keys: "?", does: "these keys" },
			{ keys: "Esc", does: "close what is open: menu, help, details" },
			{ keys: "← →", does: "on the tabs: another tab" },
			{ keys: "↑ ↓", does: "on the edge of the details: their height" },
		],
	},
	{
		title: "Tables",
		keys: [
			{ keys: "↑ ↓ PgUp PgDn Home End", does: "another row" },
			{ keys: "Enter", does: "details of the row" },
			{ keys: "T", does: "its place on the timeline" },
		],
	},
	{
		title: "Timeline",
		keys: TIMELINE_KEYS.filter((key) => !["search", "clear"].includes(key.action)).map(
			(key) => ({ keys: key.shown, does: key.says }),
		),
	},
	{
		title: "Memory of a snapshot",
		keys: [
			{ keys: "W S + −", does: "on the curve: zoom; with the wheel, too" },
			{ keys: "A D ← →", does: "pan; Shift and the wheel, Shift and drag, too" },
			{ keys: "R Home", does: "all of it" },
			{ keys: "P", does: "the peak" },
			{ keys: ". ,", does: "next and previous event; the map shows its blocks" },
			{ keys: "] [", does: "next and previous peak" },
			{ keys: "O Shift+O", does: "next and previous allocation that failed" },
			{ keys: "← → ↑ ↓", does: "on the map: another block" },
			{ keys: "Enter", does: "its details" },
		],
	},
	{
		title: "On the timeline",
		keys: GESTURES.map((gesture) => ({ keys: gesture.shown, does: gesture.says })),
	},
];

/* Where letters are letters. */
export function isTyping(event: KeyboardEvent): boolean {
	const target = event.target;
	if (!(target instanceof HTMLElement)) return false;
	return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

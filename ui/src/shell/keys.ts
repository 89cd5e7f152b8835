/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.ts - all keyboard shortcuts, for the help and for key handlers.
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
				does: "search names; Enter: next match, Shift+Enter: previous match",
			},
			{ keys: "?", does: "show this help" },
			{ keys: "Esc", does: "close the tip, the menu, the help or the details" },
			{ keys: "← →", does: "on the tab bar: previous or next tab" },
			{ keys: "↑ ↓", does: "on the edge of the details: resize them" },
		],
	},
	{
		title: "Tables",
		keys: [
			{ keys: "↑ ↓ PgUp PgDn Home End", does: "move between rows" },
			{ keys: "Enter", does: "show the row's details" },
			{ keys: "T", does: "show the row on the timeline" },
		],
	},
	{
		title: "Flame graph",
		keys: [
			{ keys: "← → ↑ ↓", does: "move between frames" },
			{ keys: "Enter W", does: "zoom to the frame" },
			{ keys: "Backspace S", does: "zoom to its caller" },
			{ keys: "Esc", does: "show everything" },
		],
	},
	{
		title: "SQL",
		keys: [
			{ keys: "Ctrl+Enter", does: "run the query" },
			{
				keys: "↑ ↓",
				does: "in the first or last line: earlier and later queries",
			},
			{ keys: "Esc", does: "stop the query" },
		],
	},
	{
		title: "Timeline",
		keys: TIMELINE_KEYS.filter((key) => !["search", "clear"].includes(key.action)).map(
			(key) => ({ keys: key.shown, does: key.says }),
		),
	},
	{
		title: "Memory snapshot",
		keys: [
			{ keys: "W S + −", does: "on the curve: zoom (or use the wheel)" },
			{ keys: "A D ← →", does: "pan (or Shift+wheel, Shift+drag)" },
			{ keys: "R Home", does: "show everything" },
			{ keys: "P", does: "go to the peak" },
			{ keys: ". ,", does: "next and previous event; the map shows the blocks after it" },
			{ keys: "] [", does: "next and previous peak" },
			{ keys: "O Shift+O", does: "next and previous failed allocation" },
			{ keys: "← → ↑ ↓", does: "on the map: move between blocks" },
			{ keys: "Enter", does: "show the block's details" },
		],
	},
	{
		title: "Timeline: mouse and touchpad",
		keys: GESTURES.map((gesture) => ({ keys: gesture.shown, does: gesture.says })),
	},
];

/* Where letters are letters. */
export function isTyping(event: KeyboardEvent): boolean {
	const target = event.target;
	if (!(target instanceof HTMLElement)) return false;
	return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

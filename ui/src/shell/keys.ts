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

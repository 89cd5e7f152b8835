/*
 * keys.ts - all keys, for the help and for those who listen.
 */
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
			{ keys: "/", does: "search names; Enter next hit, Shift+Enter the one before" },
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
		keys: [
			{ keys: "W S", does: "zoom in, zoom out" },
			{ keys: "A D", does: "move left, right" },
			{ keys: "F", does: "fit the selection, or everything" },
			{ keys: "M, Shift+M", does: "mark the selection; keep the mark" },
			{ keys: ". ,", does: "next, previous on the track" },
			{ keys: "] [", does: "along the flow, against it" },
			{ keys: "R", does: "the range of the selection" },
			{ keys: "↑ ↓", does: "scroll the tracks" },
			{ keys: "wheel, drag", does: "zoom at the pointer, move" },
			{ keys: "Shift+drag", does: "choose a range of time" },
		],
	},
];

/* Where letters are letters. */
export function isTyping(event: KeyboardEvent): boolean {
	const target = event.target;
	if (!(target instanceof HTMLElement)) return false;
	return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

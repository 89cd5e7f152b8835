/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.ts - keys and gestures of the timeline: one list for input and help.
 */
export type Action =
	| "zoom-in"
	| "zoom-out"
	| "left"
	| "right"
	| "up"
	| "down"
	| "fit"
	| "reset"
	| "mark"
	| "keep"
	| "note"
	| "search"
	| "hit-next"
	| "hit-previous"
	| "next"
	| "previous"
	| "lane-above"
	| "lane-below"
	| "flow-next"
	| "flow-previous"
	| "path"
	| "clock"
	| "python"
	| "clear";

export interface Key {
	action: Action;
	/* `key` of the event, lower case; `shift` and `alt` must be as told */
	keys: string[];
	shift?: boolean;
	alt?: boolean;
	/* as people read it */
	shown: string;
	says: string;
	/* acts for as long as it is down */
	held?: boolean;
}

export const KEYS: Key[] = [
	{ action: "zoom-in", keys: ["w"], shown: "W", says: "Zoom in", held: true },
	{ action: "zoom-out", keys: ["s"], shown: "S", says: "Zoom out", held: true },
	{ action: "left", keys: ["a", "arrowleft"], shown: "A ←", says: "Pan left", held: true },
	{ action: "right", keys: ["d", "arrowright"], shown: "D →", says: "Pan right", held: true },
	{ action: "up", keys: ["arrowup"], shown: "↑", says: "Scroll rows up", held: true },
	{ action: "down", keys: ["arrowdown"], shown: "↓", says: "Scroll rows down", held: true },
	{ action: "fit", keys: ["f"], shown: "F", says: "Fit the selection, or the whole run" },
	{ action: "reset", keys: ["r"], shown: "R", says: "Reset the view to the whole run" },
	{ action: "mark", keys: ["m"], shown: "M", says: "Mark the time of the selection" },
	{
		action: "keep",
		keys: ["m"],
		shift: true,
		shown: "Shift M",
		says: "Add a mark next to others, or remove it",
	},
	{
		action: "note",
		keys: ["n"],
		shown: "N",
		says: "Add a note to the selection, to the mark, or at the pointer",
	},
	{ action: "search", keys: ["/"], shown: "/", says: "Search names" },
	{ action: "hit-next", keys: ["enter"], shown: "Enter", says: "Next search match" },
	{
		action: "hit-previous",
		keys: ["enter"],
		shift: true,
		shown: "Shift Enter",
		says: "Previous search match",
	},
	{ action: "next", keys: ["."], shown: ".", says: "Next slice on the track" },
	{ action: "previous", keys: [","], shown: ",", says: "Previous slice on the track" },
	{
		action: "lane-above",
		keys: ["arrowup"],
		alt: true,
		shown: "Alt ↑",
		says: "Select what runs in the row above",
	},
	{
		action: "lane-below",
		keys: ["arrowdown"],
		alt: true,
		shown: "Alt ↓",
		says: "Select what runs in the row below",
	},
	{ action: "flow-next", keys: ["]"], shown: "]", says: "Follow the flow: call to kernel" },
	{ action: "flow-previous", keys: ["["], shown: "[", says: "Follow the flow back" },
	{ action: "path", keys: ["c"], shown: "C", says: "Show the critical path" },
	{ action: "clock", keys: ["t"], shown: "T", says: "Times from the step or the start" },
	{ action: "python", keys: ["p"], shown: "P", says: "Show Python frames and all lanes" },
	{ action: "clear", keys: ["escape"], shown: "Esc", says: "Clear the selection" },
];

export const GESTURES: { shown: string; says: string }[] = [
	{ shown: "Wheel", says: "Zoom around the pointer (with Ctrl too; pinch on a touchpad)" },
	{ shown: "Shift wheel", says: "Pan" },
	{ shown: "Wheel on row names", says: "Scroll rows" },
	{ shown: "Drag", says: "Pan" },
	{ shown: "Shift drag", says: "Select a time range" },
	{ shown: "Shift click", says: "Extend the range to here" },
	{ shown: "Double click", says: "Fit the slice" },
];

/* Keys that are printed with Shift on some keyboards: there Shift says nothing. */
function isPrinted(key: string): boolean {
	return key.length === 1 && !/[a-z]/.test(key);
}

export function keyOf(event: KeyboardEvent): Key | null {
	const pressed = event.key.toLowerCase();
	if (event.ctrlKey || event.metaKey) return null;
	for (const key of KEYS)
		if (
			key.keys.includes(pressed) &&
			(isPrinted(pressed) || (key.shift ?? false) === event.shiftKey) &&
			(isPrinted(pressed) || (key.alt ?? false) === event.altKey)
		)
			return key;
	return null;
}

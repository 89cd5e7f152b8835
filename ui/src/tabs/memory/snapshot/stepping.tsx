/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepping.tsx - steps through the events and peaks of a device, with keys anywhere in the tab
 * or with buttons. A line below the curve, also read by screen readers, says what each event
 * did.
 */
import type { MemoryEvent, SnapshotDevice } from "../../../core/types";
import { useEffect, useRef } from "preact/hooks";
import type { Client } from "../../../core/client";
import { useOpened } from "../../../core/context";
import { formatBytes, formatCount, formatNs } from "../../../core/format";
import { store, useView } from "../../../core/store";
import { isTyping } from "../../../shell/keys";
import { askedOf, type Chosen, cursorOf } from "./chosen";
import { useEvent } from "./life";

export type Step = "next" | "previous" | "next-peak" | "previous-peak";

/* As on the timeline: along the track, and along the flow. */
const KEYS: Record<string, Step> = {
	".": "next",
	",": "previous",
	"]": "next-peak",
	"[": "previous-peak",
};

interface Place {
	event: number; /* where one comes from when no event is chosen */
	show: (found: MemoryEvent) => void;
}

function take(client: Client, chosen: Chosen, step: Step, event: number) {
	const asked = { ...askedOf(chosen), event, go: step };
	return client.json("event", asked);
}

/*
 * Steps wait for each other. Those of a key that is held are dropped while one is under way: it
 * goes as fast as the core answers.
 */
export function useSteps(chosen: Chosen, from: (step: Step) => Promise<Place>) {
	const { client } = useOpened();
	const under = useRef(0);
	const last = useRef<Promise<void>>(Promise.resolve());
	const go = (step: Step) => {
		const { device } = chosen;
		if (!device) return;
		const walk = async () => {
			const place = await from(step);
			const event = cursorOf(store.view.own, device) ?? place.event;
			const found = await take(client, chosen, step, event);
			if (found) {
				store.setOwn({ moment: String(found.event) });
				place.show(found);
			}
		};
		under.current++;
		last.current = last.current
			.then(walk)
			.catch(() => undefined)
			.finally(() => under.current--);
	};
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			const step = KEYS[event.key];
			if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
			if (isTyping(event) || (event.repeat && under.current)) return;
			event.preventDefault();
			go(step);
		};
		addEventListener("keydown", press);
		return () => removeEventListener("keydown", press);
	});
	return go;
}

/* What events are called, and what their bytes are. */
function actionWords(found: MemoryEvent): string {
	const size = formatBytes(found.bytes);
	const by = found.line ? `, ${found.line}` : "";
	const words: Record<string, string> = {
		alloc: `${size} allocated${by}`,
		free: `${size} freed${by}`,
		free_requested: `${size} free requested${by}`,
		free_completed: `${size} freed${by}`,
		segment_alloc: `a segment of ${size} reserved${by}`,
		segment_free: `a segment of ${size} released`,
		segment_map: `${size} mapped to a segment`,
		segment_unmap: `${size} unmapped from a segment`,
		oom: `${size} requested: out of memory${by}`,
	};
	return words[found.action] ?? `${found.action.replaceAll("_", " ")}, ${size}`;
}

export function eventWords(found: MemoryEvent, device: SnapshotDevice): string {
	const when = found.at_ns === null ? "" : ` (${formatNs(found.at_ns)})`;
	const reserved =
		found.reserved_bytes === null ? "" : `, ${formatBytes(found.reserved_bytes)} reserved`;
	const peak =
		found.peak === null
			? ""
			: ` Peak ${formatCount(found.peak)} of ${formatCount(found.peaks)}.`;
	return (
		`Event ${formatCount(found.event)} of ${formatCount(device.events)}${when}: ` +
		`${actionWords(found)}. ` +
		`After this event ${formatBytes(found.active_bytes)} is active${reserved}.${peak}`
	);
}

const BUTTONS: { step: Step; text: string; title: string; key: string }[] = [
	{ step: "previous-peak", text: "◀ peak", title: "Previous peak", key: "[" },
	{ step: "previous", text: "◀ event", title: "Previous event", key: "," },
	{ step: "next", text: "event ▶", title: "Next event", key: "." },
	{ step: "next-peak", text: "peak ▶", title: "Next peak", key: "]" },
];

export function Steps({ chosen, go }: { chosen: Chosen; go: (step: Step) => void }) {
	const { device } = chosen;
	const cursor = cursorOf(
		useView((view) => view.own),
		device,
	);
	const found = useEvent(chosen, cursor).value;
	if (!device) return null;
	return (
		<div class="event-steps" role="group" aria-label="Events one by one">
			{BUTTONS.map(({ step, text, title, key }) => (
				<button
					key={step}
					type="button"
					class="button"
					aria-label={title}
					title={`${title} (${key})`}
					onClick={() => go(step)}
				>
					{text}
				</button>
			))}
			<span role="status">
				{cursor !== null && found ? (
					eventWords(found, device)
				) : (
					<span class="soft">
						Step through events with , and . and jump between peaks with [ and ].
					</span>
				)}
			</span>
		</div>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.tsx - the lifetime of an allocation: from its event to the one that freed it.
 */
import type { MemoryEvent } from "../../../core/types";
import { useLoaded, useOpened } from "../../../core/context";
import { formatBytes, formatCount, formatNs } from "../../../core/format";
import { askedOf, type Chosen, showEvents, showInMap } from "./chosen";

export function useEvent(chosen: Chosen | null, event: number | null) {
	const { client } = useOpened();
	const { snapshot, device } = chosen ? askedOf(chosen) : { snapshot: 0, device: null };
	return useLoaded(
		async () =>
			event === null
				? null
				: client.json("event", { snapshot, device, event }),
		[client, snapshot, device, event],
	);
}

function when(event: number, at: number | null): string {
	return `event ${formatCount(event)}${at === null ? "" : `, ${formatNs(at)} after the first`}`;
}

function lifeWords(found: MemoryEvent): string {
	const { freed } = found;
	if (!freed) return "It was not freed during the recording.";
	const events = `${formatCount(freed.event - found.event)} events`;
	const long =
		freed.at_ns === null || found.at_ns === null || freed.at_ns < found.at_ns
			? events
			: `${formatNs(freed.at_ns - found.at_ns)} (${events})`;
	const by = freed.line ? ` by ${freed.line}` : "";
	return `Held for ${long}, freed${by} at ${when(freed.event, freed.at_ns)}.`;
}

export function Life({ found }: { found: MemoryEvent }) {
	const rounded = (found.bytes ?? 0) - (found.requested_bytes ?? 0);
	if (found.action !== "alloc") return <p>{when(found.event, found.at_ns)}.</p>;
	return (
		<p>
			Allocated at {when(found.event, found.at_ns)}: {formatBytes(found.bytes)}
			{rounded > 0
				? `, ${formatBytes(found.requested_bytes)} requested`
				: ""}
			, at {found.address}. {lifeWords(found)}
		</p>
	);
}

/* To the curve and to the map; the map knows moments of exact devices alone. */
export function LifeLinks({ found, chosen }: { found: MemoryEvent; chosen: Chosen }) {
	const events = chosen.device?.events ?? 0;
	const last = found.freed?.event ?? (found.action === "alloc" ? events - 1 : found.event);
	return (
		<>
			<button
				type="button"
				class="button"
				onClick={() => showEvents(found.event, last, events)}
			>
				Show in the curve
			</button>
			{chosen.device?.exact && chosen.device.segments ? (
				<button
					type="button"
					class="button"
					onClick={() =>
						showInMap(found.event, found.action === "alloc" ? found.address : "")
					}
				>
					Show in the block map
				</button>
			) : null}
		</>
	);
}

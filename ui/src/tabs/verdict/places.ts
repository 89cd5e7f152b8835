/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.ts - the places of findings on the timeline: the route flags.
 */
import type { Finding, Flag, FlagPlace } from "../../core/types";
import { useLoaded, useOpened } from "../../core/context";
import { type Selection, showOnTimeline } from "../../core/store";

export interface Flags {
	flags: Flag[] | null; /* null: not loaded yet, or failed */
	error: string | null;
}

export function useFlags(wanted: boolean): Flags {
	const { client } = useOpened();
	const loaded = useLoaded(
		async () => (wanted ? (await client.json("flags")).flags : null),
		[wanted],
	);
	return { flags: loaded.value, error: loaded.state === "failed" ? loaded.error : null };
}

/* Flags are of all ranks; a verdict of one rank numbers its findings anew. */
export function flagOf({ flags }: Flags, finding: Finding): Flag | null {
	const ofRule = flags?.filter((flag) => flag.rule === finding.rule) ?? [];
	return ofRule.find((flag) => flag.title === finding.title) ?? ofRule[0] ?? null;
}

export function placesOf(flags: Flags, finding: Finding): FlagPlace[] {
	return flagOf(flags, finding)?.places ?? [];
}

/* The place that costs most; of a rank that the others wait for, the collective. */
export function showFinding(flags: Flags, finding: Finding): void {
	const { collective, places } = flagOf(flags, finding) ?? {};
	if (collective)
		showOnTimeline(collective.start_ns, collective.dur_ns, {
			kind: "slice",
			file: collective.file,
			row: collective.row,
		});
	else if (places?.[0]) showPlace(places[0]);
}

export function showPlace({ file, row, start_ns: from, end_ns: to }: FlagPlace): void {
	const selected: Selection =
		row === null ? { kind: "range", from, to } : { kind: "slice", file, row };
	showOnTimeline(from, to - from, selected);
}

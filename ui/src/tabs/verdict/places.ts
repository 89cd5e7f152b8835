/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.ts - the places of findings on the timeline: the route flags.
 */
import type { Finding, Flag, FlagPlace } from "../../core/types";
import type { Client } from "../../core/client";
import { useLoaded, useOpened } from "../../core/context";
import { type Selection, showOnTimeline } from "../../core/store";

/* Names of a stretch that are compared. */
const NAMES_MOST = 1000;

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

/* What a sentence says: "aten::conv2d takes 97.1 ms", "in collect_growing". */
const SAYS = /^(?:.* in )?(\S+)/;
const PHASES = new Set(["forward", "backward", "the"]);

/* Names of functions without their file. */
function bare(name: string): string {
	return name.replace(/^.*\): /, "");
}

/* In a stretch of a thread the longest call of what the evidence names, the heaviest first. */
async function namedCall(client: Client, finding: Finding, place: FlagPlace): Promise<Selection> {
	const { file, start_ns: from, end_ns: to } = place;
	const range: Selection = { kind: "range", from, to };
	const said = finding.evidence.flatMap(({ text }) => {
		const name = SAYS.exec(text.split(", in ")[0] ?? "")?.[1] ?? "";
		return PHASES.has(name) ? [] : [name];
	});
	if (!said.length) return range;
	const { names } = await client.json("range", { files: file, from, to, limit: NAMES_MOST });
	for (const name of said) {
		const called = names
			.filter((one) => one.where === "host" && bare(one.name) === name)
			.toSorted((a, b) => b.total_ns - a.total_ns)[0];
		if (called?.longest_row !== undefined)
			return { kind: "slice", file: called.file, row: called.longest_row };
	}
	return range;
}

/* The place that costs most; of a rank that the others wait for, the collective. */
export function showFinding(client: Client, flags: Flags, finding: Finding): void {
	const { collective, places } = flagOf(flags, finding) ?? {};
	if (collective)
		showOnTimeline(collective.start_ns, collective.dur_ns, {
			kind: "slice",
			file: collective.file,
			row: collective.row,
		});
	else if (places?.[0]) void showPlace(client, finding, places[0]);
}

export async function showPlace(client: Client, finding: Finding, place: FlagPlace): Promise<void> {
	const { file, row, start_ns: from, end_ns: to } = place;
	const range: Selection = { kind: "range", from, to };
	const selected: Selection =
		row === null
			? await namedCall(client, finding, place).catch(() => range)
			: { kind: "slice", file, row };
	showOnTimeline(from, to - from, selected);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jump.ts - the target of a jump and the rows it needs: a call and the idle time of the GPU that
 * waits for it, or a collective on all ranks. They stay open while the jump is in the address.
 */
import type { Collective, GapAnswer, SliceAnswer } from "../core/types";
import type { Client } from "../core/client";
import { readSelection, type Selection } from "../core/store";
import { guiltyOf, membersOf, type Spotted } from "./draw/overlay";
import { rememberJump } from "./look";
import type { Span } from "./span";

export interface Jumped {
	/* What is to be seen, by file; none: the rank alone. */
	files: Map<number, Spotted[]>;
	/* Members of a collective: a row of each rank, as many as fit; the most telling first. */
	order: number[] | null;
}

function ofFile(file: number): Jumped {
	return { files: new Map([[file, []]]), order: null };
}

/* The idle time of the rank that arrived last, up to its arrival: what its host did then. */
export async function lateGap(client: Client, collective: Collective): Promise<GapAnswer | null> {
	const { last_rank: rank } = collective;
	const last = membersOf(collective).find((one) => rank !== null && one.rank === rank);
	if (!last) return null;
	const { file, row } = last;
	const { before } = await client.json("slice", { file, row });
	if (!before) return null;
	const { track, gap } = before;
	return await client.json("gap", { file, track, gap });
}

/* The late one first, then this one, then those that waited longest. */
function ofCollective({ file, collective }: SliceAnswer): Jumped | null {
	const members = collective ? membersOf(collective) : [];
	if (members.length < 2) return null;
	const last = collective?.last_rank ?? null;
	const weight = (one: (typeof members)[number]) =>
		one.rank !== null && one.rank === last
			? Infinity
			: one.file === file
				? Number.MAX_VALUE
				: (one.wait_ns ?? 0);
	return {
		files: new Map(members.map((one) => [one.file, [one]])),
		order: members.toSorted((a, b) => weight(b) - weight(a)).map((one) => one.file),
	};
}

function ofSlice(slice: SliceAnswer): Jumped {
	const { file, gap } = slice;
	const together = ofCollective(slice);
	if (together) return together;
	const spots: Spotted[] = [slice, ...(gap ? [{ ...gap, file }] : [])];
	return { files: new Map([[file, spots]]), order: null };
}

/* The idle row, and what the device waited for longest that is known. */
function ofGap(gap: GapAnswer): Jumped {
	const { file } = gap;
	const spots: Spotted[] = [gap, ...guiltyOf(gap).slice(0, 1)];
	return { files: new Map([[file, spots]]), order: null };
}

export class Jump {
	now: Jumped | null = null;
	private text = "";

	constructor(
		private client: Client,
		private found: () => void,
	) {}

	/* `file.3` only opens a rank; else it is a selection, as the address has it. True: it is
	 * another one. */
	follow(text: string): boolean {
		if (text === this.text) return false;
		this.text = text;
		rememberJump(text);
		const selected = readSelection(text);
		const file = /^file\.(\d+)$/.exec(text)?.[1];
		this.now = file === undefined ? null : ofFile(Number(file));
		if (selected?.kind !== "slice" && selected?.kind !== "gap") return true;
		this.now = ofFile(selected.file);
		void this.load(text, selected.kind, selected);
		return true;
	}

	/* Of a collective also what the late rank's host did before: its thread is opened. */
	private async addLate(slice: SliceAnswer, found: Jumped): Promise<void> {
		const gap = slice.collective && (await lateGap(this.client, slice.collective));
		if (!gap?.during) return;
		const own = found.files.get(gap.file) ?? [];
		found.files.set(gap.file, [...own, { ...gap.during, file: gap.file }]);
	}

	private async load(text: string, kind: "slice" | "gap", selected: Selection): Promise<void> {
		const { kind: _, ...place } = selected;
		try {
			const answer = await this.client.json<SliceAnswer & GapAnswer>(kind, place);
			if (text !== this.text) return;
			const now = kind === "slice" ? ofSlice(answer) : ofGap(answer);
			/* it leads there also where nothing is known of the late rank */
			if (now.order) await this.addLate(answer, now).catch(() => {});
			/* another one may have begun meanwhile */
			if (text !== this.text) return;
			this.now = now;
			this.found();
		} catch {
			/* there is no such slice: the rank is open all the same */
		}
	}

	/* Whether it led to this selection. */
	isTo(text: string): boolean {
		return this.now !== null && text === this.text;
	}

	has({ file, track, start_ns }: Spotted): boolean {
		const own = this.now?.files.get(file) ?? [];
		return own.some((one) => one.track === track && one.start_ns === start_ns);
	}

	spots(): Spotted[] {
		return [...(this.now?.files.values() ?? [])].flat();
	}

	/* From the start of the first to the end of the last. */
	span(): Span | null {
		const spots = this.spots();
		if (!spots.length) return null;
		return {
			from: Math.min(...spots.map((one) => one.start_ns)),
			to: Math.max(...spots.map((one) => one.start_ns + one.dur_ns)),
		};
	}
}

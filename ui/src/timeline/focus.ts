/* SPDX-License-Identifier: Apache-2.0 */
/*
 * focus.ts - the selection, with everything the core knows about it.
 */
import type { Flag, Flow, GapAnswer, SliceAnswer } from "../core/types";
import type { Client } from "../core/client";
import { formatNs } from "../core/format";
import { type Selection, store } from "../core/store";
import { guiltyOf, type Spotted } from "./draw/overlay";
import type { Span } from "./span";

function sameSelection(a: Selection | null, b: Selection | null): boolean {
	return JSON.stringify(a) === JSON.stringify(b);
}

export class Focus {
	selected: Selection | null = null;
	slice: SliceAnswer | null = null;
	gap: GapAnswer | null = null;
	flags: Flag[] = [];
	/* said to people who cannot see it */
	says = "";

	constructor(
		private client: Client,
		private changed: () => void,
		private reveal: (spot: Spotted) => void,
		private isSeen: (spot: Spotted) => boolean,
		private isJump: () => boolean,
	) {}

	/* `shown`: it was clicked on, so it need not be brought into view. */
	follow(selected: Selection | null, shown: boolean): void {
		if (sameSelection(selected, this.selected)) return;
		this.selected = selected;
		this.slice = null;
		this.gap = null;
		this.says = selected ? this.says : "Nothing selected";
		if (selected?.kind === "slice")
			void this.load(selected, shown, this.sliceOf.bind(this));
		if (selected?.kind === "gap")
			void this.load(selected, shown, this.gapOf.bind(this));
		if (selected?.kind === "range")
			this.says = `Selected a range of ${formatNs(selected.to - selected.from)}`;
		if (selected?.kind === "note") this.says = "Selected a note";
		if (selected?.kind === "finding") {
			if (!shown) this.revealFinding();
		}
		this.changed();
	}

	/* One of its places that can be seen will do; else the one that costs most. */
	revealFinding(): void {
		const places = this.places();
		const place = places.find(this.isSeen) ?? places[0];
		if (place) this.reveal(place);
	}

	private async load<T extends Selection>(
		selected: T,
		shown: boolean,
		ask: (selected: T) => Promise<Spotted>,
	): Promise<void> {
		try {
			const spot = await ask(selected);
			if (!sameSelection(selected, this.selected)) return;
			if (!shown) this.reveal(spot);
		} catch {
			if (sameSelection(selected, this.selected))
				this.says = "Slice not found";
		}
		this.changed();
	}

	private async sliceOf(selected: Selection & { kind: "slice" }): Promise<Spotted> {
		const { file, row } = selected;
		const slice = await this.client.json("slice", { file, row });
		if (!sameSelection(selected, this.selected)) return slice;
		this.slice = slice;
		const rank = slice.rank === null ? "" : `, rank ${slice.rank}`;
		const name = slice.short ?? slice.name;
		this.says = `Selected ${name}, ${formatNs(slice.dur_ns)}${rank}`;
		return slice;
	}

	private async gapOf(selected: Selection & { kind: "gap" }): Promise<Spotted> {
		const { file, track, gap } = selected;
		const answer = await this.client.json("gap", { file, track, gap });
		if (!sameSelection(selected, this.selected)) return { ...answer, lane: 0 };
		this.gap = answer;
		this.says = `Selected gap: ${answer.says}`;
		return { ...answer, lane: 0 };
	}

	/* Where the selection is on the timeline: the first is the selected thing itself. */
	spots(): Spotted[] {
		if (this.slice) return [this.slice, ...this.waiting(this.slice)];
		if (this.gap) return [this.gap, ...guiltyOf(this.gap)];
		return this.places();
	}

	/* The idle time that waits for a call; where a jump led to it, what was idle meanwhile. */
	private waiting({ file, gap }: SliceAnswer): Spotted[] {
		return gap && (gap.is_cause || this.isJump()) ? [{ ...gap, file }] : [];
	}

	private places(): Spotted[] {
		const { selected } = this;
		if (selected?.kind !== "finding") return [];
		const flag = this.flags.find((one) => one.number === selected.number);
		return (flag?.places ?? []).flatMap((place) =>
			place.track === null
				? []
				: {
						...place,
						track: place.track,
						lane: place.lane ?? 0,
						dur_ns: place.end_ns - place.start_ns,
					},
		);
	}

	/* The time of the selection. */
	span(): Span | null {
		if (this.selected?.kind === "range" || this.selected?.kind === "note")
			return this.selected;
		const [first] = this.spots();
		return first ? { from: first.start_ns, to: first.start_ns + first.dur_ns } : null;
	}

	flows(): Flow[] {
		return this.slice?.flows ?? [];
	}

	/* The neighbour on the track; null: there is none. */
	async near(by: 1 | -1): Promise<void> {
		const { selected } = this;
		const go = by > 0 ? "next" : "previous";
		if (selected?.kind === "slice") {
			const { file, row } = selected;
			const spot = await this.client.json("near", { file, row, go });
			if (spot && "row" in spot)
				store.set({ selected: { kind: "slice", file, row: spot.row } });
			else this.end(by);
		} else if (selected?.kind === "gap") {
			const { file, track, gap } = selected;
			const spot = await this.client.json("near", { file, track, gap, go });
			if (spot && "gap" in spot)
				store.set({
					selected: { kind: "gap", file, track, gap: spot.gap },
				});
			else this.end(by);
		}
	}

	private end(by: 1 | -1): void {
		this.says =
			by > 0
				? "This is the last slice on the track"
				: "This is the first slice on the track";
		this.changed();
	}

	/* Along the flows of the selection; of a gap to what ends it, or to its cause. */
	along(by: 1 | -1): void {
		const way = by > 0 ? "to" : "from";
		const flow = this.flows().find((one) => one.way === way);
		if (flow)
			store.set({ selected: { kind: "slice", file: flow.file, row: flow.row } });
		else if (this.gap) {
			const row = by > 0 ? this.gap.next?.row : this.gap.causes[0]?.row;
			if (row !== null && row !== undefined)
				store.set({
					selected: { kind: "slice", file: this.gap.file, row },
				});
		} else {
			this.says = "No flow continues from here";
			this.changed();
		}
	}
}

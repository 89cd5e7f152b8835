/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told.tsx - what trees of one rank say beside them: the rank, notes, how to record more.
 */
import type { TableDocument } from "../../core/types";
import { useOpened } from "../../core/context";
import { useView } from "../../core/store";
import { CopyBox } from "../../parts/copy-box";

/* A tree of several ranks would sum what differs: one rank at a time, the chosen or the first. */
export function useRank(): { rank: number | null; told: string | null } {
	const { job } = useOpened();
	const chosen = useView((view) => view.rank);
	const ranks = job.files.filter((file) => file.problem === null && file.rank !== null);
	const first = ranks[0]?.rank ?? null;
	if (chosen !== null || ranks.length < 2) return { rank: chosen, told: null };
	return {
		rank: first,
		told: `Showing rank ${first} of ${ranks.length} ranks; choose another in the status bar.`,
	};
}

export function Missing({ notes, flags }: { notes: string[]; flags: string }) {
	return (
		<div class="modules-missing">
			{(notes.length ? notes : ["This was not recorded."]).map((note) => (
				<p key={note}>{note}</p>
			))}
			{!notes.length || notes.some((note) => note.includes(flags)) ? (
				<CopyBox
					label="how to record it"
					text={`torch.profiler.profile(..., ${flags})`}
				/>
			) : null}
		</div>
	);
}

export function Notes({ table, more }: { table: TableDocument; more?: string | null }) {
	const notes = [...(more ? [more] : []), ...table.notes];
	return notes.length ? (
		<ul class="modules-notes">
			{notes.map((note) => (
				<li key={note}>{note}</li>
			))}
		</ul>
	) : null;
}

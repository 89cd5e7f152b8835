/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.tsx - the status bar: the scope of everything shown (step and rank) and the selection.
 */
import type { Job } from "../core/client";
import type { Step } from "../core/types";
import { useOpened } from "../core/context";
import { formatNs } from "../core/format";
import type { Note } from "../core/notes";
import { store, useView } from "../core/store";
import { clocksWithin, plural } from "../core/words";
import { ranksOf } from "../parts/scope";

function stepsOf(job: Job, rank: number | null): Step[] {
	const numbers = new Map<number, Step>();
	for (const file of job.files)
		if (rank === null || file.rank === rank)
			for (const step of file.steps ?? []) numbers.set(step.number, step);
	return [...numbers.values()].sort((a, b) => a.number - b.number);
}

/* "2 (ProfilerStep#4)": numbers are those of the view steps. */
function stepTitle(step: Step): string {
	const name = step.name ? ` (${step.name})` : "";
	return `${step.number}${name}${step.dropped ? ", excluded" : ""}`;
}

/* One step on or back; before the first and after the last stand all. */
export function nextStep(steps: Step[], now: number | null, way: number): number | null {
	const at = steps.findIndex((step) => step.number === now);
	const next = now === null ? (way > 0 ? 0 : steps.length - 1) : at + way;
	return steps[next]?.number ?? null;
}

function Steps({ steps, step }: { steps: Step[]; step: number | null }) {
	const go = (way: number) => store.set({ step: nextStep(steps, step, way) });
	if (!steps.length)
		return <span title="No ProfilerStep ranges and no repeating pattern">no steps</span>;
	return (
		<span class="status-part">
			<button
				type="button"
				class="button quiet"
				aria-label="Previous step"
				onClick={() => go(-1)}
			>
				◀
			</button>
			<label>
				<span>step </span>
				<select
					class="select"
					value={step === null ? "" : String(step)}
					onChange={(event) => {
						const { value } = event.currentTarget;
						store.set({
							step: value === "" ? null : Number(value),
						});
					}}
				>
					<option value="">all {steps.length}</option>
					{steps.map((one) => (
						<option key={one.number} value={String(one.number)}>
							{stepTitle(one)}
						</option>
					))}
				</select>
			</label>
			<button
				type="button"
				class="button quiet"
				aria-label="Next step"
				onClick={() => go(1)}
			>
				▶
			</button>
		</span>
	);
}

function Ranks({ ranks, rank }: { ranks: number[]; rank: number | null }) {
	if (ranks.length < 2) return null;
	return (
		<label class="status-part">
			<span>rank </span>
			<select
				class="select"
				value={rank === null ? "" : String(rank)}
				onChange={(event) => {
					const { value } = event.currentTarget;
					store.set({ rank: value === "" ? null : Number(value) });
				}}
			>
				<option value="">all {ranks.length}</option>
				{ranks.map((one) => (
					<option key={one} value={String(one)}>
						{one}
					</option>
				))}
			</select>
		</label>
	);
}

/* How far the ranks' clocks may still be apart. */
export function clockWords(job: Job): string | null {
	const good = job.files.filter((file) => file.problem === null);
	if (good.length < 2) return null;
	const loose = good.filter((file) => !file.aligned).length;
	if (loose) return `clocks of ${loose} of ${good.length} ranks are not aligned`;
	const most = Math.max(0, ...good.map((file) => file.clock_error_ns ?? 0));
	return clocksWithin(most);
}

/* Opens the first one: the drawer lists all of them. */
function NoteCount({ notes }: { notes: Note[] }) {
	const [first] = notes;
	if (!first) return null;
	return (
		<button
			type="button"
			class="button quiet"
			title="Show the notes"
			onClick={() =>
				store.set({ selected: { kind: "note", from: first.from, to: first.to } })
			}
		>
			{plural(notes.length, "note")}
		</button>
	);
}

export function StatusBar() {
	const { client, job } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const selected = useView((view) => view.selected);
	const notes = useView((view) => view.notes);
	const clocks = clockWords(job);

	return (
		// biome-ignore lint/a11y/useAriaPropsSupportedByRole: the page's footer is a landmark
		<footer class="status" aria-label="Scope">
			{job.files.length ? <Steps steps={stepsOf(job, rank)} step={step} /> : null}
			<Ranks ranks={ranksOf(job)} rank={rank} />
			{rank !== null || step !== null ? (
				<button
					type="button"
					class="button quiet"
					onClick={() => store.set({ rank: null, step: null })}
				>
					show all
				</button>
			) : null}
			<span class="spring" />
			{selected?.kind === "range" ? (
				<span>selection {formatNs(selected.to - selected.from)}</span>
			) : null}
			<NoteCount notes={notes} />
			{clocks ? (
				<a
					href="#/quality?view=clocks"
					class="soft"
					title="How far apart the clocks may still be after alignment"
				>
					{clocks}
				</a>
			) : null}
			<span class="soft" title="Where the data is">
				{client.transport.place}
			</span>
		</footer>
	);
}

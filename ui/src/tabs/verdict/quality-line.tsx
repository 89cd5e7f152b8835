/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality-line.tsx - one line on how far the verdict can be trusted.
 */
import type { Diagnosis } from "../../core/types";
import { useLoaded, useOpened } from "../../core/context";
import { formatPercent } from "../../core/format";
import { store } from "../../core/store";
import { clocksWithin, plural } from "../../core/words";
import { loadQuality, notesOf } from "../quality/odd";

function sentences(told: Diagnosis): string[] {
	const said: string[] = [];
	const { quality } = told;
	const error = Math.abs(told.replay_error_percent ?? 0);
	if (told.step_ns)
		said.push(
			`replay of the recorded steps: ${
				error < 0.05 ? "exact" : `off by ${formatPercent(error)}`
			}`,
		);
	if (told.clock_error_ns !== null && told.ranks > 1)
		said.push(clocksWithin(told.clock_error_ns));
	if (told.missing_ranks)
		said.push(`${plural(told.missing_ranks, "rank")} of the job missing`);
	if (told.unaligned_ranks)
		said.push(`${plural(told.unaligned_ranks, "rank")} could not be aligned`);
	if (told.unmatched_collectives)
		said.push(
			`${plural(told.unmatched_collectives, "collective")} could not be matched`,
		);
	if (quality.unreadable_files)
		said.push(
			`${quality.unreadable_files} of ${quality.files} files could not be read`,
		);
	if (quality.lost) said.push(`${plural(quality.lost, "event")} lost`);
	if (quality.mended) said.push(`${plural(quality.mended, "event")} repaired`);
	return said;
}

export function QualityLine({ told }: { told: Diagnosis }) {
	const { client, job } = useOpened();
	const loaded = useLoaded(() => loadQuality(client, job), [client]);
	const notes = loaded.value ? notesOf(loaded.value, job) : null;
	const said = sentences(told);
	if (notes?.absent) said.push(`${plural(notes.absent, "thing")} not recorded`);
	const broken = job.files.filter((file) => file.problem);
	return (
		<footer class="quality-line">
			<span>Quality: {said.join(" · ") || "no problems"}</span>
			<button
				type="button"
				class="md-link"
				onClick={() => store.set({ tab: "quality" })}
			>
				{notes?.count ? `All ${plural(notes.count, "note")} ▸` : "All notes ▸"}
			</button>
			{broken.map((file) => (
				<p class="bad" key={file.file}>
					<bdi>{file.path}</bdi>: {file.problem}
				</p>
			))}
		</footer>
	);
}

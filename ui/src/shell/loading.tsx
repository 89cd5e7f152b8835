/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loading.tsx - the loading screen: bytes, events, current file; and a cancel button.
 */
import { formatBytes, formatCount, formatNs } from "../core/format";
import type { Progress, SoFar } from "../core/transport";
import "./loading.css";

/* "12 MB of 81 MB · 210,000 events · file 2 of 8" */
function wordsOf(progress: Progress): string {
	const { doneBytes, totalBytes, events, file, files } = progress;
	const words = [];
	if (totalBytes) words.push(`${formatBytes(doneBytes)} of ${formatBytes(totalBytes)}`);
	if (events) words.push(`${formatCount(events)} events`);
	if (files > 1)
		words.push(`file ${formatCount(Math.min(file + 1, files))} of ${formatCount(files)}`);
	return words.join(" · ") || "starting…";
}

/* "37 traces read: 148 steps, 186 ms on average" */
function soFarWords({ traces, steps, stepsNs }: SoFar): string {
	const read = `${formatCount(traces)} ${traces === 1 ? "trace" : "traces"} read`;
	if (!steps) return read;
	const counted = `${formatCount(steps)} ${steps === 1 ? "step" : "steps"}`;
	return `${read}: ${counted}, ${formatNs(stepsNs / steps)} on average`;
}

/* What 32 bits can name. */
const PAGE_BYTES = 2 ** 32;

/* A page that fills up says so before it fails. */
function memoryWords(bytes: number): string {
	const said = `${formatBytes(bytes)} of memory; a page can use ${formatBytes(PAGE_BYTES)}`;
	const tight = bytes > PAGE_BYTES * 0.75;
	return tight ? `${said}. \`stepscope serve\` has no such limit.` : said;
}

export function LoadingScreen(props: {
	progress: Progress | null;
	error: string | null;
	onCancel: (() => void) | null;
}) {
	const { progress, error } = props;
	const share = progress?.share ?? null;
	const doing = progress?.doing ?? "Reading the traces";

	return (
		<main class="loading">
			<h1>{error ? "Could not open the traces" : doing}</h1>
			{error ? (
				<p class="state-failed" role="alert">
					{error}
				</p>
			) : (
				<>
					<progress
						aria-label="Progress"
						{...(share === null ? {} : { value: share })}
					/>
					<p aria-live="off">
						{progress ? wordsOf(progress) : "starting…"}
					</p>
					<p aria-live="off">
						{progress?.soFar?.traces ? soFarWords(progress.soFar) : ""}
					</p>
					<p class="soft" aria-live="off">
						{progress?.memoryBytes ? memoryWords(progress.memoryBytes) : ""}
					</p>
					<p class="soft loading-path mono">{progress?.path ?? ""}</p>
				</>
			)}
			{props.onCancel ? (
				<button type="button" class="button" onClick={props.onCancel}>
					{error ? "Back" : "Cancel"}
				</button>
			) : null}
		</main>
	);
}

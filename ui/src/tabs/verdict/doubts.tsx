/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubts.tsx - above the verdict: what the files lack, and which of several runs it covers. The
 * sentences come from the command.
 */
import type { Diagnosis } from "../../core/types";

function Runs({ text }: { text: string }) {
	const [first, ...others] = text.split("\n");
	return (
		<div class="doubt-runs">
			<p>{first}</p>
			<ul>
				{others.map((line) => (
					<li key={line}>{line.trim()}</li>
				))}
			</ul>
		</div>
	);
}

export function Doubts({ told }: { told: Diagnosis }) {
	if (!told.warnings.length && !told.runs_text) return null;
	return (
		<div class={told.warnings.length ? "doubts warned" : "doubts"} role="status">
			{told.warnings.map((doubt) => (
				<p key={doubt.what} class="doubt">
					<b>Warning:</b> {doubt.text}
				</p>
			))}
			{told.runs_text ? <Runs text={told.runs_text} /> : null}
		</div>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.tsx - what the verdicts of both runs say, side by side; and in what the runs differ.
 */
import { formatNs } from "../../core/format";
import type { Diagnosis, Job } from "../../core/types";
import { type FindingChange, findingsOf, unlike } from "./aligned-model";

const WORDS: Record<FindingChange["state"], { word: string; sign: string; look: string }> = {
	gone: { word: "gone in B", sign: "✓", look: "better" },
	smaller: { word: "smaller in B", sign: "▼", look: "better" },
	same: { word: "in both", sign: "=", look: "soft" },
	larger: { word: "larger in B", sign: "▲", look: "worse" },
	new: { word: "new in B", sign: "!", look: "worse" },
};

export function Unlike({ a, b }: { a: Job; b: Job }) {
	const said = unlike(a, b);
	return said.length ? (
		<ul class="compare-unlike" aria-label="In what the runs differ">
			{said.map((text) => (
				<li key={text}>{text}</li>
			))}
		</ul>
	) : null;
}

export function FindingChanges({ a, b }: { a: Diagnosis; b: Diagnosis }) {
	const changes = findingsOf(a.findings, b.findings);
	if (!changes.length) return <p>Neither run has a finding that costs a step time.</p>;
	return (
		<table class="compare-findings">
			<caption>Findings of both runs, and what each costs a step</caption>
			<thead>
				<tr>
					<th scope="col">finding</th>
					<th scope="col">A</th>
					<th scope="col">B</th>
					<th scope="col">change</th>
				</tr>
			</thead>
			<tbody>
				{changes.map((one) => {
					const { word, sign, look } = WORDS[one.state];
					return (
						<tr key={one.rule}>
							<th scope="row">{one.title}</th>
							<td>{formatNs(one.a)}</td>
							<td>{formatNs(one.b)}</td>
							<td class={look}>
								{sign} {word}
							</td>
						</tr>
					);
				})}
			</tbody>
		</table>
	);
}

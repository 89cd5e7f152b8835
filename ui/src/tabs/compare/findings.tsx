/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.tsx - what changed, as `stepscope diff` says it: what the fixes of the first run were
 * predicted to save and saved, and the findings of both; and in what the runs differ.
 */
import type { Job } from "../../core/client";
import type { Diagnosis, TableDocument } from "../../core/types";
import { formatNs } from "../../core/format";
import { store, writeAddress } from "../../core/store";
import { findingsOf, unlike } from "./aligned-model";

/* What the command says of both runs; the rest of it is in tables. */
export interface RunChange {
	comparable: boolean;
	text: string;
	notes: string | null;
	findings: TableDocument;
}

const WORDS: Record<string, { word: string; sign: string; look: string }> = {
	gone: { word: "gone in B", sign: "✓", look: "better" },
	less: { word: "smaller in B", sign: "▼", look: "better" },
	both: { word: "in both", sign: "=", look: "soft" },
	onlyA: { word: "only in A", sign: "", look: "soft" },
	onlyB: { word: "only in B", sign: "", look: "soft" },
	more: { word: "larger in B", sign: "▲", look: "worse" },
	new: { word: "new in B", sign: "!", look: "worse" },
};

function linesOf(text: string | null | undefined): string[] {
	return (text ?? "").split("\n").filter(Boolean);
}

export function Unlike({ a, b, change }: { a: Job; b: Job; change: RunChange | null }) {
	const said = [...unlike(a, b), ...linesOf(change?.notes)];
	return said.length ? (
		<ul class="compare-unlike" aria-label="In what the runs differ">
			{said.map((text) => (
				<li key={text}>{text}</li>
			))}
		</ul>
	) : null;
}

interface Props {
	a: Diagnosis;
	b: Diagnosis;
	change: RunChange;
}

export function FindingChanges({ a, b, change }: Props) {
	const rows = findingsOf(change.findings, a.findings, b.findings);
	return (
		<>
			{linesOf(change.text).map((line) => (
				<p class="compare-words" key={line}>
					{line}
				</p>
			))}
			{rows.length ? (
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
						{rows.map((one) => (
							<Row key={`${one.rule} ${one.titles}`} row={one} />
						))}
					</tbody>
				</table>
			) : (
				<p>Neither run has a finding that costs a step time.</p>
			)}
		</>
	);
}

function Row({ row }: { row: ReturnType<typeof findingsOf>[number] }) {
	const { word, sign, look } = WORDS[row.change] ?? { word: row.change, sign: "", look: "" };
	const [title, other] = row.titles;
	const verdict =
		row.number !== null &&
		writeAddress({
			...store.view,
			tab: "verdict",
			own: {},
			selected: { kind: "finding", number: row.number },
		});
	return (
		<tr>
			<th scope="row">
				{verdict ? <a href={verdict}>{title}</a> : title}
				{other ? <span class="soft"> in B: {other}</span> : null}
			</th>
			<td>{formatNs(row.a)}</td>
			<td>{formatNs(row.b)}</td>
			<td class={look}>
				{sign} {word}
			</td>
		</tr>
	);
}

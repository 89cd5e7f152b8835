/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy-facts.tsx - copies what a panel shows: as Markdown, CSV or JSON.
 */
import { Copy } from "../parts/copy";
import { writeCsv } from "../parts/csv";
import { type Fact, factsJson, factsMarkdown } from "./model";

export function CopyFacts({ title, facts }: { title: string; facts: Fact[] }) {
	const csv = () =>
		writeCsv(
			[{ name: "name" }, ...facts.map(([name]) => ({ name }))],
			[[title, ...facts.map(([, value]) => value)]],
		);
	return (
		<span class="copy-facts">
			<Copy
				label="Markdown"
				title="Copy as Markdown"
				text={() => factsMarkdown(title, facts)}
			/>
			<Copy label="CSV" title="Copy as CSV" text={csv} />
			<Copy
				label="JSON"
				title="Copy as JSON"
				text={() => factsJson(title, facts)}
			/>
		</span>
	);
}

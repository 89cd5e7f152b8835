/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reasons.tsx - why we think so, what we assume, how to be more certain, when the rule stays
 * quiet: from the finding itself and from its rule's page.
 */
import type { Finding } from "../../core/types";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { type Block, Inline, Markdown, readMarkdown } from "../../parts/markdown";

type Part = "why" | "fix" | "surer" | "not";

/* Pages of rules name their parts in the first words of a paragraph. */
const STARTS: [RegExp, Part | null][] = [
	[/^(?:What it looks at|A warning from)/, "why"],
	[/^What we assume the fix does/, "fix"],
	[/^How to be more certain/, "surer"],
	[/^When this rule stays quiet/, "not"],
	[/^(?:What it does not see|No time is claimed)/, "not"],
	[/^(?:What to do|The fix:)/, null],
];

/* The parts of a rule's page; what follows a part's first paragraph belongs to it. */
export function partsOf(blocks: Block[]): Record<Part, Block[]> {
	const parts: Record<Part, Block[]> = { why: [], fix: [], surer: [], not: [] };
	let part: Part | null = null;
	for (const block of blocks) {
		if (block.kind === "heading") continue;
		if (block.kind === "paragraph") {
			if (block.text.startsWith("**")) {
				part = null;
				continue;
			}
			const found = STARTS.find(([start]) => start.test(block.text));
			if (found) part = found[1];
		}
		if (part) parts[part].push(block);
	}
	return parts;
}

const TITLES: [Part, string][] = [
	["why", "Why we think so"],
	["fix", "What we assume the fix does"],
	["surer", "How to be more certain"],
	["not", "When this rule stays quiet"],
];

function upper(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function said(finding: Finding, part: Part): ComponentChildren {
	if (part === "why" && finding.reason)
		return (
			<p>
				{upper(finding.confidence)} confidence: {finding.reason}.
			</p>
		);
	if (part === "surer" && finding.surer)
		return (
			<p>
				<Inline text={`${upper(finding.surer)}.`} />
			</p>
		);
	return null;
}

/* The page of the rule, with the way to others that it names. */
function Page({ finding, part }: { finding: Finding; part: Part }) {
	const { client } = useOpened();
	const [other, follow] = useState<string | null>(null);
	const rule = other ?? finding.rule;
	const page = useLoaded(() => client.text(`explain/${rule}`), [rule]);

	if (page.value === null)
		return (
			<p class="soft">
				{page.state === "failed"
					? `Could not load the page of this rule: ${page.error}`
					: "…"}
			</p>
		);
	const blocks = readMarkdown(page.value);
	if (other)
		return (
			<>
				<button type="button" class="md-link" onClick={() => follow(null)}>
					Back to {finding.rule}
				</button>
				<Markdown blocks={blocks} follow={follow} />
			</>
		);
	const found = partsOf(blocks)[part];
	if (!found.length && !said(finding, part))
		return <p class="soft">The rule's page does not cover this.</p>;
	return <Markdown blocks={found} follow={follow} />;
}

export function Reasons({ finding }: { finding: Finding }) {
	const [open, change] = useState<Part | null>(null);
	return (
		<div class="reasons">
			<div class="reasons-bar">
				{TITLES.map(([part, title]) => (
					<button
						key={part}
						type="button"
						aria-expanded={open === part}
						onClick={() => change(open === part ? null : part)}
					>
						{title}{" "}
						<span aria-hidden="true">
							{open === part ? "▾" : "▸"}
						</span>
					</button>
				))}
			</div>
			{open ? (
				<div class="reasons-text">
					{said(finding, open)}
					<Page key={open} finding={finding} part={open} />
				</div>
			) : null}
		</div>
	);
}

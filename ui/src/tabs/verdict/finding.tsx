/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.tsx - a finding: cost, evidence, fix, confidence.
 */
import type { Diagnosis, Evidence, Finding } from "../../core/types";
import { useOpened } from "../../core/context";
import { formatBytes, formatNs, formatPercent } from "../../core/format";
import { markOf } from "../../core/words";
import { store } from "../../core/store";
import { CopyBox } from "../../parts/copy-box";
import { Terms, tipOf } from "../../parts/tips";
import { boundsOf, ranksOf, savedRange, savesWords } from "./model";
import { type Flags, placesOf, showFinding } from "./places";
import { Reasons } from "./reasons";

/* Lines of evidence that stand there at once. */
const EVIDENCE_SHOWN = 4;

/* "train.py(84): main" as editors and people write it: train.py:84, and the function */
export function lineOf(line: string): { place: string; inside: string | null } {
	const found = /^(.*)\((\d+)\)(?::\s*(.*))?$/.exec(line);
	if (!found) return { place: line, inside: null };
	return { place: `${found[1]}:${found[2]}`, inside: found[3] || null };
}

/* What a snapshot of memory shows is looked at there. */
function MemoryLink({ evidence }: { evidence: Evidence }) {
	if (evidence.snapshot === undefined) return null;
	const own = {
		kind: "snapshot",
		snapshot: String(evidence.snapshot),
		device: String(evidence.device ?? ""),
	};
	return (
		<>
			{" "}
			<button
				type="button"
				class="md-link"
				title="Show the memory snapshot behind this evidence"
				onClick={() => store.set({ tab: "memory", own })}
			>
				Open in Memory
			</button>
		</>
	);
}

/* Once for each device of a snapshot: its sentences stand together. */
export function linked(evidence: Evidence[], i: number): boolean {
	const next = evidence[i + 1];
	const one = evidence[i];
	return !next || next.snapshot !== one?.snapshot || next.device !== one?.device;
}

export function EvidenceLine(props: {
	evidence: Evidence;
	links: boolean;
	seen?: Set<string>; /* terms that have their tip already */
}) {
	const { evidence, links, seen } = props;
	const line = evidence.line ? lineOf(evidence.line) : null;
	return (
		<li>
			<Terms prose text={evidence.text} {...(seen ? { seen } : {})} />
			{line ? (
				<>
					{" — "}
					<code title={line.inside ? `in ${line.inside}` : ""}>
						{line.place}
					</code>
				</>
			) : null}
			{links ? <MemoryLink evidence={evidence} /> : null}
		</li>
	);
}

/* Of traces and of snapshots as many at once: neither hides the other. */
function split(evidence: Evidence[]): [Evidence[], Evidence[]] {
	const seen = [0, 0];
	const shown = evidence.map((one) => {
		const kind = one.snapshot === undefined ? 0 : 1;
		seen[kind] = (seen[kind] ?? 0) + 1;
		return (seen[kind] ?? 0) <= EVIDENCE_SHOWN;
	});
	return [evidence.filter((_, i) => shown[i]), evidence.filter((_, i) => !shown[i])];
}

export function EvidenceList({ evidence }: { evidence: Evidence[] }) {
	const [first, rest] = split(evidence);
	const seen = new Set<string>();
	return (
		<>
			<ul class="evidence">
				{first.map((one, i) => (
					<EvidenceLine
						key={i}
						evidence={one}
						links={linked(first, i)}
						seen={seen}
					/>
				))}
			</ul>
			{rest.length ? (
				<details class="evidence-more">
					<summary>{rest.length} more</summary>
					<ul class="evidence">
						{rest.map((one, i) => (
							<EvidenceLine
								key={i}
								evidence={one}
								links={linked(rest, i)}
								seen={seen}
							/>
						))}
					</ul>
				</details>
			) : null}
		</>
	);
}

function reasonOf({ reason }: Finding): string {
	return reason ? `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.` : "";
}

/* −88 ms · 21 % · all ranks · high confidence */
export function Figures({ finding, told }: { finding: Finding; told: Diagnosis }) {
	const range = savedRange(finding, told.only_bounds);
	const bounds = range ? null : boundsOf(finding);
	const ranks = ranksOf(finding, told.ranks);
	return (
		<span class="finding-figures">
			{finding.cost_ns !== null && (finding.cost_ns || finding.bytes === undefined) ? (
				<>
					<b title="per step, with the fixes above it in place">
						{savesWords(finding, range ?? formatNs(finding.cost_ns))}
					</b>
					{" · "}
					{range ? null : (
						<>
							<span title="of the mean step">
								{formatPercent(
									finding.share_percent,
								)}
							</span>
							{" · "}
						</>
					)}
				</>
			) : null}
			{finding.cost_ns === null && finding.rule === "unexplained-time" ? (
				<>
					<b title="of the mean step">
						{formatNs(told.account?.unexplained_ns ?? null)}
					</b>{" "}
					unexplained{" · "}
				</>
			) : null}
			{finding.bytes !== undefined ? (
				<>
					<b>{formatBytes(finding.bytes)}</b> {finding.bytes_are}
					{" · "}
				</>
			) : null}
			{ranks ? `${ranks} · ` : ""}
			<button
				type="button"
				class={`term confidence ${finding.confidence}`}
				{...tipOf("confidence", reasonOf(finding))}
			>
				{finding.confidence} confidence
			</button>
			{bounds ? <span class="soft"> · {bounds}</span> : null}
		</span>
	);
}

interface Props {
	number: number;
	finding: Finding;
	told: Diagnosis;
	flags: Flags;
	off: boolean;
}

function ShowButton({ finding, flags }: { finding: Finding; flags: Flags }) {
	const { client } = useOpened();
	const place = placesOf(flags, finding)[0];
	const why = flags.error
		? `Could not load its places: ${flags.error}`
		: flags.flags
			? "It has no single place; it concerns the whole recording."
			: "Looking for its place …";
	return (
		<button
			type="button"
			class="button"
			disabled={!place}
			title={place ? `The most expensive place: ${formatNs(place.ns)}` : why}
			onClick={() => showFinding(client, flags, finding)}
		>
			Show on timeline
		</button>
	);
}

export function FindingCard({ number, finding, told, flags, off }: Props) {
	const label = `finding-${number}`;
	return (
		<article
			class={`finding ${finding.level} ${off ? "off" : ""}`}
			aria-labelledby={label}
		>
			<header>
				<span class="finding-number" aria-hidden="true">
					{markOf(finding, number)}
				</span>
				<h3 id={label}>
					<button
						type="button"
						onClick={() =>
							store.set({
								selected: {
									kind: "finding",
									number,
								},
							})
						}
						{...tipOf(finding.title, "Show details below")}
					>
						{finding.title}
					</button>
				</h3>
				<Figures finding={finding} told={told} />
				<ShowButton finding={finding} flags={flags} />
			</header>
			<div class="finding-body">
				<EvidenceList evidence={finding.evidence} />
				{finding.fix ? <CopyBox text={finding.fix} label="fix" /> : null}
				<Reasons finding={finding} />
			</div>
		</article>
	);
}

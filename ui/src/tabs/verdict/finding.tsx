/*
 * finding.tsx - a finding: what it costs, what shows it, what to do, how sure it is.
 */
import { formatNs, formatPercent } from "../../core/format";
import { store } from "../../core/store";
import type { Diagnosis, Evidence, Finding } from "../../core/types";
import { CopyBox } from "../../parts/copy-box";
import { boundsOf, ranksOf } from "./model";
import { type Flags, placesOf, showPlace } from "./places";
import { Reasons } from "./reasons";

/* Lines of evidence that stand there at once. */
const EVIDENCE_SHOWN = 4;

/* "train.py(84): main" as editors and people write it: train.py:84, and the function */
export function lineOf(line: string): { place: string; inside: string | null } {
	const found = /^(.*)\((\d+)\)(?::\s*(.*))?$/.exec(line);
	if (!found) return { place: line, inside: null };
	return { place: `${found[1]}:${found[2]}`, inside: found[3] || null };
}

export function EvidenceLine({ evidence }: { evidence: Evidence }) {
	const line = evidence.line ? lineOf(evidence.line) : null;
	return (
		<li>
			{evidence.text}
			{line ? (
				<>
					{" — "}
					<code title={line.inside ? `in ${line.inside}` : ""}>
						{line.place}
					</code>
				</>
			) : null}
		</li>
	);
}

export function EvidenceList({ evidence }: { evidence: Evidence[] }) {
	const rest = evidence.slice(EVIDENCE_SHOWN);
	return (
		<>
			<ul class="evidence">
				{evidence.slice(0, EVIDENCE_SHOWN).map((one) => (
					<EvidenceLine evidence={one} />
				))}
			</ul>
			{rest.length ? (
				<details class="evidence-more">
					<summary>{rest.length} more</summary>
					<ul class="evidence">
						{rest.map((one) => (
							<EvidenceLine evidence={one} />
						))}
					</ul>
				</details>
			) : null}
		</>
	);
}

/* −88 ms · 21 % · all ranks · high confidence */
export function Figures({ finding, told }: { finding: Finding; told: Diagnosis }) {
	const bounds = boundsOf(finding);
	const ranks = ranksOf(finding, told.ranks);
	return (
		<span class="finding-figures">
			{finding.cost_ns !== null ? (
				<>
					<b title="off a step, when the fixes above it are in place">
						{told.only_bounds && bounds
							? bounds
							: `−${formatNs(finding.cost_ns)}`}
					</b>
					{" · "}
					<span title="of the mean step">
						{formatPercent(finding.share_percent)}
					</span>
					{" · "}
				</>
			) : null}
			{ranks ? `${ranks} · ` : ""}
			<span
				class={`confidence ${finding.confidence}`}
				title={finding.reason ?? ""}
			>
				{finding.confidence} confidence
			</span>
			{bounds && !told.only_bounds ? <span class="soft"> · {bounds}</span> : null}
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
	const place = placesOf(flags, finding)[0];
	const why = flags.error
		? `Where it is cannot be had: ${flags.error}`
		: flags.flags
			? "It has no single place: it is about the whole recording."
			: "Looking for its place …";
	return (
		<button
			type="button"
			class="button"
			disabled={!place}
			title={place ? `The place that costs most: ${formatNs(place.ns)}` : why}
			onClick={() => place && showPlace(place)}
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
					{number}
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
						title="Show its details below"
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

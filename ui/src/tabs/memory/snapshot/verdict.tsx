/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.tsx - the verdict on a snapshot: memory in use, who holds the peak, what is wrong.
 */
import { useLoaded, useOpened } from "../../../core/context";
import { formatBytes, formatPercent } from "../../../core/format";
import { rowsOf } from "../../../core/rows";
import { store } from "../../../core/store";
import { Failed, Loading } from "../../../parts/state";
import { TABLES_ID } from "./compared";

interface Props {
	snapshot: number;
	device: string | null;
}

/* The table that has more about it. */
const TABLES: Record<string, string> = {
	"memory-leak": "snapshot-leaks",
	"out-of-memory": "snapshot-oom",
	fragmentation: "snapshot-segments",
	"allocator-thrash": "snapshot-timeline",
	"memory-headroom": "snapshot-holders",
};

function More({ finding }: { finding: string }) {
	const view = TABLES[finding];
	if (!view) return null;
	return (
		<button
			type="button"
			class="button quiet"
			onClick={() => {
				store.setOwn({ view });
				document.getElementById(TABLES_ID)?.scrollIntoView();
			}}
		>
			show more
		</button>
	);
}

const TITLES: Record<string, string> = {
	"memory-leak": "Memory leak",
	"out-of-memory": "Out of memory",
	fragmentation: "Fragmentation",
	"allocator-thrash": "Allocator thrashing",
	"memory-headroom": "GPU memory nearly full",
};

function useVerdict({ snapshot, device }: Props) {
	const { client } = useOpened();
	return useLoaded(async () => {
		const asked = { snapshot, device };
		const [summary, holders, findings] = await Promise.all([
			client.view("snapshot-summary", asked),
			client.view("snapshot-holders", { ...asked, top: 1 }),
			client.view("snapshot-findings", asked),
		]);
		return {
			summary: rowsOf(summary, "snapshot-summary")[0] ?? null,
			holder: rowsOf(holders, "snapshot-holders")[0] ?? null,
			findings: rowsOf(findings, "snapshot-findings"),
			notes: findings.notes,
		};
	}, [client, snapshot, device]);
}

type Verdict = NonNullable<ReturnType<typeof useVerdict>["value"]>;

function Peak({ summary, holder }: Verdict) {
	if (!summary || summary.peak_active_bytes === null)
		return summary ? <> The history was not recorded, so the peak is unknown.</> : null;
	return (
		<>
			{" "}
			The peak was <b>{formatBytes(summary.peak_active_bytes)}</b>
			{holder?.peak_bytes ? (
				<span title="of all memory held at the peak">
					: {holder.line ?? "blocks without a stack"} held{" "}
					{formatBytes(holder.peak_bytes)} ({formatPercent(holder.peak_percent)}) of it
				</span>
			) : null}
			.
		</>
	);
}

function Sentence(verdict: Verdict) {
	const { summary } = verdict;
	if (!summary) return <p class="snapshot-lead">A memory timeline from the profiler.</p>;
	const { reserved_bytes: reserved, external_bytes: pieces } = summary;
	const known = reserved !== null && reserved > 0;
	return (
		<p class="snapshot-lead">
			{known ? (
				<>
					At the end, <b>{formatBytes(summary.allocated_bytes)}</b> is allocated of{" "}
					<b>{formatBytes(reserved)}</b> reserved
					{pieces ? (
						<span title="of reserved memory">
							; {formatBytes(pieces)} ({formatPercent((100 * pieces) / reserved)}) is
							free but fragmented
						</span>
					) : null}
					.
				</>
			) : null}
			<Peak {...verdict} />
		</p>
	);
}

export function SnapshotVerdict(props: Props) {
	const loaded = useVerdict(props);
	const found = loaded.value;
	if (!found)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Reading the snapshot …" />
		);
	return (
		<div class="snapshot-verdict">
			<Sentence {...found} />
			{found.findings.map((finding, i) => (
				<section
					key={i}
					class={finding.severity === "warning" ? "finding-box bad" : "finding-box"}
				>
					<h2>
						{finding.severity === "note"
							? "Nothing to change"
							: (TITLES[finding.finding ?? ""] ?? finding.finding)}{" "}
						<span class="soft">{formatBytes(finding.bytes)}</span>{" "}
						<More finding={finding.finding ?? ""} />
					</h2>
					<p>{finding.evidence}</p>
					{finding.fix ? (
						<p>
							<b>Fix:</b> {finding.fix}
						</p>
					) : null}
				</section>
			))}
			{found.notes.map((note) => (
				<p class="soft" key={note}>
					{note}
				</p>
			))}
		</div>
	);
}

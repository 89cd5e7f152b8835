/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.tsx - memory by phase: the peak in forward, backward and optimizer, and the phase in
 * which each step peaks. Peaks in backward are normal; others deserve a look.
 */
import { useLoaded, useOpened } from "../../../core/context";
import { formatBytes, formatCount, formatPercent } from "../../../core/format";
import { rowsOf } from "../../../core/rows";
import type { RowOf } from "../../../core/tables";
import { type AskedDevice, showEvents } from "./chosen";

type PhaseRow = RowOf<"snapshot-phases">;

/* As the categories that are made in the phase. */
const COLORS: Record<string, string> = {
	setup: "--c-compute",
	forward: "--c-copy",
	backward: "--c-communication",
	optimizer: "--c-optimizer",
	other: "--c-other",
};

/* More steps than this are in the table alone. */
const STEPS = 120;

function usePhases(asked: AskedDevice) {
	const { client } = useOpened();
	const { snapshot, device } = asked;
	return useLoaded(async () => {
		const [all, steps, findings] = await Promise.all([
			client.view("snapshot-phases", { snapshot, device }),
			client.view("snapshot-phases", { snapshot, device, group: "step", top: 0 }),
			client.view("snapshot-findings", { snapshot, device }),
		]);
		return {
			phases: rowsOf(all, "snapshot-phases"),
			steps: rowsOf(steps, "snapshot-phases").filter((row) => row.peaks),
			/* without what every table of the snapshot says */
			notes: all.notes.filter((note) => !findings.notes.includes(note)),
		};
	}, [client, snapshot, device]);
}

function tokenOf(phase: string | null): string {
	return COLORS[phase ?? "other"] ?? "--c-other";
}

function Swatch({ phase }: { phase: string | null }) {
	return (
		<span
			class="area-swatch"
			style={{ background: `var(${tokenOf(phase)})`, opacity: 0.9 }}
		/>
	);
}

function PhaseLine({ row, go }: { row: PhaseRow; go: (event: number) => void }) {
	const { event, peaks, steps } = row;
	return (
		<tr>
			<th scope="row">
				<Swatch phase={row.phase} /> {row.phase}
			</th>
			<td class="phase-bytes">{formatBytes(row.peak_bytes)}</td>
			<td class="phase-bar" title={`${formatPercent(row.peak_percent)} of the peak`}>
				<span
					style={{
						width: `${Math.min(100, row.peak_percent ?? 0)}%`,
						background: `var(${tokenOf(row.phase)})`,
					}}
				/>
			</td>
			<td class="phase-bytes">
				{peaks === null ? "unknown" : `${formatCount(peaks)} of ${formatCount(steps)}`}
			</td>
			<td class="phase-bytes">{formatBytes(row.rise_bytes)}</td>
			<td class="phase-bytes">{formatBytes(row.net_bytes)}</td>
			<td>
				{event === null ? null : (
					<button type="button" class="button quiet" onClick={() => go(event)}>
						event {formatCount(event)}
						{row.line ? `, ${row.line}` : ""}
					</button>
				)}
			</td>
		</tr>
	);
}

/* A square a step, with the letter and the colour of the phase that it peaks in. */
function StepPeaks({ steps, go }: { steps: PhaseRow[]; go: (event: number) => void }) {
	if (!steps.length || steps.length > STEPS) return null;
	return (
		<div class="phase-steps" role="group" aria-label="Where each step peaks">
			<span class="soft">phase in which each step peaks:</span>
			{steps.map((row) => {
				const says = `step ${row.step}: ${formatBytes(row.peak_bytes)} in ${row.phase}`;
				return (
					<button
						key={row.step}
						type="button"
						title={says}
						aria-label={says}
						style={{ background: `var(${tokenOf(row.phase)})` }}
						onClick={() => row.event !== null && go(row.event)}
					>
						{row.phase?.[0]}
					</button>
				);
			})}
		</div>
	);
}

/* `show` leads to the curve, where it is not in sight; `events` are those of the device. */
export function Phases(props: AskedDevice & { events: number; show?: () => void }) {
	const found = usePhases(props).value;
	if (!found?.phases.length) return null;
	const go = (event: number) => {
		props.show?.();
		showEvents(event, event, props.events);
	};
	return (
		<section class="phase-part" aria-label="Memory by phase">
			<h2>Memory by phase</h2>
			{found.notes.map((note) => (
				<p key={note}>{note}</p>
			))}
			<div class="phase-scroll">
				<table>
					<thead>
						<tr>
							<th scope="col">phase</th>
							<th scope="col" class="phase-bytes">
								peak
							</th>
							<th scope="col">share of the overall peak</th>
							<th scope="col" class="phase-bytes" title="steps that peak in it">
								steps that peak here
							</th>
							<th
								scope="col"
								class="phase-bytes"
								title="largest rise of memory within the phase"
							>
								rise
							</th>
							<th
								scope="col"
								class="phase-bytes"
								title="allocated minus freed in the phase, over all events"
							>
								net, total
							</th>
							<th scope="col">where</th>
						</tr>
					</thead>
					<tbody>
						{found.phases.map((row) => (
							<PhaseLine key={row.phase} row={row} go={go} />
						))}
					</tbody>
				</table>
			</div>
			<StepPeaks steps={found.steps} go={go} />
		</section>
	);
}

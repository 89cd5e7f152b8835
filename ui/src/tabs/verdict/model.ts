/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.ts - computes what the verdict shows from the core's answers.
 */
import type { Job } from "../../core/client";
import type { Account, Cell, Diagnosis, Finding, TableDocument } from "../../core/types";
import { causeColor } from "../../core/colors";
import { formatCount, formatNs, formatNsRange, formatPercent, isNear } from "../../core/format";
import { rowsOf, sum } from "../../core/rows";
import type { BarPart } from "../../parts/stacked-bar";
import { PARTS } from "../overview/steps";

/* What the files say before anything is computed. */
export function recordedSteps(job: Job): string {
	const steps = job.files.flatMap((file) => file.steps ?? []).filter((step) => !step.dropped);
	const lengths = steps.map((step) => step.end_ns - step.start_ns).sort((a, b) => a - b);
	const median = lengths[lengths.length >> 1];
	if (median === undefined) return "";
	return `A recorded step takes ${formatNs(median)} (median of ${formatCount(lengths.length)}).`;
}

/* What what-if is asked for; findings about one rank are asked for by it. */
export function fixOf(finding: Finding): string {
	return finding.rank === null ? finding.rule : `${finding.rule}=${finding.rank}`;
}

/* Start-up is no part of a steady step, and no fix saves it. */
export function isFix(finding: Finding): boolean {
	return finding.cost_ns !== null && !finding.is_start_up;
}

/* "saves 88 ms" */
export function savesWords(finding: Finding, time: string): string {
	return finding.is_start_up ? time : `saves ${time}`;
}

/* The set that the core's own verdict fixes. */
export function warnedFixes(diagnosis: Diagnosis): Set<string> {
	const warned = diagnosis.findings.filter((one) => one.level === "warning" && isFix(one));
	return new Set(warned.map(fixOf));
}

export function sameSet(a: Set<string>, b: Set<string>): boolean {
	return a.size === b.size && [...a].every((one) => b.has(one));
}

/* One row of the waterfall: where its bar begins and ends, and what is sure of it. */
export interface Fall {
	number: number;
	finding: Finding;
	fix: string;
	on: boolean;
	cost: Finding | null; /* with the figures of the set that is on */
	from_ns: number;
	to_ns: number;
}

/* Rows and stairs stay in the order of the verdict, whatever set is on: each bar begins where the
 * one above it ends, and what is off is a step of no height. */
export function fallsOf(told: Diagnosis, shown: Diagnosis, on: Set<string>): Fall[] {
	const keyOf = (finding: Finding) => `${fixOf(finding)} ${finding.title}`;
	const costs = new Map(shown.findings.map((finding) => [keyOf(finding), finding]));
	let left = shown.step_ns ?? 0;
	return told.findings.flatMap((finding, i) => {
		if (!isFix(finding)) return [];
		const fix = fixOf(finding);
		const cost = on.has(fix) ? (costs.get(keyOf(finding)) ?? null) : null;
		const from_ns = left;
		left -= cost?.cost_ns ?? 0;
		return [
			{ number: i + 1, finding, fix, on: on.has(fix), cost, from_ns, to_ns: left },
		];
	});
}

export function speedUp(before: number, after: number): string {
	const times = before / after;
	return after > 0 ? `${times.toFixed(times >= 99.5 ? 0 : times >= 9.995 ? 1 : 2)} ×` : "";
}

/* "mean of 5 steps on 8 ranks (median 139 ms, from 138 to 190 ms)" */
export function baseOf(diagnosis: Diagnosis): string {
	const { spread } = diagnosis;
	const steps = diagnosis.steps === 1 ? "1 step" : `mean of ${diagnosis.steps} steps`;
	const base = diagnosis.ranks > 1 ? `${steps} on ${diagnosis.ranks} ranks` : steps;
	if (!spread?.uneven) return base;
	const range = formatNsRange(spread.min_ns, spread.max_ns);
	return `${base} (median ${formatNs(spread.median_ns)}, from ${range})`;
}

/* As of the command: a range of savings this wide is shown instead of one figure. */
const WIDE_RANGE = 1.5;

function isWide(low: number, high: number): boolean {
	return high > WIDE_RANGE * low;
}

/* Whether the steps with the fixes are so far apart that one figure says too much. */
export function isRange(step: number, shown: Diagnosis): boolean {
	const { fixed_low_ns: fast, fixed_high_ns: slow } = shown;
	return slow !== null && fast !== null && isWide(step - slow, step - fast);
}

/* "109 to 303 ms" that a fix saves, where one figure would say too much; else null. */
export function savedRange(finding: Finding, onlyBounds: boolean): string | null {
	const { cost_low_ns: low, cost_high_ns: high, is_start_up } = finding;
	if (low === null || high === null || is_start_up || isNear(low, high)) return null;
	return onlyBounds || isWide(low, high) ? formatNsRange(low, high) : null;
}

export function boundsOf(finding: Finding): string | null {
	const { cost_low_ns: low, cost_high_ns: high, is_start_up } = finding;
	if (low === null || high === null || is_start_up || isNear(low, high)) return null;
	return `between ${formatNs(low)} and ${formatNs(high)}`;
}

/* More ranks than this are counted, not listed. */
const LISTED_RANKS = 6;

export function ranksOf(finding: Finding, ranks: number): string | null {
	const known = finding.ranks.filter((rank): rank is number => rank !== null);
	if (finding.rank !== null) return `rank ${finding.rank}`;
	if (ranks < 2 || !finding.ranks.length) return known.length ? `rank ${known[0]}` : null;
	if (finding.ranks.length >= ranks) return "all ranks";
	if (known.length === 1) return `rank ${known[0]}`;
	if (known.length > LISTED_RANKS || known.length < finding.ranks.length)
		return `${finding.ranks.length} of ${ranks} ranks`;
	return `ranks ${known.join(", ")}`;
}

/* Nothing was found below this share of a step: the sentence of a healthy job. */
const HEALTHY_PERCENT = 3;

/* The first whole percentage that nothing found reaches, three or more. */
export function healthyLimit(diagnosis: Diagnosis): string {
	const shares = diagnosis.findings.filter(isFix).map((one) => one.share_percent ?? 0);
	const most = Math.max(0, ...shares);
	return formatPercent(Math.max(HEALTHY_PERCENT, Math.ceil(most))).replace(".0 ", " ");
}

/* As of the command: from this share of the step on, the verdict names unexplained time. */
const OPEN_SHARE = 0.1;

/* "37 %" of the step, where no rule explains that much; null: less. */
export function openShare(account: Account | null): string | null {
	if (!account || account.unexplained_ns < OPEN_SHARE * account.step_ns) return null;
	return formatPercent((100 * account.unexplained_ns) / account.step_ns).replace(".0 ", " ");
}

const ACCOUNT_PARTS: [(account: Account) => number, string, string, boolean][] = [
	[(one) => one.explained_ns, "fixable", "optimizer", false],
	[(one) => one.compute_ns, "compute", "compute", false],
	[(one) => one.of_communication.transfers_ns, "communication", "communication", false],
	[(one) => one.of_communication.waiting_for_stages_ns, "pipeline", "communication", true],
	[(one) => one.copies_ns, "copies", "copy", false],
	[(one) => one.host_ns, "host", "operator", false],
	[(one) => one.unexplained_ns, "unexplained", "idle", true],
];

/* The parts of the step's account, in the order of the bar; they sum to the step. */
export function accountParts(account: Account): BarPart[] {
	return ACCOUNT_PARTS.map(([sizeOf, name, color, hatched]) => ({
		name,
		value: sizeOf(account),
		color,
		hatched,
	})).filter((part) => part.value > 0);
}

const PART_COLORS: Record<string, string> = {
	compute: "compute",
	"exposed communication": "communication",
	"exposed copies": "copy",
};

function numberOf(cell: Cell | undefined): number {
	return typeof cell === "number" ? cell : 0;
}

/* A budget: parts summed over devices, and how many devices that are. */
export interface Budget {
	parts: BarPart[];
	devices: number;
}

/* Where the time of a step goes, mean of the steps of each device; parts sum to the step. */
export function budgetOf(budget: TableDocument): Budget {
	const at = (name: string) => budget.columns.findIndex((column) => column.name === name);
	const [part, mean, rank, device] = [at("part"), at("mean_ns"), at("rank"), at("device")];
	const sums = new Map<string, number>();
	const devices = new Set<string>();
	for (const row of budget.rows) {
		const name = String(row[part] ?? "");
		sums.set(name, (sums.get(name) ?? 0) + numberOf(row[mean]));
		devices.add(`${row[rank]} ${row[device]}`);
	}
	const parts = [...sums]
		.filter(([, value]) => value > 0)
		.map(([name, value]) => ({
			name,
			value,
			color: PART_COLORS[name] ?? causeColor(name.replace(/^idle: /, "")),
			hatched: name.startsWith("idle"),
		}));
	return { parts, devices: devices.size };
}

/* The same for files without a device: what the host did, step by step. */
export function hostBudgetOf(breakdown: TableDocument): Budget {
	const rows = rowsOf(breakdown, "breakdown");
	const parts = PARTS.map(({ name, color, hatched, column }) => ({
		...{ name, color, hatched: hatched ?? false },
		value: sum(rows.map((row) => row[column])),
	})).filter(({ value }) => value > 0);
	return { parts, devices: rows.length };
}

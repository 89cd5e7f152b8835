/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headline.tsx - overview: GPU utilization as one number, and where to look when it is low.
 */
import { useLoaded, useOpened } from "../../core/context";
import { formatPercent } from "../../core/format";
import { mean, rowsOf, sum } from "../../core/rows";
import { useView, writeAddress } from "../../core/store";
import { plural } from "../../core/words";
import { Terms } from "../../parts/tips";

/* What people take for enough: below it the gaps are worth more than the kernels. */
const ENOUGH_PERCENT = 80;

/* Exposed communication that is worth more than faster kernels: a tenth of the step. */
const EXPOSED_PERCENT = 10;

/* The share of the mean step in which only communication ran; null: not known. */
function useExposed(rank: number | null, step: number | null): number | null {
	const { client } = useOpened();
	const loaded = useLoaded(
		() => client.view("budget", { rank, step, group: "part" }),
		[client, rank, step],
	);
	const rows = loaded.value ? rowsOf(loaded.value, "budget") : [];
	const all = sum(rows.map((row) => row.mean_ns ?? 0));
	const exposed = rows.filter((row) => row.part === "exposed communication");
	return all > 0 ? (100 * sum(exposed.map((row) => row.mean_ns ?? 0))) / all : null;
}

/* What to look at next: idle time, then exposed communication, then kernels. */
function Next(props: { busy: number; exposed: number | null; to: (tab: string) => string }) {
	const { busy, exposed, to } = props;
	const waits =
		exposed !== null && exposed >= EXPOSED_PERCENT ? (
			<>
				{formatPercent(exposed)} of the step is exposed communication: see{" "}
				<a href={to("communication")}>Comm</a>.
			</>
		) : null;
	if (busy < ENOUGH_PERCENT)
		return (
			<>
				Below {ENOUGH_PERCENT} %: see <a href={to("gaps")}>Gaps</a> for what the
				GPU waits for. {waits}
			</>
		);
	return (
		waits ?? (
			<>
				{ENOUGH_PERCENT} % or more is the usual goal; look for further savings in{" "}
				<a href={to("kernels")}>Kernels</a>.
			</>
		)
	);
}

/* The verdict's figure has copies, too: the reader learns why it differs. */
function WithCopies({ kernels }: { kernels: number }) {
	const { client } = useOpened();
	const gpu = useLoaded(() => client.diagnosis(), [client]).value?.gpu;
	const all = gpu?.exposed_copies_percent ? formatPercent(gpu.busy_percent) : null;
	if (!all || all === formatPercent(kernels)) return null;
	return <> With copies {all}, as in the verdict.</>;
}

export function Utilization() {
	const { client } = useOpened();
	const view = useView((all) => all);
	const { rank, step } = view;
	const loaded = useLoaded(
		() => client.view("utilization", { rank, step }),
		[client, rank, step],
	);
	const known = loaded.value
		? rowsOf(loaded.value, "utilization").flatMap((row) => row.gpu_percent ?? [])
		: [];
	const value = mean(known);
	const exposed = useExposed(rank, step);
	if (value === null) return null;
	const to = (tab: string) => writeAddress({ ...view, tab, own: {}, selected: null });
	const reach =
		known.length > 1
			? ` (mean of ${plural(known.length, "GPU")}, ` +
				`${formatPercent(Math.min(...known))} to ${formatPercent(Math.max(...known))})`
			: "";
	return (
		<p class="headline">
			<span class="headline-name">
				<Terms text="GPU utilization" />
			</span>{" "}
			<b>{formatPercent(value)}</b>
			<span class="soft">
				{reach}: the share of step time in which a kernel ran.
				{rank === null && step === null ? <WithCopies kernels={value} /> : null}
			</span>{" "}
			<Next busy={value} exposed={exposed} to={to} />
		</p>
	);
}

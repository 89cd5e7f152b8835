/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headline.tsx - overview: GPU utilization as one number, and where to look when it is low.
 */
import { useLoaded, useOpened } from "../../core/context";
import { formatPercent } from "../../core/format";
import { middle, rowsOf } from "../../core/rows";
import { useView, writeAddress } from "../../core/store";
import { plural } from "../../core/words";
import { Terms } from "../../parts/tips";

/* What people take for enough: below it the gaps are worth more than the kernels. */
const ENOUGH_PERCENT = 80;

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
	const value = middle(known);
	if (value === null) return null;
	const to = (tab: string) => writeAddress({ ...view, tab, own: {}, selected: null });
	const reach =
		known.length > 1
			? ` (median of ${plural(known.length, "GPU")}, ` +
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
			</span>{" "}
			{value < ENOUGH_PERCENT ? (
				<>
					Below {ENOUGH_PERCENT} %: see <a href={to("gaps")}>Gaps</a> for what
					the GPU waits for.
				</>
			) : (
				<>
					{ENOUGH_PERCENT} % or more is the usual goal; look for further savings in{" "}
					<a href={to("kernels")}>Kernels</a>.
				</>
			)}
		</p>
	);
}

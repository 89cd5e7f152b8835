/*
 * tensor.tsx - kernels: how much of their time is on tensor cores, and of which kind they are.
 */
import { useLoaded, useOpened } from "../../core/context";
import { formatNs, formatPercent } from "../../core/format";
import { rowsOf, sum } from "../../core/rows";
import { useView } from "../../core/store";
import type { KernelsRow } from "../../core/tables";

function total(rows: KernelsRow[]): number {
	return sum(rows.map((row) => row.total_ns));
}

/* One sentence, of compute kernels alone: communication has no tensor cores to use. */
function sentence(rows: KernelsRow[]): string {
	const ranks = new Set(rows.map((row) => row.rank)).size;
	const compute = rows.filter((row) => row.kind !== "communication");
	const known = compute.filter(
		(row) => row.tensor_cores === "yes" || row.tensor_cores === "no",
	);
	const whole = total(compute);
	if (!whole) return "\u00a0";
	if (!known.length) return "Whether kernels use tensor cores is not known for this device.";
	const used = total(known.filter((row) => row.tensor_cores === "yes"));
	const share = formatPercent((100 * used) / whole);
	const of = ranks > 1 ? ` of ${ranks} ranks together` : "";
	return `Compute kernels${of} take ${formatNs(whole)}; ${share} of it on tensor cores.`;
}

export function TensorShare() {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const loaded = useLoaded(
		() => client.view("kernels", { rank, step }),
		[client, rank, step],
	);

	return (
		<p class="summary">
			{loaded.value ? sentence(rowsOf(loaded.value, "kernels")) : "\u00a0"}
		</p>
	);
}

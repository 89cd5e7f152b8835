/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.tsx - kernels: share of kernel time on tensor cores, and the share that could use them.
 */
import { useLoaded, useOpened } from "../../core/context";
import { formatPercent } from "../../core/format";
import { mean, rowsOf } from "../../core/rows";
import { useView } from "../../core/store";
import type { UtilizationRow } from "../../core/tables";
import { plural } from "../../core/words";

const WHO =
	"Operators that can use tensor cores: matmuls, convolutions and attention " +
	"(by name), and any operator whose kernels did use them.";

export function tensorWords(rows: UtilizationRow[]): { used: string; rest: string } | null {
	const used = mean(rows.flatMap((row) => row.tensor_percent ?? []));
	const eligible = mean(rows.flatMap((row) => row.tensor_eligible_percent ?? []));
	if (used === null) return null;
	const devices = rows.length > 1 ? `, mean of ${plural(rows.length, "GPU")}` : "";
	const rest =
		eligible === null
			? `${devices}. How much could use them is unknown: no operator launches are recorded.`
			: `; ${formatPercent(eligible)} could use them${devices}.`;
	return { used: formatPercent(used), rest };
}

export function TensorShare() {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const loaded = useLoaded(
		() => client.view("utilization", { rank, step }),
		[client, rank, step],
	);
	const words = loaded.value ? tensorWords(rowsOf(loaded.value, "utilization")) : null;

	return (
		<p class="summary tensor" title={WHO}>
			{words ? (
				<>
					Tensor cores: <b>{words.used}</b> of kernel time{words.rest}
				</>
			) : (
				"\u00a0"
			)}
		</p>
	);
}

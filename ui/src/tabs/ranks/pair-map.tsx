/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair-map.tsx - who waits for whom.
 */
import { useMemo } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { formatCount, formatNs } from "../../core/format";
import { HeatMap } from "../../parts/heat-map";
import { ranksOf } from "../../parts/scope";
import { Failed, Loading, Nothing } from "../../parts/state";
import { TableView } from "../../parts/table-view";
import { readPairs } from "./model";

/* A map of more ranks has cells that cannot be pointed at: then the table alone. */
const MAPPED_RANKS = 128;

export function PairsMap() {
	const { client, job } = useOpened();
	const loaded = useLoaded(
		() => client.view("ranks", { group: "pair", top: 0 }),
		[client, job],
	);
	const ranks = useMemo(() => ranksOf(job), [job]);
	const pairs = useMemo(
		() => (loaded.value ? readPairs(loaded.value, ranks) : null),
		[loaded.value, ranks],
	);
	const names = useMemo(() => ranks.map(String), [ranks]);

	if (!pairs)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Loading waits between ranks …" />
		);
	if (!loaded.value?.rows.length)
		return (
			<Nothing>
				No rank waits for another in the collectives of these steps.
			</Nothing>
		);
	if (ranks.length > MAPPED_RANKS)
		return <TableView view="ranks" id="pairs" group="pair" lines={16} />;
	const tell = (from: number, to: number): string => {
		const wait = pairs.values[from * ranks.length + to] ?? 0;
		if (from === to) return `Rank ${ranks[from]}: a rank does not wait for itself.`;
		if (!wait) return `Rank ${ranks[from]} does not wait for rank ${ranks[to]}.`;
		const count = formatCount(pairs.counts[from * ranks.length + to]);
		return (
			`Rank ${ranks[from]} waits ${formatNs(wait)} per step ` +
			`for rank ${ranks[to]}, which arrived last in ${count} of the collectives ` +
			"that they share."
		);
	};
	return (
		<>
			<HeatMap
				rows={names}
				columns={names}
				rowTitle="waiting rank"
				columnTitle="last rank to arrive"
				values={pairs.values}
				label="Who waits for whom"
				color="--c-communication"
				format={formatNs}
				tell={tell}
				pick={null}
			/>
			{pairs.untold ? (
				<p class="soft">
					Some waits are left out: several ranks arrived last
					together, or the trace does not show which one did.
				</p>
			) : null}
		</>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traced.tsx - holders of memory over time from the events of a trace, shown like those of a
 * snapshot.
 */
import type { JobSnapshot } from "../../core/types";
import { useOpened } from "../../core/context";
import { store, useView } from "../../core/store";
import { Failed, Loading } from "../../parts/state";
import { Snapshots } from "./snapshot";
import { tracedOf, useEntry } from "./snapshot/chosen";

function titleOf(one: JobSnapshot): string {
	return one.rank === null ? (one.path.split(/[/\\]/).pop() ?? one.path) : `rank ${one.rank}`;
}

function Entry({ number }: { number: number }) {
	const loaded = useEntry(number);
	if (loaded.value?.snapshot === number) return <Snapshots snapshots={[loaded.value]} />;
	return loaded.state === "failed" ? (
		<Failed error={loaded.error} />
	) : (
		<Loading what="Reading memory …" />
	);
}

export function Traced() {
	const { job } = useOpened();
	const rank = useView((view) => view.rank);
	const own = useView((view) => view.own);
	const { ranked, chosen } = tracedOf(job, { own, rank });
	if (!chosen) return <p>Memory of rank {rank} was not recorded.</p>;
	return (
		<>
			{ranked.length > 1 ? (
				<select
					class="select"
					aria-label="Trace"
					value={String(chosen.snapshot)}
					onChange={(event) => store.setOwn({ traced: event.currentTarget.value })}
				>
					{ranked.map((one) => (
						<option key={one.snapshot} value={String(one.snapshot)}>
							{titleOf(one)}
						</option>
					))}
				</select>
			) : null}
			<Entry key={chosen.snapshot} number={chosen.snapshot} />
		</>
	);
}

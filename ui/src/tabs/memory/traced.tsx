/*
 * traced.tsx - who held the memory of a trace over time: its events, as those of a snapshot.
 */
import { useLoaded, useOpened } from "../../core/context";
import { store, useView } from "../../core/store";
import type { JobSnapshot, JobTraced } from "../../core/types";
import { Failed, Loading } from "../../parts/state";
import { Snapshots } from "./snapshot";

function titleOf(one: JobTraced): string {
	return one.rank === null ? (one.path.split(/[/\\]/).pop() ?? one.path) : `rank ${one.rank}`;
}

/* The devices of an entry are known once its snapshot is made, which is now. */
function Entry({ number }: { number: number }) {
	const { client } = useOpened();
	const loaded = useLoaded(
		() => client.json<{ entry: JobSnapshot }>("snapshot", { snapshot: number }),
		[client, number],
	);
	if (loaded.value?.entry.snapshot === number)
		return <Snapshots snapshots={[loaded.value.entry]} />;
	return loaded.state === "failed" ? (
		<Failed error={loaded.error} />
	) : (
		<Loading what="Reading memory …" />
	);
}

export function Traced({ traced }: { traced: JobTraced[] }) {
	const rank = useView((view) => view.rank);
	const wanted = useView((view) => view.own.traced);
	const ranked = rank === null ? traced : traced.filter((one) => one.rank === rank);
	const chosen = ranked.find((one) => String(one.snapshot) === wanted) ?? ranked[0];
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: communication between ranks: how much is exposed, and which rank is late. With
 * several ranks waiting is known: it has its own column, and bandwidths are of the transfer alone.
 */
import { useOpened } from "../../core/context";
import { ranksOf } from "../../parts/scope";
import { TabParts } from "../../parts/tab-parts";
import type { Tab } from "../tab";
import { Exposed } from "./exposed";

/* Of one rank's calls: the shortest may have waited, too. */
const OF_CALLS = ["busbw", "mean_busbw", "algbw"];

function Communication() {
	const { job } = useOpened();
	const several = ranksOf(job).length > 1;
	return (
		<TabParts
			tab="communication"
			above={{ communication: Exposed, collectives: Exposed }}
			groups={{ collectives: "class" }}
			{...(several ? { first: "collectives", without: { communication: OF_CALLS } } : {})}
		/>
	);
}

export const communicationTab: Tab = {
	id: "communication",
	title: "Comm",
	component: Communication,
};

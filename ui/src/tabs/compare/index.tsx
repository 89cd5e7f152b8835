/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: two runs side by side.
 */
import { useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { Failed, Loading } from "../../parts/state";
import type { Tab } from "../tab";
import { AddRun } from "./add-run";
import "./compare.css";
import { TwoRuns } from "./two-runs";

function Compare() {
	const { client } = useOpened();
	const [added, add] = useState(0);
	const loaded = useLoaded(() => client.job(), [client, added]);

	if (!loaded.value)
		return (
			<div class="page">
				{loaded.state === "failed" ? (
					<Failed error={loaded.error} />
				) : (
					<Loading what="Looking for the second run …" />
				)}
			</div>
		);
	return loaded.value.runs > 1 ? (
		<TwoRuns />
	) : (
		<AddRun
			onAdded={() => {
				client.forget();
				add((count) => count + 1);
			}}
		/>
	);
}

export const compareTab: Tab = { id: "compare", title: "Compare", component: Compare };

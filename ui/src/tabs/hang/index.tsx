/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: a job that hangs: who lets the others wait, and who came to which collective.
 */
import { useLoaded, useOpened } from "../../core/context";
import { rowsOf } from "../../core/rows";
import { CopyBox } from "../../parts/copy-box";
import { Failed, Loading } from "../../parts/state";
import { TabParts } from "../../parts/tab-parts";
import type { Tab } from "../tab";
import "./hang.css";
import { CallsMap } from "./map";

/* The causes in words, the most certain first. */
function Causes() {
	const { client } = useOpened();
	const loaded = useLoaded(() => client.view("hang-causes", { top: 0 }), [client]);
	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	if (!loaded.value) return <Loading what="Comparing the dumps …" />;
	const [first, ...more] = rowsOf(loaded.value, "hang-causes");
	if (!first) return <h2>No rank waits for another</h2>;
	return (
		<>
			<h2>{first.sentence}</h2>
			{more.map((cause) => (
				<p key={cause.sentence}>{cause.sentence}</p>
			))}
			{first.fix ? <CopyBox label="fix" text={first.fix} /> : null}
		</>
	);
}

function Hang() {
	return (
		<div class="page hang">
			<Causes />
			<TabParts
				tab="hang"
				before={[
					{
						id: "calls",
						title: "Ranks and collectives",
						about: "Who came to which of the last collectives",
						component: CallsMap,
					},
				]}
			/>
		</div>
	);
}

export const hangTab: Tab = { id: "hang", title: "Hang", component: Hang };

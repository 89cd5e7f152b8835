/*
 * index.tsx - tab: what a step takes, what it could take, and what to change first.
 */
import { useLoaded, useOpened } from "../../core/context";
import { formatNs } from "../../core/format";
import type { Tab } from "../tab";

function Verdict() {
	const { client } = useOpened();
	const loaded = useLoaded(() => client.diagnosis(), [client]);

	if (!loaded.value) return <p class="state">Looking at the steps…</p>;
	return <h1>A step takes {formatNs(loaded.value.step_ns)}.</h1>;
}

export const verdictTab: Tab = { id: "verdict", title: "Verdict", component: Verdict };

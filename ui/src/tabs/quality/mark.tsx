/*
 * mark.tsx - beside the tab's title: how many things there are to know.
 */
import { useLoaded, useOpened } from "../../core/context";
import { rowsOf } from "../../core/rows";
import { plural } from "../../core/words";
import { brokenFiles, oddsOf } from "./odd";

export function QualityMark() {
	const { client, job } = useOpened();
	const loaded = useLoaded(() => client.view("quality"), [client]);
	if (!loaded.value) return null;
	const odds = oddsOf(rowsOf(loaded.value, "quality"));
	const broken = brokenFiles(job).length;
	const count = odds.length + broken;
	const bad = broken > 0 || odds.some((odd) => odd.severity === "lost");

	if (!count) return null;
	return (
		<span class={bad ? "badge bad" : "badge"} title={plural(count, "note")}>
			{" "}
			●{count}
		</span>
	);
}

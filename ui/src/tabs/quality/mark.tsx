/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mark.tsx - the number of notes beside the tab's title.
 */
import { useLoaded, useOpened } from "../../core/context";
import { plural } from "../../core/words";
import { loadQuality, notesOf } from "./odd";

export function QualityMark() {
	const { client, job } = useOpened();
	const loaded = useLoaded(() => loadQuality(client, job), [client]);
	if (!loaded.value) return null;
	const { count, bad } = notesOf(loaded.value, job);
	if (!count) return null;
	return (
		<span class={bad ? "badge bad" : "badge"} title={plural(count, "note")}>
			{" "}
			●{count}
		</span>
	);
}

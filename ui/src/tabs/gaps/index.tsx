/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: why GPUs were idle: the causes, and every gap.
 */
import type { Job } from "../../core/client";
import type { Cell, TableDocument } from "../../core/types";
import type { Client } from "../../core/client";
import { useOpened } from "../../core/context";
import { store } from "../../core/store";
import { spotOf } from "../../parts/place";
import { usualGaps } from "../../parts/scope";
import { TabParts } from "../../parts/tab-parts";
import type { Tab } from "../tab";
import { Causes } from "./causes";

/* A gap has details of its own: what the host did in it, and what ended it. */
function openGap(client: Client, job: Job, row: Cell[], document: TableDocument): boolean {
	if (document.group !== "gap") return false;
	void spotOf(client, job, "gaps", document, row).then(
		(spot) => store.set({ selected: spot?.selected ?? null }),
		() => store.set({ selected: null }),
	);
	return true;
}

function Gaps() {
	const { client, job } = useOpened();
	return (
		<TabParts
			tab="gaps"
			above={{ gaps: Causes }}
			groups={{ gaps: usualGaps(job) }}
			onRow={{ gaps: (row, document) => openGap(client, job, row, document) }}
		/>
	);
}

export const gapsTab: Tab = { id: "gaps", title: "Gaps", component: Gaps };

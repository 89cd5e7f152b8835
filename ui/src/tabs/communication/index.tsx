/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: communication between ranks: how much is exposed, and which rank is late.
 */
import { TabParts } from "../../parts/tab-parts";
import type { Tab } from "../tab";
import { Exposed } from "./exposed";

function Communication() {
	return <TabParts tab="communication" above={{ communication: Exposed }} />;
}

export const communicationTab: Tab = {
	id: "communication",
	title: "Comm",
	component: Communication,
};

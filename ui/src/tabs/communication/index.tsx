/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: what ranks say to each other: how much of it is hidden, and who is late.
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

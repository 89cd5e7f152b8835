/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: operators on the host and on the GPU, and what they call.
 */
import { TabParts } from "../../parts/tab-parts";
import type { Tab } from "../tab";

function Operators() {
	return <TabParts tab="operators" />;
}

export const operatorsTab: Tab = { id: "operators", title: "Operators", component: Operators };

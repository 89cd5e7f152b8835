/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: every step of every rank, and the outliers.
 */
import { TabParts } from "../../parts/tab-parts";
import type { Tab } from "../tab";
import { StepBars } from "./bars";

function Steps() {
	return <TabParts tab="steps" above={{ steps: StepBars }} />;
}

export const stepsTab: Tab = { id: "steps", title: "Steps", component: Steps };

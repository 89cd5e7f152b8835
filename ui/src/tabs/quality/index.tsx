/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: problems in the files, what was not recorded, and how to record it.
 */
import { TabParts } from "../../parts/tab-parts";
import type { Tab } from "../tab";
import { QualityMark } from "./mark";
import { Notes } from "./notes";

const NOTES = {
	id: "summary",
	title: "Summary",
	about: "What to know before you trust the numbers",
	component: Notes,
};

function Quality() {
	return <TabParts tab="quality" before={[NOTES]} />;
}

export const qualityTab: Tab = {
	id: "quality",
	title: "Quality",
	component: Quality,
	mark: QualityMark,
};

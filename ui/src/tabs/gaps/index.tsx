/*
 * index.tsx - tab: why devices stood idle: the causes, and every gap.
 */
import { TabParts } from "../../parts/tab-parts";
import type { Tab } from "../tab";
import { Causes } from "./causes";

function Gaps() {
	return <TabParts tab="gaps" above={{ gaps: Causes }} groups={{ gaps: "gap" }} />;
}

export const gapsTab: Tab = { id: "gaps", title: "Gaps", component: Gaps };

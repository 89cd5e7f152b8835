/*
 * tabs.ts - all tabs, in the order in which they stand.
 */
import type { Tab } from "./tab";
import { kernelsTab } from "./kernels";
import { memoryTab } from "./memory";
import { modulesTab } from "./modules";
import { ranksTab } from "./ranks";
import { timelineTab } from "../timeline/timeline";
import { verdictTab } from "./verdict";

export const TABS: Tab[] = [
	verdictTab,
	timelineTab,
	kernelsTab,
	ranksTab,
	memoryTab,
	modulesTab,
];

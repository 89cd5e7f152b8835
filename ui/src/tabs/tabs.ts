/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tabs.ts - all tabs, in display order.
 */
import type { Job } from "../core/types";
import { timelineTab } from "../timeline/timeline";
import { communicationTab } from "./communication";
import { compareTab } from "./compare";
import { flameTab } from "./flame";
import { gapsTab } from "./gaps";
import { hangTab } from "./hang";
import { kernelsTab } from "./kernels";
import { memoryTab } from "./memory";
import { modulesTab } from "./modules";
import { operatorsTab } from "./operators";
import { overviewTab } from "./overview";
import { qualityTab } from "./quality";
import { ranksTab } from "./ranks";
import { sqlTab } from "./sql";
import { stepsTab } from "./steps";
import type { Tab } from "./tab";
import { verdictTab } from "./verdict";

export const TABS: Tab[] = [
	verdictTab,
	timelineTab,
	overviewTab,
	operatorsTab,
	kernelsTab,
	gapsTab,
	communicationTab,
	ranksTab,
	hangTab,
	memoryTab,
	modulesTab,
	flameTab,
	stepsTab,
	compareTab,
	sqlTab,
	qualityTab,
];

/* Without traces there are only memory or dumps to look at; without dumps no tab of them. */
export function tabsOf(job: Job): Tab[] {
	const some = { hang: job.dumps > 0, memory: job.snapshots.length > 0 };
	const alone = !job.files.length && (some.hang || some.memory);
	const shows = (id: string) =>
		id === "hang" ? some.hang : id === "memory" && alone ? some.memory : !alone;
	return TABS.filter((tab) => shows(tab.id));
}

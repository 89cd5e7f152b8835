/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tabs.ts - all tabs, in display order.
 */
import type { Job } from "../core/client";
import { timelineTab } from "../timeline/timeline";
import { communicationTab } from "./communication";
import { compareTab } from "./compare";
import { flameTab } from "./flame";
import { gapsTab } from "./gaps";
import { hangTab } from "./hang";
import { kernelsTab } from "./kernels";
import { liveTab } from "./live";
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
	liveTab,
	memoryTab,
	modulesTab,
	flameTab,
	stepsTab,
	compareTab,
	sqlTab,
	qualityTab,
];

/* Without traces there are only dumps, live numbers or memory to look at; without these no tab of
 * them. */
export function tabsOf(job: Job): Tab[] {
	const some = { hang: job.dumps > 0, live: job.lives > 0, memory: job.snapshots.length > 0 };
	const alone = !job.files.length && (some.hang || some.live || some.memory);
	const shows = (id: string) =>
		id === "hang" || id === "live"
			? some[id]
			: id === "memory" && alone
				? some.memory
				: !alone;
	return TABS.filter((tab) => shows(tab.id));
}

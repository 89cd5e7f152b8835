/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tabs.ts - all tabs, in display order.
 */
import { timelineTab } from "../timeline/timeline";
import { communicationTab } from "./communication";
import { compareTab } from "./compare";
import { flameTab } from "./flame";
import { gapsTab } from "./gaps";
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
	memoryTab,
	modulesTab,
	flameTab,
	stepsTab,
	compareTab,
	sqlTab,
	qualityTab,
];

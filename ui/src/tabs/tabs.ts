/*
 * tabs.ts - all tabs, in the order in which they stand.
 */
import type { Tab } from "./tab";
import { kernelsTab } from "./kernels";
import { memoryTab } from "./memory";
import { modulesTab } from "./modules";
import { ranksTab } from "./ranks";
import { verdictTab } from "./verdict";

export const TABS: Tab[] = [verdictTab, kernelsTab, ranksTab, memoryTab, modulesTab];

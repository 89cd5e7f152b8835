/*
 * tabs.ts - all tabs, in the order in which they stand.
 */
import type { Tab } from "./tab";
import { kernelsTab } from "./kernels";
import { verdictTab } from "./verdict";

export const TABS: Tab[] = [verdictTab, kernelsTab];

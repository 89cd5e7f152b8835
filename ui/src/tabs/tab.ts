/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tab.ts - a tab: one folder under tabs/, one entry in tabs.ts.
 */
import type { ComponentType } from "preact";

export interface Tab {
	id: string; /* in the address */
	title: string;
	component: ComponentType;
	/* Stands beside the title, such as a number of notes. */
	mark?: ComponentType;
}

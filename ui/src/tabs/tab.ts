/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tab.ts - a tab: one folder under tabs/, one entry in tabs.ts.
 */
import type { ComponentType } from "preact";

export interface Tab {
	id: string; /* in the address */
	title: string;
	component: ComponentType;
	/* A route that it cannot do without: where the core does not offer it, there is no tab. */
	needs?: string;
	/* Stands beside the title, such as a number of notes. */
	mark?: ComponentType;
}

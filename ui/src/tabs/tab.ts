/*
 * tab.ts - a tab: one folder under tabs/, one entry in tabs.ts.
 */
import type { ComponentType } from "preact";
import type { Job } from "../core/types";

export interface Tab {
	id: string; /* in the address */
	title: string;
	component: ComponentType;
	/* A mark beside the title, such as a number of notes. */
	badge?: (job: Job) => string | null;
}

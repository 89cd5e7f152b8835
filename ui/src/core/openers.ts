/*
 * openers.ts - the ways in that this page was built with; null: only `stepscope serve`.
 */
import type { Openers } from "./transport";

export const openers: Openers | null = null as Openers | null;

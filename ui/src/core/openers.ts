/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openers.ts - the ways in which this page can open traces; null: only through `stepscope
 * serve`.
 */
import { hasCore, openAddresses, openDemo, openEmbedded, openFiles } from "../worker/transport";
import type { Openers } from "./transport";

export function findOpeners(): Openers | null {
	return hasCore() ? { openFiles, openDemo, openAddresses, openEmbedded } : null;
}

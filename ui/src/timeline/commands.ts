/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.ts - lets the rest of the page control the timeline, whether it is shown or not.
 */
import type { Action } from "./keys";

type Runner = (action: Action) => void;

let runner: Runner | null = null;

export function listenForCommands(run: Runner): () => void {
	runner = run;
	return () => {
		if (runner === run) runner = null;
	};
}

/* As if its key was pressed; false: the timeline is not shown. */
export function runOnTimeline(action: Action): boolean {
	runner?.(action);
	return runner !== null;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use-what-if.ts - recomputes the step as people tick and untick fixes.
 */
import type { Diagnosis } from "../../core/types";
import { useEffect, useState } from "preact/hooks";
import { useOpened } from "../../core/context";
import { sameSet, warnedFixes } from "./model";

/* Ticks that follow each other faster are one request. */
const PAUSE_MS = 120;

/* Without a fix the parameter stays, and is empty: then nothing is fixed. */
function whatIfOf(wanted: string, rank: number | null): string {
	const fixes = encodeURIComponent(wanted).replaceAll("%2C", ",");
	return `view/what-if?fix=${fixes}${rank === null ? "" : `&rank=${rank}`}`;
}

export interface WhatIf {
	shown: Diagnosis; /* the last answer that came */
	busy: boolean;
	error: string | null;
}

export function useWhatIf(told: Diagnosis, on: Set<string>, rank: number | null): WhatIf {
	const { client } = useOpened();
	const [answer, change] = useState<WhatIf>({ shown: told, busy: false, error: null });
	const wanted = [...on].sort().join(",");

	useEffect(() => {
		if (sameSet(on, warnedFixes(told))) {
			change({ shown: told, busy: false, error: null });
			return;
		}
		const stop = new AbortController();
		const timer = setTimeout(() => void ask(stop), PAUSE_MS);
		change((last) => ({ ...last, busy: true, error: null }));

		async function ask(stop: AbortController): Promise<void> {
			try {
				const reply = await client.bytes(
					whatIfOf(wanted, rank),
					{},
					stop.signal,
				);
				const shown = JSON.parse(
					new TextDecoder().decode(reply.bytes),
				) as Diagnosis;
				if (!stop.signal.aborted)
					change({ shown, busy: false, error: null });
			} catch (error) {
				if (stop.signal.aborted) return;
				const text = error instanceof Error ? error.message : String(error);
				change((last) => ({ ...last, busy: false, error: text }));
			}
		}
		return () => {
			clearTimeout(timer);
			stop.abort();
		};
	}, [told, wanted, rank]);
	return answer;
}

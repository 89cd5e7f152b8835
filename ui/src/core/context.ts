/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.ts - the open runs, for every component.
 */
import type { Job } from "./client";
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Client } from "./client";
import type { Work } from "./transport";

export interface Opened {
	client: Client;
	job: Job;
	routes: string[]; /* that the core offers */
	run?: number; /* 1: what the first run is compared with */
}

export const OpenedContext = createContext<Opened | null>(null);

export function useOpened(): Opened {
	const opened = useContext(OpenedContext);
	if (!opened) throw new Error("nothing is open");
	return opened;
}

/* An answer that comes sooner is not worth a bar. */
const WORK_AFTER_MS = 300;

/* What the core works on while the page waits; null: not known. */
export function useWork(waits: boolean): Work | null {
	const transport = useContext(OpenedContext)?.client.transport;
	const [work, change] = useState<Work | null>(null);
	useEffect(() => {
		if (!waits || !transport) return;
		let stop = () => {};
		const timer = setTimeout(() => {
			stop = transport.watch((told) => told && change(told));
		}, WORK_AFTER_MS);
		return () => {
			clearTimeout(timer);
			stop();
			change(null);
		};
	}, [waits, transport]);
	return work;
}

export type Loaded<T> =
	| { state: "loading"; value: T | null }
	| { state: "failed"; error: string; value: T | null }
	| { state: "ready"; value: T };

/* What a promise gives; while the next one is under way the last value stays. */
export function useLoaded<T>(load: () => Promise<T>, needs: unknown[]): Loaded<T> {
	const [loaded, change] = useState<Loaded<T>>({ state: "loading", value: null });
	useEffect(() => {
		let live = true;
		change((last) => ({ state: "loading", value: last.value }));
		load().then(
			(value) => live && change({ state: "ready", value }),
			(error: unknown) =>
				live &&
				change((last) => ({
					state: "failed",
					error:
						error instanceof Error
							? error.message
							: String(error),
					value: last.value,
				})),
		);
		return () => {
			live = false;
		};
	}, needs);
	return loaded;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.ts - the timeline's requests: few at a time, visible rows first; requests that are no
 * longer needed are dropped.
 */
import type { Client, Parameters } from "../core/client";

export interface Want {
	key: string;
	route: string;
	parameters: Parameters;
	/* what the answer will hold: rows, and the window of a level of detail */
	rows: ReadonlySet<string>;
	level: number;
	from: number;
	to: number;
	accept: (bytes: ArrayBuffer) => void;
}

/* More would wait for each other in the core; one leaves the line idle between answers. */
const AT_ONCE = 2;

/* A request that failed is not repeated at once. */
const PAUSE_MS = 3000;

export class Feed {
	private running = new Map<string, { want: Want; abort: AbortController }>();
	private awaited = new Set<string>(); /* of those that run, what rows in view wait for */
	private failed = new Map<string, number>();
	/* The last failure, for people; null while all is well. */
	problem: string | null = null;

	constructor(
		private client: Client,
		private changed: () => void,
	) {}

	/* An answer that is under way will do for this window. */
	expects(row: string, level: number, from: number, to: number): boolean {
		for (const { want } of this.running.values())
			if (
				want.level === level &&
				want.from <= from &&
				want.to >= to &&
				want.rows.has(row)
			) {
				this.awaited.add(want.key);
				return true;
			}
		return false;
	}

	get busy(): boolean {
		return this.running.size > 0;
	}

	/* What is wanted now, the most urgent first, beside what is expected. */
	want(wants: Want[]): void {
		const wanted = new Set([...this.awaited, ...wants.map((want) => want.key)]);
		this.awaited.clear();
		const now = performance.now();
		for (const want of wants) {
			if (this.running.has(want.key)) continue;
			if ((this.failed.get(want.key) ?? -Infinity) > now - PAUSE_MS) continue;
			if (this.running.size >= AT_ONCE && !this.makeRoom(wanted)) return;
			this.begin(want);
		}
	}

	/* Ends a request that nobody wants any more. */
	private makeRoom(wanted: Set<string>): boolean {
		for (const [key, run] of this.running)
			if (!wanted.has(key)) {
				run.abort.abort();
				this.running.delete(key);
				return true;
			}
		return false;
	}

	private begin(want: Want): void {
		const abort = new AbortController();
		this.running.set(want.key, { want, abort });
		const ended = () => {
			if (this.running.get(want.key)?.abort === abort)
				this.running.delete(want.key);
			if (!abort.signal.aborted) this.changed();
		};
		this.client
			.bytes(want.route, want.parameters, abort.signal)
			.then((reply) => {
				if (abort.signal.aborted) return;
				want.accept(reply.bytes);
				this.problem = null;
			})
			.catch((error: unknown) => {
				if (abort.signal.aborted) return;
				this.failed.set(want.key, performance.now());
				this.problem =
					error instanceof Error ? error.message : String(error);
			})
			.finally(ended);
	}

	close(): void {
		for (const run of this.running.values()) run.abort.abort();
		this.running.clear();
	}
}

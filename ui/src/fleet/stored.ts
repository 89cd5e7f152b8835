/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored.ts - transport: a run of the store, which the server opens; every request names it.
 */
import type { OffersAnswer } from "../core/types";
import { Refused, type Transport } from "../core/transport";

/* The address of the page that shows the run. */
export function addressOf(run: string): string {
	return `?run=${run}`;
}

/* The run that the address names; null: none. */
export function runOf(search: string): string | null {
	const run = new URLSearchParams(search).get("run") ?? "";
	return /^[0-9a-f]{16}$/.test(run) ? run : null;
}

export function isFleet(offers: OffersAnswer): boolean {
	return offers.routes.some((route) => route.name === "fleet");
}

/* Whether the server opens runs that the address names. */
export function opensRuns(offers: OffersAnswer): boolean {
	return offers.routes.some((route) => route.name === "open");
}

export function storedRun(server: Transport, run: string, offers: OffersAnswer): Transport {
	const apart = new Set(
		offers.routes.filter((route) => route.apart).map((route) => route.name),
	);
	/* the server answers these beside others: they have their own door. Routes that only an
	   open run has are told apart by their offers. */
	const door = (target: string) =>
		apart.has(target.split(/[/?]/)[0] ?? "") ? "in-apart" : "in";
	return {
		...server,
		async open(progress) {
			const stop = server.watch((work) => {
				if (!work) return;
				progress({
					doing: work.doing,
					share: work.share,
					path: "",
					file: work.done,
					files: work.count,
					doneBytes: 0,
					totalBytes: 0,
					events: 0,
				});
			});
			try {
				const { bytes } = await server.ask(`open?id=${run}`);
				const { error } = JSON.parse(new TextDecoder().decode(bytes)) as {
					error: string | null;
				};
				if (error) throw new Refused(error);
			} finally {
				stop();
			}
			const { bytes } = await server.ask(`in?id=${run}&ask=offers`);
			const own = JSON.parse(new TextDecoder().decode(bytes)) as OffersAnswer;
			for (const route of own.routes) if (route.apart) apart.add(route.name);
		},
		ask: (target, signal) =>
			server.ask(
				`${door(target)}?id=${run}&ask=${encodeURIComponent(target)}`,
				signal,
			),
	};
}

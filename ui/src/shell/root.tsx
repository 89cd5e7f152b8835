/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root.tsx - shows one of: nothing open, loading, open.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { Client } from "../core/client";
import { learnCauses, learnColorings } from "../core/colors";
import type { Opened } from "../core/context";
import { learnTerms } from "../core/glossary";
import type { Openers, Progress, Transport } from "../core/transport";
import { runName } from "../core/words";
import { Fleet } from "../fleet/fleet";
import { isFleet, opensRuns, runOf, storedRun } from "../fleet/stored";
import { Welcome } from "../welcome/welcome";
import { App } from "./app";
import { LoadingScreen } from "./loading";
import { showNamed } from "./named";

type State =
	| { at: "welcome" }
	| { at: "loading"; progress: Progress | null; error: string | null }
	| { at: "fleet"; client: Client }
	| { at: "open"; opened: Opened; closes: string | null };

export function Root({
	first,
	openers,
	stays,
	named,
}: {
	first: Transport | null;
	openers: Openers | null;
	stays: boolean; /* what is open at first is not closed here */
	named: string[]; /* served files to lead to */
}) {
	const [state, change] = useState<State>(() =>
		first ? { at: "loading", progress: null, error: null } : { at: "welcome" },
	);
	const now = useRef<Transport | null>(null);

	const open = async (transport: Transport) => {
		now.current = transport;
		const live = () => now.current === transport;
		change({ at: "loading", progress: null, error: null });
		try {
			const tell = (progress: Progress) => {
				if (live()) change({ at: "loading", progress, error: null });
			};
			await transport.open(tell);
			let client = new Client(transport);
			let offers = await client.offers();
			/* A store has many runs, a job of digests their traces: the address says
			 * which one. */
			const stored = isFleet(offers);
			const run = opensRuns(offers) ? runOf(location.search) : null;
			if (stored && !run) {
				if (live()) change({ at: "fleet", client });
				return;
			}
			if (run) {
				const inside = storedRun(transport, run, offers);
				await inside.open(tell);
				client = new Client(inside);
				offers = await client.offers();
			}
			const job = await client.job();
			const routes = offers.routes.map((route) => route.name);
			learnCauses(offers.causes);
			learnColorings(offers.colorings);
			learnTerms(offers.terms);
			if (transport === first) showNamed(job, named);
			const closes = !run ? null : stored ? "Fleet" : "All ranks";
			if (live()) change({ at: "open", opened: { client, job, routes }, closes });
		} catch (error) {
			const said = error instanceof Error ? error.message : String(error);
			if (live()) change({ at: "loading", progress: null, error: said });
		}
	};
	const close = () => {
		/* back to the runs of the store */
		if (runOf(location.search) && stays) {
			location.href = location.pathname;
			return;
		}
		now.current?.close();
		now.current = null;
		change({ at: "welcome" });
	};
	useEffect(() => {
		if (first) void open(first);
	}, []);
	useEffect(() => {
		document.title =
			state.at === "open"
				? `stepscope - ${runName(state.opened.job)}`
				: state.at === "fleet"
					? "stepscope - fleet"
					: "stepscope";
	}, [state]);

	if (state.at === "welcome") return <Welcome openers={openers} onOpen={open} />;
	if (state.at === "fleet") return <Fleet client={state.client} />;
	if (state.at === "loading")
		return (
			<LoadingScreen
				progress={state.progress}
				error={state.error}
				onCancel={close}
			/>
		);
	/* What a server or a report shows was not opened here, and is not closed here. */
	const own = openers !== null && !(stays && state.opened.client.transport === first);
	if (state.closes)
		return <App opened={state.opened} onClose={close} closes={state.closes} />;
	return <App opened={state.opened} onClose={own ? close : null} />;
}

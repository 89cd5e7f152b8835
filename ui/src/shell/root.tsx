/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root.tsx - shows one of: nothing open, loading, open.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Client } from "../core/client";
import { learnCauses, learnColorings } from "../core/colors";
import type { Opened } from "../core/context";
import { learnTerms } from "../core/glossary";
import { store } from "../core/store";
import type { Openers, Picked, Progress, Transport } from "../core/transport";
import { runName } from "../core/words";
import { Fleet } from "../fleet/fleet";
import { isFleet, opensRuns, runOf, storedRun } from "../fleet/stored";
import { Welcome } from "../welcome/welcome";
import { App } from "./app";
import { Dropping, type DropWays } from "./dropping";
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
	keyless,
}: {
	first: Transport | null;
	openers: Openers | null;
	stays: boolean; /* what is open at first is not closed here */
	named: string[]; /* served files to lead to */
	keyless: boolean; /* a server sent the page, and the address has no token */
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
	/* The second run comes into the core that has the first; where it fails, the first stays. */
	const compare = async (opened: Opened, files: Picked[]) => {
		const { transport } = opened.client;
		const back = state;
		try {
			await transport.compare?.(files, (progress) =>
				change({ at: "loading", progress, error: null }),
			);
			const client = new Client(transport);
			const job = await client.job();
			store.set({ tab: "compare", own: {}, selected: null });
			change({ at: "open", opened: { ...opened, client, job }, closes: null });
		} catch (error) {
			change(back);
			throw error;
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

	const ways = useMemo<DropWays>(() => {
		const opened = state.at === "open" ? state.opened : null;
		const transport = opened?.client.transport;
		const openAll = (files: Picked[]) => {
			if (!openers) return;
			now.current?.close();
			void open(openers.openFiles(files));
		};
		return {
			open: openers && openAll,
			add: transport?.files.length
				? (files) => openAll([...transport.files, ...files])
				: null,
			compare:
				opened && transport?.compare ? (files) => compare(opened, files) : null,
		};
	}, [state]);
	return (
		<>
			{body()}
			<Dropping ways={ways} isOpen={state.at === "open"} />
		</>
	);

	function body() {
		if (state.at === "welcome")
			return <Welcome openers={openers} keyless={keyless} onOpen={open} />;
		if (state.at === "fleet") return <Fleet client={state.client} />;
		if (state.at === "loading")
			return (
				<LoadingScreen
					progress={state.progress}
					error={state.error}
					onCancel={close}
				/>
			);
		return openRun(state);
	}

	/* What a server or a report shows was not opened here, and is not closed here. */
	function openRun({ opened, closes }: State & { at: "open" }) {
		const own = openers !== null && !(stays && opened.client.transport === first);
		if (closes) return <App opened={opened} onClose={close} closes={closes} />;
		return <App opened={opened} onClose={own ? close : null} />;
	}
}

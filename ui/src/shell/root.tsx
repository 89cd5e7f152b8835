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
import { Welcome } from "../welcome/welcome";
import { App } from "./app";
import { LoadingScreen } from "./loading";
import { showNamed } from "./named";

type State =
	| { at: "welcome" }
	| { at: "loading"; progress: Progress | null; error: string | null }
	| { at: "open"; opened: Opened };

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
			await transport.open((progress) => {
				if (live()) change({ at: "loading", progress, error: null });
			});
			const client = new Client(transport);
			const [job, offers] = await Promise.all([client.job(), client.offers()]);
			learnCauses(offers.causes);
			learnColorings(offers.colorings);
			learnTerms(offers.terms);
			if (transport === first) showNamed(job, named);
			if (live()) change({ at: "open", opened: { client, job } });
		} catch (error) {
			const said = error instanceof Error ? error.message : String(error);
			if (live()) change({ at: "loading", progress: null, error: said });
		}
	};
	const close = () => {
		now.current?.close();
		now.current = null;
		change({ at: "welcome" });
	};
	useEffect(() => {
		if (first) void open(first);
	}, []);
	useEffect(() => {
		document.title =
			state.at === "open" ? `stepscope - ${runName(state.opened.job)}` : "stepscope";
	}, [state]);

	if (state.at === "welcome") return <Welcome openers={openers} onOpen={open} />;
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
	return <App opened={state.opened} onClose={own ? close : null} />;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.tsx - the search box for slice names. On every tab it counts the matches as one types;
 * Enter moves from match to match on the timeline.
 */
import type { Place } from "../core/types";
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useOpened } from "../core/context";
import { showOnTimeline, store, useView } from "../core/store";
import { plural } from "../core/words";
import { closeMenu } from "../parts/menu";
import { runOnTimeline } from "../timeline/commands";

/* Hits that are gone through; the count tells of more. */
const MOST_HITS = 1000;

/* Letters that come sooner belong to one word. */
const COUNT_AFTER_MS = 250;

function said(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

interface Hits {
	q: string;
	step: number | null;
	count: number;
	hits: Place[];
	at: number;
}

export function Search({ field }: { field: RefObject<HTMLInputElement | null> }) {
	const { client, job } = useOpened();
	const text = useView((view) => view.search);
	const [found, find] = useState<Hits | null>(null);
	const [counted, count] = useState<number | null>(null);
	const [failed, fail] = useState("");

	const step = useView((view) => view.step);
	const rank = useView((view) => view.rank);

	useEffect(() => {
		fail("");
		count(null);
		if (!text) find(null);
		if (!text.trim()) return;
		let live = true;
		const timer = setTimeout(() => {
			client.json("search", { ...scoped(), limit: 1 })
				.then((answer) => live && count(answer.count))
				.catch((error: unknown) => live && fail(said(error)));
		}, COUNT_AFTER_MS);
		return () => {
			live = false;
			clearTimeout(timer);
		};
	}, [text, step, rank, client]);
	/* what is asked for: the text, in the scope of the status bar */
	const scoped = () => {
		const view = store.view;
		const files = job.files.filter(
			(file) => view.rank === null || file.rank === view.rank,
		);
		const list = files.map((file) => file.file).join(",");
		return { q: view.search, step: view.step, files: view.rank === null ? null : list };
	};
	const go = async (way: number) => {
		const { search: q, step } = store.view;
		if (!q.trim()) return;
		try {
			const asked = { ...scoped(), limit: MOST_HITS };
			const answer = await client.json(
				"search",
				asked,
			);
			const same = found?.q === q && found.step === step;
			const count = answer.hits.length;
			const at = same
				? (found.at + way + count) % count
				: way > 0
					? 0
					: count - 1;
			const hit = answer.hits[at];
			find({ q, step, count: answer.count, hits: answer.hits, at });
			if (!hit) return;
			const selected = { kind: "slice" as const, file: hit.file, row: hit.row };
			showOnTimeline(hit.start_ns, hit.dur_ns, selected);
		} catch (error) {
			fail(said(error));
		}
	};
	const place = found?.hits.length
		? `${found.at + 1} of ${found.count.toLocaleString("en-US")}`
		: found || counted === 0
			? "no matches"
			: counted !== null
				? `${plural(counted, "match", "matches")} · Enter`
				: text.trim()
					? "…"
					: "";
	return (
		<search class="search">
			<input
				ref={field}
				type="search"
				class="field"
				placeholder="Search names   /"
				aria-label="Search names of slices"
				aria-keyshortcuts="/"
				title={failed || "* matches any text, ? any one character"}
				value={text}
				onInput={(event) => {
					find(null);
					store.set({ search: event.currentTarget.value });
				}}
				onKeyDown={(event) => {
					if (event.key === "Enter") {
						/* the timeline keeps its zoom and goes through all hits */
						const hit = event.shiftKey
							? "hit-previous"
							: "hit-next";
						if (!runOnTimeline(hit))
							void go(event.shiftKey ? -1 : 1);
						closeMenu(event.currentTarget);
					} else if (event.key === "Escape") {
						store.set({ search: "" });
						event.currentTarget.blur();
					} else return;
					event.preventDefault();
					event.stopPropagation();
				}}
			/>
			<span class="search-count soft" aria-live="polite">
				{failed ? "search failed" : place}
			</span>
		</search>
	);
}

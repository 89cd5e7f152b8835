/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.tsx - the header: run, search, theme, help; and the tabs as links.
 */
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useOpened } from "../core/context";
import { store, useView, writeAddress } from "../core/store";
import { runName, runWords } from "../core/words";
import { Copy } from "../parts/copy";
import { closeMenu, Menu } from "../parts/menu";
import type { Tab } from "../tabs/tab";
import { useNarrow } from "./narrow";
import { Search } from "./search";
import { readTheme, setTheme, type Theme } from "./theme";

const THEMES: Record<Theme, { next: Theme; sign: string; says: string }> = {
	system: { next: "light", sign: "◐", says: "system" },
	light: { next: "dark", sign: "○", says: "light" },
	dark: { next: "system", sign: "●", says: "dark" },
};

export function ThemeButton() {
	const [theme, change] = useState(readTheme);
	const now = THEMES[theme];

	return (
		<button
			type="button"
			class="button quiet"
			title={`Theme: ${now.says}. Click to switch to ${THEMES[now.next].says}.`}
			aria-label={`Theme: ${now.says}`}
			onClick={() => {
				setTheme(now.next);
				change(now.next);
			}}
		>
			{now.sign}
		</button>
	);
}

/* A report has no key, but is read with the file in the same way. */
const LINK_HINT =
	"Copies a link to the current tab, scope and selection. A link to a server contains its " +
	"token: anyone with the link can read these traces while the server runs.";

interface HeaderProps {
	field: RefObject<HTMLInputElement | null>;
	onHelp: () => void;
	onClose: (() => void) | null;
	closes: string;
}

function Actions(props: HeaderProps) {
	const { client, job } = useOpened();
	const { link } = client.transport;
	return (
		<>
			{job.files.length ? <Search field={props.field} /> : null}
			{props.onClose ? (
				<button type="button" class="button" onClick={props.onClose}>
					{props.closes}
				</button>
			) : null}
			{link ? (
				<Copy
					label="Copy link"
					title={LINK_HINT}
					text={() => link(writeAddress(store.view))}
				/>
			) : null}
			<ThemeButton />
			<button
				type="button"
				class="button quiet"
				title="Keyboard shortcuts (?)"
				aria-label="Help: keyboard shortcuts"
				aria-keyshortcuts="?"
				onClick={(event) => {
					closeMenu(event.currentTarget);
					props.onHelp();
				}}
			>
				?
			</button>
		</>
	);
}

export function Header(props: HeaderProps) {
	const { client, job } = useOpened();
	const narrow = useNarrow();
	const first = job.files[0] ?? job.snapshots[0];
	const devices = [...new Set(job.files.flatMap((file) => file.device ?? []))].join(", ");
	const words = (
		<span class="soft run-words" title={devices}>
			{runWords(job)}
		</span>
	);

	return (
		<header class="header">
			<strong class="product">stepscope</strong>
			<h1 class="run" title={`${first?.path ?? ""} (${client.transport.place})`}>
				{runName(job)}
			</h1>
			{narrow ? null : words}
			<span class="spring" />
			{narrow ? (
				<Menu text="☰" label="Menu">
					{words}
					<Actions {...props} />
				</Menu>
			) : (
				<Actions {...props} />
			)}
		</header>
	);
}

/* Rows belong to the table of their tab; other selections stay. */
function goTo(id: string): void {
	const { selected } = store.view;
	store.set({ tab: id, selected: selected?.kind === "row" ? null : selected });
}

export function TabBar({ tabs, chosen }: { tabs: Tab[]; chosen: Tab }) {
	const view = useView((all) => all);
	const narrow = useNarrow();

	/* a narrow window shows some of them */
	useEffect(() => {
		document
			.getElementById(`tab-${chosen.id}`)
			?.scrollIntoView({ block: "nearest", inline: "center" });
	}, [chosen.id, narrow]);
	const onKeyDown = (event: KeyboardEvent) => {
		const ways: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
		const way = ways[event.key];
		const at = tabs.indexOf(chosen);
		const ends: Record<string, number> = { Home: 0, End: tabs.length - 1 };
		const next = way ? (at + way + tabs.length) % tabs.length : ends[event.key];
		const tab = next === undefined ? undefined : tabs[next];
		if (!tab) return;
		event.preventDefault();
		goTo(tab.id);
		document.getElementById(`tab-${tab.id}`)?.focus();
	};
	return (
		<nav class="tabs" aria-label="Tabs">
			<div role="tablist" onKeyDown={onKeyDown}>
				{tabs.map((tab) => {
					const Mark = tab.mark;
					return (
						<a
							key={tab.id}
							id={`tab-${tab.id}`}
							role="tab"
							href={writeAddress({
								...view,
								tab: tab.id,
								own: {},
								selected: null,
							})}
							aria-selected={tab === chosen}
							aria-controls="tab-body"
							tabIndex={tab === chosen ? 0 : -1}
							onClick={(event) => {
								if (
									event.ctrlKey ||
									event.metaKey ||
									event.shiftKey
								)
									return;
								event.preventDefault();
								goTo(tab.id);
							}}
						>
							{tab.title}
							{Mark ? <Mark /> : null}
						</a>
					);
				})}
			</div>
		</nav>
	);
}

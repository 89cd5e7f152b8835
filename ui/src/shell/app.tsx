/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.tsx - the frame around the tabs.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { OpenedContext, type Opened } from "../core/context";
import { store, useView } from "../core/store";
import { Tips } from "../parts/tips";
import { tabsOf } from "../tabs/tabs";
import { Banner, useGone } from "./banner";
import { Boundary } from "./boundary";
import { DigestBar } from "./digests";
import { Drawer } from "./drawer";
import { Header, TabBar } from "./header";
import { Help } from "./help";
import { isTyping } from "./keys";
import { StatusBar } from "./status";
import "./shell.css";
import "./print.css";

/* Keys that work on every tab. */
function useKeys(onSearch: () => void, onHelp: () => void): void {
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			if (
				event.defaultPrevented ||
				event.ctrlKey ||
				event.metaKey ||
				event.altKey
			)
				return;
			if (event.key === "Escape" && store.view.selected)
				store.set({ selected: null });
			else if (isTyping(event)) return;
			else if (event.key === "/") onSearch();
			else if (event.key === "?") onHelp();
			else return;
			event.preventDefault();
		};
		addEventListener("keydown", press);
		return () => removeEventListener("keydown", press);
	}, []);
}

interface AppProps {
	opened: Opened;
	onClose: (() => void) | null;
	closes?: string; /* what the button that closes it says */
}

function Frame({ opened, onClose, closes }: AppProps) {
	const id = useView((view) => view.tab);
	const tabs = tabsOf(opened.job);
	const tab = tabs.find((one) => one.id === id) ?? tabs[0];
	const [helped, help] = useState(false);
	const [gone, returns] = useGone();
	const field = useRef<HTMLInputElement>(null);

	useKeys(
		() => {
			const menu = field.current?.closest("details");
			if (menu) menu.open = true;
			field.current?.focus();
			field.current?.select();
		},
		() => help((last) => !last),
	);
	if (!tab) return null;
	const Body = tab.component;
	return (
		<div class="frame">
			<Header
				field={field}
				onHelp={() => help(true)}
				onClose={onClose}
				closes={closes ?? "Open another"}
			/>
			<TabBar tabs={tabs} chosen={tab} />
			{gone ? <Banner /> : null}
			<DigestBar />
			<main class="tab-body">
				<div
					id="tab-body"
					role="tabpanel"
					aria-labelledby={`tab-${tab.id}`}
				>
					<Boundary key={`${tab.id} ${returns}`}>
						<Body />
					</Boundary>
				</div>
			</main>
			<Drawer />
			<StatusBar />
			{helped ? (
				<Help version={opened.job.version} onClose={() => help(false)} />
			) : null}
			<Tips />
		</div>
	);
}

export function App(props: AppProps) {
	return (
		<OpenedContext.Provider value={props.opened}>
			<Frame {...props} />
		</OpenedContext.Provider>
	);
}

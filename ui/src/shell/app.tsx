/*
 * app.tsx - the frame around the tabs.
 */
import { OpenedContext, type Opened } from "../core/context";
import { store, useView } from "../core/store";
import { TABS } from "../tabs/tabs";

export function App({ opened }: { opened: Opened }) {
	const id = useView((view) => view.tab);
	const tab = TABS.find((one) => one.id === id) ?? TABS[0];
	const Body = tab?.component;

	return (
		<OpenedContext.Provider value={opened}>
			<nav class="tabs" role="tablist">
				{TABS.map((one) => (
					<button
						key={one.id}
						type="button"
						role="tab"
						aria-selected={one === tab}
						onClick={() => store.set({ tab: one.id })}
					>
						{one.title}
					</button>
				))}
			</nav>
			<main>{Body ? <Body /> : null}</main>
		</OpenedContext.Provider>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tab-parts.tsx - a tab with several views, chosen by chips. A part with its own component shows
 * that, the others show their table.
 */
import type { ComponentType } from "preact";
import { useLoaded, useOpened } from "../core/context";
import { store, useView } from "../core/store";
import { type PlacedTab, VIEW_PLACES, type ViewPlace } from "../tabs/views";
import { Chips } from "./chips";
import { TableView, type TableViewProps } from "./table-view";
import "./tab-parts.css";

export interface OwnPart {
	id: string;
	title: string;
	about: string;
	component: ComponentType;
}

interface Props {
	tab: PlacedTab;
	/* Shown before the views. */
	before?: OwnPart[];
	/* What is shown above the table of a view. */
	above?: Partial<Record<string, ComponentType>>;
	/* The group that a view begins with. */
	groups?: Partial<Record<string, string>>;
	/* The view to begin with, instead of the first one. */
	first?: string;
	/* Columns of a view that would mislead here. */
	without?: Partial<Record<string, string[]>>;
	/* What a click on its rows does. */
	onRow?: Partial<Record<string, NonNullable<TableViewProps["onRow"]>>>;
}

export function TabParts({
	tab,
	before = [],
	above = {},
	groups = {},
	onRow = {},
	first = "",
	without = {},
}: Props) {
	const { client, job } = useOpened();
	const offers = useLoaded(() => client.offers(), [client]).value;
	/* traces have neither dumps nor live numbers */
	const traced = job.files.some((file) => file.problem === null);
	const has = (name: string) =>
		!traced || !offers?.views.some((one) => one.name === name && one.of_dumps);
	const places = [...(VIEW_PLACES[tab] as readonly ViewPlace[])]
		.filter((place) => has(place.view))
		.sort((a, b) => Number(b.view === first) - Number(a.view === first));
	const asked = useView((view) => view.own.view ?? "");
	const summary = (name: string) => offers?.views.find((one) => one.name === name)?.summary;
	const own = before.find((part) => part.id === asked);
	const place = places.find((one) => one.view === asked);
	const chosen = own ?? (place ? null : before[0]) ?? null;
	const view = chosen ? null : (place ?? places[0])?.view;
	const Above = view ? above[view] : undefined;
	const group = view ? groups[view] : undefined;
	const open = view ? onRow[view] : undefined;
	const chips = [
		...before.map(({ id, title, about }) => ({ id, title, about })),
		...places.map((one) => ({
			id: one.view,
			title: one.title,
			about: summary(one.view) ?? "",
		})),
	];

	return (
		<div class="tab-parts">
			{chips.length > 1 ? (
				<Chips
					strong
					label="Parts of this tab"
					chips={chips}
					chosen={chosen?.id ?? view ?? ""}
					onChoose={(id) =>
						store.set({ own: { view: id }, selected: null })
					}
				/>
			) : null}
			{chosen ? (
				<chosen.component />
			) : (
				<>
					{Above ? <Above /> : null}
					{view ? (
						<TableView
							key={view}
							view={view}
							summary={summary(view) ?? ""}
							{...(group ? { group } : {})}
							{...(open ? { onRow: open } : {})}
							without={without[view] ?? []}
						/>
					) : null}
				</>
			)}
		</div>
	);
}

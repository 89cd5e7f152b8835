/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: nn.Modules as a tree and as tables.
 */
import { useLoaded, useOpened } from "../../core/context";
import { store, useView } from "../../core/store";
import { Basis } from "../../parts/basis";
import { Chips } from "../../parts/chips";
import { Failed, Loading } from "../../parts/state";
import { TableView } from "../../parts/table-view";
import type { Tab } from "../tab";
import { Missing, Notes, useRank } from "./told";
import "./modules.css";
import { ModuleTree } from "./tree";

const PARTS = [
	{
		id: "tree",
		title: "Tree",
		about: "The module call tree, with the time of each module",
	},
	{ id: "tables", title: "Tables", about: "Modules by class and by instance" },
];

function TreePart({ search }: { search: string }) {
	const { client } = useOpened();
	const { rank, told } = useRank();
	const step = useView((view) => view.step);
	const loaded = useLoaded(
		() => client.view("modules", { group: "tree", rank, step, top: 0 }),
		[rank, step],
	);
	if (!loaded.value)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Reading modules …" />
		);
	if (!loaded.value.rows.length)
		return (
			<Missing
				notes={loaded.value.notes}
				flags="with_stack=True"
			/>
		);
	return (
		<>
			<Basis of={loaded.value} />
			<ModuleTree table={loaded.value} search={search} />
			<Notes table={loaded.value} more={told} />
		</>
	);
}

function Modules() {
	const part = useView((view) => view.own.view) || "tree";
	const search = useView((view) => view.own.find) ?? "";
	return (
		<div class="pane">
			<div class="modules-bar">
				<Chips
					label="Parts of this tab"
					chips={PARTS}
					chosen={part}
					onChoose={(id) => store.setOwn({ view: id })}
					strong
				/>
				{part === "tables" ? null : (
					<input
						class="field"
						type="search"
						placeholder="Find a module"
						aria-label="Find a module"
						value={search}
						onInput={(event) =>
							store.setOwn({
								find: event.currentTarget.value,
							})
						}
					/>
				)}
			</div>
			{part === "tables" ? (
				<TableView view="modules" id="m" group="class" />
			) : (
				<TreePart search={search} />
			)}
		</div>
	);
}

export const modulesTab: Tab = { id: "modules", title: "Modules", component: Modules };

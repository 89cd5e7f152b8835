/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: nn.Modules and stacks: a tree, an icicle chart, and tables.
 */
import { useMemo } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { formatCount, formatPercent } from "../../core/format";
import { store, useView } from "../../core/store";
import type { TableDocument } from "../../core/types";
import { Basis } from "../../parts/basis";
import { Chips } from "../../parts/chips";
import { CopyBox } from "../../parts/copy-box";
import { Failed, Loading } from "../../parts/state";
import { TableView } from "../../parts/table-view";
import type { Tab } from "../tab";
import { Flame } from "./flame";
import { readStacks } from "./flame-model";
import "./modules.css";
import { ModuleTree } from "./tree";

const PARTS = [
	{
		id: "tree",
		title: "Tree",
		about: "The module call tree, with the time of each module",
	},
	{ id: "flame", title: "Flame", about: "From your program down to the kernels" },
	{ id: "tables", title: "Tables", about: "Modules by class and by instance" },
];

const TIMES = [
	{
		id: "device",
		title: "GPU time",
		about: "Kernels, copies and memsets, by the code that launched them",
	},
	{
		id: "host",
		title: "host time",
		about: "Self time of operators and ranges on the CPU",
	},
];

/* Stacks that come at once, the longest first; a note counts the rest. */
const MOST_STACKS = 4000;

/* A tree of several ranks would sum what differs: one rank at a time, the chosen or the first. */
function useRank(): { rank: number | null; told: string | null } {
	const { job } = useOpened();
	const chosen = useView((view) => view.rank);
	const ranks = job.files.filter((file) => file.problem === null && file.rank !== null);
	const first = ranks[0]?.rank ?? null;
	if (chosen !== null || ranks.length < 2) return { rank: chosen, told: null };
	return {
		rank: first,
		told: `Showing rank ${first} of ${ranks.length} ranks; choose another in the status bar.`,
	};
}

function Missing({ notes, flags }: { notes: string[]; flags: string }) {
	return (
		<div class="modules-missing">
			{(notes.length ? notes : ["This was not recorded."]).map((note) => (
				<p key={note}>{note}</p>
			))}
			<CopyBox
				label="how to record it"
				text={`torch.profiler.profile(..., ${flags})`}
			/>
		</div>
	);
}

function Notes({ table, more }: { table: TableDocument; more?: string | null }) {
	const notes = [...(more ? [more] : []), ...table.notes];
	return notes.length ? (
		<ul class="modules-notes">
			{notes.map((note) => (
				<li key={note}>{note}</li>
			))}
		</ul>
	) : null;
}

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

/* What the frames that are shown do not hold. */
function leftOut(table: TableDocument): string | null {
	const at = table.columns.findIndex((column) => column.name === "share_percent");
	const share = table.rows.reduce((sum, row) => sum + Number(row[at] ?? 0), 0);
	if (table.rows.length >= table.row_count) return null;
	const [some, all] = [formatCount(table.rows.length), formatCount(table.row_count)];
	return `Showing the ${some} longest of ${all} stacks: ${formatPercent(share)} of all time.`;
}

function FlamePart({ search }: { search: string }) {
	const { client } = useOpened();
	const { rank, told } = useRank();
	const step = useView((view) => view.step);
	const time = useView((view) => view.own.time) || "device";
	const loaded = useLoaded(
		() => client.view("stacks", { group: time, rank, step, top: MOST_STACKS }),
		[rank, step, time],
	);
	const root = useMemo(
		() => (loaded.value ? readStacks(loaded.value) : null),
		[loaded.value],
	);

	if (!loaded.value || !root)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Reading stacks …" />
		);
	if (!loaded.value.rows.length)
		return <Missing notes={loaded.value.notes} flags="with_stack=True" />;
	return (
		<>
			<Basis of={loaded.value} />
			<Flame key={`${rank} ${step} ${time}`} root={root} search={search} />
			<Notes
				table={loaded.value}
				more={[told, leftOut(loaded.value)].filter(Boolean).join(" ")}
			/>
		</>
	);
}

function Modules() {
	const part = useView((view) => view.own.view) || "tree";
	const time = useView((view) => view.own.time) || "device";
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
				{part === "flame" ? (
					<Chips
						label="Whose time"
						chips={TIMES}
						chosen={time}
						onChoose={(id) => store.setOwn({ time: id })}
					/>
				) : null}
				{part !== "tables" ? (
					<input
						class="field"
						type="search"
						placeholder={
							part === "flame"
								? "Find a frame"
								: "Find a module"
						}
						aria-label={
							part === "flame"
								? "Find a frame"
								: "Find a module"
						}
						value={search}
						onInput={(event) =>
							store.setOwn({
								find: event.currentTarget.value,
							})
						}
					/>
				) : null}
			</div>
			{part === "flame" ? (
				<FlamePart search={search} />
			) : part === "tables" ? (
				<TableView view="modules" id="m" group="class" />
			) : (
				<TreePart search={search} />
			)}
		</div>
	);
}

export const modulesTab: Tab = { id: "modules", title: "Modules", component: Modules };

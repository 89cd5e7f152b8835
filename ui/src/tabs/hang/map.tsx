/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.tsx - a map of ranks and collectives: sets of ranks that came equally far, with the
 * collective in which the group is stuck, and the stack of the chosen set.
 */
import { useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { rowsOf } from "../../core/rows";
import type { RowOf } from "../../core/tables";
import { plural } from "../../core/words";
import { Chips } from "../../parts/chips";
import { Failed, Loading, Nothing } from "../../parts/state";

type MapRow = RowOf<"hang-map">;

/* What the signs of the view mean; one that is not listed was not recorded. */
const SIGNS: Record<string, { name: string; kind: string }> = {
	"=": { name: "finished", kind: "done" },
	">": { name: "called it, not finished", kind: "waits" },
	".": { name: "did not call it", kind: "absent" },
	"!": { name: "over before all members called it", kind: "failed" },
	"?": { name: "not recorded", kind: "unknown" },
	"-": { name: "left no dump", kind: "gone" },
};
const UNKNOWN = { name: "not recorded", kind: "unknown" };

/* The first column that not all have finished. */
function frontierOf(rows: MapRow[]): number {
	const width = Math.max(...rows.map((row) => row.calls?.length ?? 0));
	for (let at = 0; at < width; at++)
		if (rows.some((row) => row.calls?.[at] !== "=")) return at;
	return width;
}

function Cells({ row, frontier }: { row: MapRow; frontier: number }) {
	return (
		<>
			{[...(row.calls ?? "")].map((sign, i) => {
				const { name, kind } = SIGNS[sign] ?? UNKNOWN;
				const number = (row.first ?? 1) + i;
				return (
					<td
						key={number}
						class={`hang-${kind}${i === frontier ? " hang-frontier" : ""}`}
						title={`#${number}: ${name}`}
					>
						{sign}
					</td>
				);
			})}
		</>
	);
}

function Row(props: { row: MapRow; frontier: number; chosen: boolean; choose: () => void }) {
	const { row } = props;
	return (
		<tr aria-selected={props.chosen} onClick={props.choose}>
			<th scope="row">
				<button type="button" class="link" aria-pressed={props.chosen}>
					{row.count === 1 ? "rank" : "ranks"} {row.ranks}
				</button>
			</th>
			<Cells row={row} frontier={props.frontier} />
			<td class="hang-call">
				<span>{row.operation ?? "nothing; its last call:"}</span>{" "}
				<span class="mono soft">{row.place ?? row.line ?? ""}</span>
			</td>
		</tr>
	);
}

function Stack({ row }: { row: MapRow }) {
	const frames = row.stack?.split(" < ") ?? [];
	const who = `${row.count === 1 ? "Rank" : "Ranks"} ${row.ranks}`;
	const call = row.operation ? "the call" : "the last call in this group";
	return (
		<aside class="hang-stack" aria-label="Stack">
			<h3>
				{row.place
					? `${who}: where it is, from a stack file`
					: `${who}: ${call}, from the dump`}
			</h3>
			{frames.length ? (
				<ol>
					{frames.map((frame, i) => (
						<li key={`${i} ${frame}`} class="mono">
							{frame}
						</li>
					))}
				</ol>
			) : (
				<p class="soft">
					No stack is recorded: JSON dumps have none. Put files of
					py-spy or torch.distributed.debug next to the dumps.
				</p>
			)}
		</aside>
	);
}

function GroupMap({ rows }: { rows: MapRow[] }) {
	const [chosen, choose] = useState(0);
	const frontier = frontierOf(rows);
	const first = rows[0]?.first ?? 1;
	const width = Math.max(...rows.map((row) => row.calls?.length ?? 0));
	const picked = rows[Math.min(chosen, rows.length - 1)];
	return (
		<div class="hang-columns">
			<div class="hang-scroll">
				<table class="hang-map">
					<caption>
						{plural(
							rows.reduce((all, row) => all + (row.count ?? 0), 0),
							"rank",
						)}
						, the last collectives of {rows[0]?.process_group}
					</caption>
					<thead>
						<tr>
							<th scope="col">ranks ↓ collective →</th>
							{Array.from({ length: width }, (_, i) =>
								i === frontier || i === 0 ? (
									<th
										key={first + i}
										scope="col"
										class={
											i === frontier
												? "hang-frontier"
												: ""
										}
									>
										{first + i}
									</th>
								) : (
									<td key={first + i} />
								),
							)}
							<th scope="col">what they called at #{first + frontier}</th>
						</tr>
					</thead>
					<tbody>
						{rows.map((row, i) => (
							<Row
								key={`${row.ranks} ${row.calls} ${i}`}
								row={row}
								frontier={frontier}
								chosen={row === picked}
								choose={() => choose(i)}
							/>
						))}
					</tbody>
				</table>
				<p class="hang-key soft">
					{Object.entries(SIGNS).map(([sign, { name, kind }]) => (
						<span key={sign}>
							<b class={`hang-${kind}`}>{sign}</b> {name}
						</span>
					))}
				</p>
			</div>
			{picked ? <Stack row={picked} /> : null}
		</div>
	);
}

/* More groups than these are in the table of groups. */
const GROUPS_MOST = 24;

export function CallsMap() {
	const { client } = useOpened();
	const loaded = useLoaded(() => client.view("hang-map", { top: 0 }), [client]);
	const [asked, ask] = useState("");

	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	if (!loaded.value) return <Loading what="Comparing the dumps …" />;
	const rows = rowsOf(loaded.value, "hang-map");
	const groups = [...new Set(rows.map((row) => row.process_group ?? ""))];
	const chosen = groups.includes(asked) ? asked : (groups[0] ?? "");
	if (!rows.length) return <Nothing>No collective is pending.</Nothing>;
	return (
		<>
			{groups.length > 1 ? (
				<Chips
					label="Process groups"
					chips={groups.slice(0, GROUPS_MOST).map((id) => ({ id, title: id }))}
					chosen={chosen}
					onChoose={ask}
				/>
			) : null}
			{groups.length > GROUPS_MOST ? (
				<p class="soft">
					{plural(groups.length - GROUPS_MOST, "more group")} in "Process
					groups".
				</p>
			) : null}
			<GroupMap
				key={chosen}
				rows={rows.filter((row) => (row.process_group ?? "") === chosen)}
			/>
		</>
	);
}

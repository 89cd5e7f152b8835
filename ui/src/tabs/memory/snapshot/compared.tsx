/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compared.tsx - two snapshots: what one holds at its end and the other does not.
 */
import type { Job } from "../../../core/client";
import type { JobSnapshot } from "../../../core/types";
import { useLoaded, useOpened } from "../../../core/context";
import { formatBytes } from "../../../core/format";
import { rowsOf, sum } from "../../../core/rows";
import { store, useView } from "../../../core/store";
import { Failed } from "../../../parts/state";
import type { Chosen } from "./chosen";

export const TABLES_ID = "snapshot-tables";

export function shortPath(path: string): string {
	return path.split(/[/\\]/).pop() ?? path;
}

/* What can be compared: those with blocks. */
function othersOf(job: Job, chosen: Chosen): JobSnapshot[] {
	return job.snapshots.filter(
		(one) => one.snapshot !== chosen.snapshot.snapshot && (one.devices ?? []).length > 0,
	);
}

/*
 * Parameters of the comparison; null: there is nothing to compare with. The second run is what
 * became of the first; within one run the chosen snapshot is what became of the one before it.
 */
export function comparedOf(job: Job, chosen: Chosen | null) {
	if (!chosen?.device) return null;
	const number = chosen.snapshot.snapshot;
	if (job.runs > 1) return { run: 1, before: number };
	const others = othersOf(job, chosen);
	const named = others.find((one) => String(one.snapshot) === store.view.own.before);
	if (named) return { snapshot: number, before: named.snapshot };
	const earlier = others.filter((one) => one.snapshot < number).pop();
	if (earlier) return { snapshot: number, before: earlier.snapshot };
	const later = others[0];
	return later ? { snapshot: later.snapshot, before: number } : null;
}

function signed(bytes: number): string {
	return `${bytes < 0 ? "−" : "+"}${formatBytes(Math.abs(bytes))}`;
}

function useChange(asked: NonNullable<ReturnType<typeof comparedOf>>) {
	const { client } = useOpened();
	const { run, snapshot, before } = { run: null, snapshot: null, ...asked };
	return useLoaded(async () => {
		const [document, after] = await Promise.all([
			client.view("snapshot-diff", { ...asked, top: 0 }),
			client.job(run ?? 0),
		]);
		const rows = rowsOf(document, "snapshot-diff");
		return {
			name: shortPath(after.snapshots[snapshot ?? 0]?.path ?? ""),
			before: sum(rows.map((row) => row.before_bytes)),
			after: sum(rows.map((row) => row.after_bytes)),
			most: rows.reduce(
				(best: (typeof rows)[number] | null, row) =>
					Math.abs(row.change_bytes ?? 0) > Math.abs(best?.change_bytes ?? 0)
						? row
						: best,
				null,
			),
		};
	}, [client, run, snapshot, before]);
}

/* Of several in one run another can be chosen. */
function Before({ job, chosen }: { job: Job; chosen: Chosen }) {
	const others = othersOf(job, chosen);
	const asked = comparedOf(job, chosen);
	if (job.runs > 1 || others.length < 2) return null;
	return (
		<select
			class="select"
			aria-label="Compare with"
			value={String(asked?.before ?? "")}
			onChange={(event) =>
				store.set({
					selected: null,
					own: { ...store.view.own, before: event.currentTarget.value },
				})
			}
		>
			{others.map((one) => (
				<option key={one.snapshot} value={String(one.snapshot)}>
					compared with {shortPath(one.path)}
				</option>
			))}
		</select>
	);
}

function Sentence(props: { asked: NonNullable<ReturnType<typeof comparedOf>>; name: string }) {
	const { asked, name } = props;
	const loaded = useChange(asked);
	const found = loaded.value;
	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	if (!found) return <span class="soft">Comparing …</span>;
	const { most } = found;
	return (
		<span>
			From {name} to {found.name}: held at the end {formatBytes(found.before)} →{" "}
			{formatBytes(found.after)} (<b>{signed(found.after - found.before)}</b>)
			{most?.change_bytes
				? `; largest change: ${most.line ?? "blocks without a stack"}, ` +
					signed(most.change_bytes)
				: ""}
			.
		</span>
	);
}

export function Compared({ chosen }: { chosen: Chosen }) {
	const { job } = useOpened();
	useView((view) => view.own.before);
	const asked = comparedOf(job, chosen);
	if (!asked) return null;
	const before = job.snapshots.find((one) => one.snapshot === asked.before);
	return (
		<section class="snapshot-tools snapshot-compared" aria-label="Compared">
			<Before job={job} chosen={chosen} />
			<Sentence asked={asked} name={shortPath(before?.path ?? "")} />
			<button
				type="button"
				class="button"
				onClick={() => {
					store.setOwn({ view: "snapshot-diff" });
					document.getElementById(TABLES_ID)?.scrollIntoView();
				}}
			>
				Show line by line
			</button>
		</section>
	);
}

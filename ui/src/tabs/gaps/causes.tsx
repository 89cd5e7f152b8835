/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causes.tsx - gaps: idle time by cause; the parts add up to all idle time.
 */
import { causeColor, causeOf } from "../../core/colors";
import { useLoaded, useOpened } from "../../core/context";
import { rowsOf, sum } from "../../core/rows";
import { store, useView } from "../../core/store";
import type { GapsRow } from "../../core/tables";
import { Basis } from "../../parts/basis";
import { Meter, type MeterPart } from "../../parts/meter";
import "./gaps.css";

/* Where the table has no cause; the name is the core's. */
const NO_CAUSE = "unattributed";

export function causeParts(rows: GapsRow[]): MeterPart[] {
	const totals = new Map<string, number>();
	for (const row of rows) {
		const cause = row.cause ?? NO_CAUSE;
		totals.set(cause, (totals.get(cause) ?? 0) + (row.idle_ns ?? 0));
	}
	return [...totals]
		.map(([name, ns]) => ({
			name,
			ns,
			hatched: true,
			color: causeColor(name),
			about: causeOf(name)?.about ?? "",
		}))
		.sort((a, b) => b.ns - a.ns);
}

export function Causes() {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const loaded = useLoaded(
		() => client.view("gaps", { rank, step, group: "cause" }),
		[client, rank, step],
	);
	const filter = useView((view) => view.own.filter ?? "");

	if (!loaded.value) return <div class="causes" />;
	const rows = rowsOf(loaded.value, "gaps");
	const parts = causeParts(rows);
	if (!parts.length) return null;
	const devices = new Set(rows.map((row) => `${row.rank} ${row.device}`)).size;
	return (
		<div class="causes">
			<Basis of={loaded.value} />
			<Meter
				label="Idle time by cause"
				parts={parts}
				whole={{
					name:
						devices > 1
							? `idle, ${devices} GPUs`
							: "idle time",
					ns: sum(parts.map((part) => part.ns)),
				}}
				base="the idle time within steps"
				chosen={filter}
				onChoose={(cause) =>
					store.setOwn({ filter: filter === cause ? "" : cause })
				}
			/>
		</div>
	);
}

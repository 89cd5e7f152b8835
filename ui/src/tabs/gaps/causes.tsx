/*
 * causes.tsx - gaps: idle time by cause, in parts that sum to all of it.
 */
import { causeColor } from "../../core/colors";
import { useLoaded, useOpened } from "../../core/context";
import { rowsOf, sum } from "../../core/rows";
import { store, useView } from "../../core/store";
import type { GapsRow } from "../../core/tables";
import { Meter, type MeterPart } from "../../parts/meter";
import "./gaps.css";

const ABOUT: Record<string, string> = {
	input: "the host waited for the next batch, or made it",
	sync: "the host waited for the device before it launched more",
	"launch-bound": "the host could not launch as fast as kernels end",
	"launch latency": "the time from a launch to its start",
	allocator: "the host was in the device's allocator",
	compile: "torch.compile compiled",
	gc: "Python's garbage collector ran",
	dependency: "work waited for work of another stream",
	profiler: "the profiler's own work",
	unknown: "nothing that was recorded says why",
};

export function causeParts(rows: GapsRow[]): MeterPart[] {
	const totals = new Map<string, number>();
	for (const row of rows) {
		const cause = row.cause ?? "unknown";
		totals.set(cause, (totals.get(cause) ?? 0) + (row.idle_ns ?? 0));
	}
	return [...totals]
		.map(([name, ns]) => ({
			name,
			ns,
			hatched: true,
			color: causeColor(name),
			about: ABOUT[name] ?? "",
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
	const filter = useView((view) => view.own["filter"] ?? "");

	if (!loaded.value) return <div class="causes" />;
	const rows = rowsOf(loaded.value, "gaps");
	const parts = causeParts(rows);
	if (!parts.length) return null;
	const devices = new Set(rows.map((row) => `${row.rank} ${row.device}`)).size;
	return (
		<div class="causes">
			<Meter
				label="Idle time by cause"
				parts={parts}
				whole={{
					name:
						devices > 1
							? `idle, ${devices} devices`
							: "idle time",
					ns: sum(parts.map((part) => part.ns)),
				}}
				base="the idle time in the steps"
				chosen={filter}
				onChoose={(cause) =>
					store.setOwn({ filter: filter === cause ? "" : cause })
				}
			/>
		</div>
	);
}

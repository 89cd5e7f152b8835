/*
 * causes.tsx - gaps: idle time by cause, in parts that sum to all of it.
 */
import { useLoaded, useOpened } from "../../core/context";
import { rowsOf, sum } from "../../core/rows";
import { store, useView } from "../../core/store";
import type { GapsRow } from "../../core/tables";
import { Meter, type MeterPart } from "../../parts/meter";
import "./gaps.css";

/* What each cause means, and what it is drawn as. */
const CAUSES: Record<string, { color: string; about: string }> = {
	input: { color: "input", about: "the host waited for the next batch, or made it" },
	sync: { color: "runtime", about: "the host waited for the device before it launched more" },
	"launch-bound": { color: "operator", about: "the host could not launch as fast as kernels end" },
	"launch latency": { color: "runtime", about: "the time from a launch to its start" },
	allocator: { color: "copy", about: "the host was in the device's allocator" },
	compile: { color: "optimizer", about: "torch.compile compiled" },
	gc: { color: "python", about: "Python's garbage collector ran" },
	dependency: { color: "communication", about: "work waited for work of another stream" },
	profiler: { color: "range", about: "the profiler's own work" },
	unknown: { color: "idle", about: "nothing that was recorded says why" },
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
			color: CAUSES[name]?.color ?? "idle",
			about: CAUSES[name]?.about ?? "",
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
					name: devices > 1 ? `idle, ${devices} devices` : "idle time",
					ns: sum(parts.map((part) => part.ns)),
				}}
				base="the idle time in the steps"
			/>
			<p class="chips">
				{parts.map((part) => (
					<button
						key={part.name}
						type="button"
						class="chip"
						aria-pressed={filter === part.name}
						onClick={() => store.setOwn({ filter: filter === part.name ? "" : part.name })}
					>
						only {part.name}
					</button>
				))}
			</p>
		</div>
	);
}

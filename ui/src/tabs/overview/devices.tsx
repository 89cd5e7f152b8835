/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.tsx - overview: the devices and how well each was used.
 */
import { useLoaded, useOpened } from "../../core/context";
import { formatBytes, formatCount, formatPercent } from "../../core/format";
import { mean, rowsOf } from "../../core/rows";
import { store, useView } from "../../core/store";
import type { DevicesRow, UtilizationRow } from "../../core/tables";
import { plural } from "../../core/words";
import { Failed, Loading, Nothing } from "../../parts/state";

interface Gauge {
	column: "gpu_percent" | "sm_percent" | "occupancy_percent" | "tensor_percent";
	title: string;
	about: string;
}

const GAUGES: Gauge[] = [
	{
		column: "gpu_percent",
		title: "GPU utilization",
		about: "share of step time in which a kernel ran",
	},
	{
		column: "sm_percent",
		title: "SMs filled",
		about: "share of multiprocessors in use while kernels ran, estimated from grids and blocks",
	},
	{
		column: "occupancy_percent",
		title: "Occupancy",
		about: "share of the threads a multiprocessor can hold, estimated by the profiler",
	},
	{
		column: "tensor_percent",
		title: "Tensor cores",
		about: "share of kernel time in kernels that use tensor cores",
	},
];

function GaugeLine({ gauge, rows }: { gauge: Gauge; rows: UtilizationRow[] }) {
	const known = rows.flatMap((row) => row[gauge.column] ?? []);
	const value = mean(known);
	const least = Math.min(...known);
	const most = Math.max(...known);
	const reach = known.length > 1 ? `${formatPercent(least)} to ${formatPercent(most)}` : "";

	const style = { width: `${value ?? 0}%`, backgroundColor: "var(--c-compute)" };

	return (
		<tr title={`${gauge.title}: ${gauge.about}`}>
			<th scope="row">{gauge.title}</th>
			<td class="meter-bar gauge">
				{value === null ? null : <span style={style} />}
			</td>
			<td class="number">
				{value === null ? "not recorded" : formatPercent(value)}
			</td>
			<td class="number soft">{reach}</td>
		</tr>
	);
}

/* "8 × NVIDIA H100 80GB HBM3" and what is known of it. */
function kindsOf(rows: DevicesRow[]): { name: string; count: number; row: DevicesRow }[] {
	const kinds = new Map<string, { name: string; count: number; row: DevicesRow }>();
	for (const row of rows) {
		const name = row.name ?? "unnamed device";
		const kind = kinds.get(name) ?? { name, count: 0, row };
		kind.count++;
		kinds.set(name, kind);
	}
	return [...kinds.values()];
}

function deviceWords(row: DevicesRow): string {
	const words = [];
	if (row.memory_bytes !== null) words.push(formatBytes(row.memory_bytes));
	if (row.multiprocessors !== null)
		words.push(`${formatCount(row.multiprocessors)} multiprocessors`);
	if (row.compute !== null) words.push(`compute ${row.compute}`);
	return words.join(" · ");
}

function DeviceWords({ rows }: { rows: DevicesRow[] }) {
	return (
		<ul class="plain">
			{kindsOf(rows).map(({ name, count, row }) => (
				<li key={name}>
					<strong>
						{count > 1 ? `${count} × ` : ""}
						{name}
					</strong>{" "}
					<span class="soft">{deviceWords(row)}</span>
				</li>
			))}
		</ul>
	);
}

export function Devices() {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const loaded = useLoaded(async () => {
		const [used, devices] = await Promise.all([
			client.view("utilization", { rank, step }),
			client.view("devices", { rank }),
		]);
		return { used, devices };
	}, [client, rank, step]);

	if (!loaded.value)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Loading devices…" />
		);
	const rows = rowsOf(loaded.value.used, "utilization");
	const notes = loaded.value.used.notes;
	const several = rows.length > 1 ? plural(rows.length, "device") : "";
	if (!rows.length)
		return (
			<Nothing>
				No GPU activity in these files. Record it with
				ProfilerActivity.CUDA (or XPU).
			</Nothing>
		);
	return (
		<>
			<DeviceWords rows={rowsOf(loaded.value.devices, "devices")} />
			<table class="meter" aria-label="Use of the devices">
				<tbody>
					{GAUGES.map((gauge) => (
						<GaugeLine
							key={gauge.column}
							gauge={gauge}
							rows={rows}
						/>
					))}
				</tbody>
			</table>
			<p class="soft">
				{several ? `Mean of ${several}, with minimum and maximum. ` : ""}
				<button
					type="button"
					class="link"
					onClick={() => store.set({ own: { view: "utilization" } })}
				>
					Each device
				</button>
			</p>
			{notes.map((note) => (
				<p class="soft" key={note}>
					{note}
				</p>
			))}
		</>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line-page.tsx - all allocations of one line: how large, how long they are held, in which steps.
 */
import type { TableDocument } from "../../../core/types";
import { useLoaded, useOpened } from "../../../core/context";
import { formatBytes, formatCount, formatNs } from "../../../core/format";
import { cellReader } from "../../../parts/place";
import { type Bucket, histogramOf } from "../../../places/model";
import { type SmallBar, SmallBars } from "../../../places/small-bars";
import type { AskedDevice } from "./chosen";
import { countOf } from "./model";

/* Allocations that come at once: the core gives those that hold most first. */
const MOST = 10_000;

interface Made {
	bytes: number;
	at_ns: number | null; /* null: times were not recorded */
	lifetime_ns: number | null;
	step: number | null;
}

/* Other lines can hold this one's text. */
function madeAt(table: TableDocument, line: string): Made[] {
	return table.rows.flatMap((row) => {
		const read = cellReader(table, row);
		const number = (name: string) => {
			const value = read(name);
			return typeof value === "number" ? value : null;
		};
		const bytes = number("bytes");
		if (read("line") !== line || bytes === null) return [];
		const [at_ns, lifetime_ns, step] = ["at_ns", "lifetime_ns", "step"].map(number);
		return [
			{
				bytes,
				at_ns: at_ns ?? null,
				lifetime_ns: lifetime_ns ?? null,
				step: step ?? null,
			},
		];
	});
}

function barsOf(values: number[], format: (value: number) => string): SmallBar[] {
	const calls = values.map((dur_ns) => ({ file: 0, row: 0, start_ns: 0, dur_ns }));
	return histogramOf(calls).map(({ from_ns, to_ns, calls: count }: Bucket) => ({
		label: format(from_ns),
		value: count,
		says: `${format(from_ns)} to ${format(to_ns)}: ${countOf(count, "allocation")}`,
	}));
}

function stepBars(made: Made[]): SmallBar[] {
	const sums = new Map<number, { bytes: number; count: number }>();
	for (const { step, bytes } of made) {
		if (step === null) continue;
		const sum = sums.get(step) ?? { bytes: 0, count: 0 };
		sums.set(step, { bytes: sum.bytes + bytes, count: sum.count + 1 });
	}
	return [...sums]
		.sort(([a], [b]) => a - b)
		.map(([step, { bytes, count }]) => ({
			label: String(step),
			value: bytes,
			says: `step ${step}: ${formatBytes(bytes)}, ${countOf(count, "allocation")}`,
		}));
}

function summaryOf(made: Made[], isCut: boolean): string {
	const sizes = made.map((one) => one.bytes).sort((a, b) => a - b);
	const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
	const [least, most] = [formatBytes(sizes[0]), formatBytes(sizes.at(-1))];
	const freed = made.filter((one) => one.lifetime_ns !== null).length;
	const timed = made.some((one) => one.at_ns !== null);
	return (
		`${isCut ? "at least " : ""}${countOf(made.length, "allocation")}, ` +
		`${formatBytes(total)} in total; ` +
		(least === most
			? `${least} each`
			: `from ${least} to ${most}, median ${formatBytes(sizes[sizes.length >> 1])}`) +
		(timed ? `; ${formatCount(freed)} freed` : "")
	);
}

export function LinePage({ line, asked }: { line: string; asked: AskedDevice }) {
	const { client } = useOpened();
	const { run, snapshot, device } = asked;
	const loaded = useLoaded(
		() =>
			client.view("snapshot-allocations", { run, snapshot, device, name: line, top: MOST }),
		[client, run, snapshot, device, line],
	);
	const table = loaded.value;
	const made = table ? madeAt(table, line) : [];
	if (made.length < 2) return null;
	const lives = made.flatMap((one) => (one.lifetime_ns === null ? [] : [one.lifetime_ns]));
	const sizes = barsOf(
		made.map((one) => one.bytes),
		formatBytes,
	);
	return (
		<section class="name-page" aria-label="All allocations of this line">
			<h3>All allocations of this line</h3>
			<p>{summaryOf(made, (table?.row_count ?? 0) > MOST)}</p>
			<div class="name-columns">
				<SmallBars title="Allocations by size" format={formatCount} bars={sizes} />
				<SmallBars
					title="Allocations by lifetime"
					format={formatCount}
					bars={barsOf(lives, formatNs)}
					least={1}
				/>
				<SmallBars title="Bytes by step" format={formatBytes} bars={stepBars(made)} />
			</div>
		</section>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.ts - memory curves from the view memory-curve, and the peaks of the files.
 */
import type { Job } from "../../core/client";
import type { Cell, JobFile, TableDocument } from "../../core/types";

export interface Peak {
	rank: number | null;
	device: string;
	allocated: number;
	reserved: number | null;
	percent: number | null; /* of the device's memory */
	gap: number | null;
	memory: number | null;
	at_ns: number | null; /* from the first event */
	failed: number;
}

function reader(table: TableDocument) {
	const at = new Map(table.columns.map((column, i) => [column.name, i]));
	return (row: Cell[], name: string): Cell => row[at.get(name) ?? -1] ?? null;
}

function known(cell: Cell): number | null {
	return typeof cell === "number" ? cell : null;
}

/* Devices before the CPU, then by what they held at most. */
export function readPeaks(table: TableDocument): Peak[] {
	const read = reader(table);
	const peaks = table.rows.map((row) => ({
		rank: known(read(row, "rank")),
		device: String(read(row, "device") ?? ""),
		allocated: known(read(row, "peak_allocated_bytes")) ?? 0,
		reserved: known(read(row, "peak_reserved_bytes")) || null,
		percent: known(read(row, "peak_percent")),
		gap: known(read(row, "gap_bytes")),
		memory: known(read(row, "memory_bytes")),
		at_ns: known(read(row, "peak_at_ns")),
		failed: known(read(row, "out_of_memory")) ?? 0,
	}));
	const cpu = (peak: Peak) => (peak.device === "CPU" ? 1 : 0);
	return peaks.sort((a, b) => cpu(a) - cpu(b) || b.allocated - a.allocated);
}

/* Columns: moments, then bytes. */
export interface Curve {
	at: number[]; /* ns from the beginning of the file */
	low: (number | null)[];
	high: (number | null)[];
	reserved: (number | null)[];
}

export function readCurve(table: TableDocument, rank: number | null, device: string): Curve {
	const read = reader(table);
	const curve: Curve = { at: [], low: [], high: [], reserved: [] };
	for (const row of table.rows) {
		if (known(read(row, "rank")) !== rank || read(row, "device") !== device) continue;
		curve.at.push(known(read(row, "at_ns")) ?? 0);
		curve.low.push(known(read(row, "min_bytes")));
		curve.high.push(known(read(row, "max_bytes")));
		curve.reserved.push(known(read(row, "reserved_bytes")));
	}
	return curve;
}

export function fileOf(job: Job, rank: number | null): JobFile | null {
	const good = job.files.filter((file) => file.problem === null);
	return (
		good.find((file) => file.rank === rank) ??
		(good.length === 1 ? (good[0] ?? null) : null)
	);
}

/* "CUDA:1" -> 1; the CPU has no number. */
export function deviceNumber(device: string): number | null {
	const found = /:(\d+)$/.exec(device);
	return found ? Number(found[1]) : null;
}

export interface Span {
	from: number;
	to: number;
}

const CURVE_MAGIC = 0x31435353;

/* The answer of the route curve: least and most in each pixel of a window. */
export function readPixels(
	bytes: ArrayBuffer,
): { at: number[]; low: number[]; high: number[] } | null {
	const view = new DataView(bytes);
	if (bytes.byteLength < 24 || view.getUint32(0, true) !== CURVE_MAGIC) return null;
	const count = view.getUint32(4, true);
	if (!count || bytes.byteLength < 24 + 8 * count) return null;
	const from = view.getFloat64(8, true);
	const to = view.getFloat64(16, true);
	const at = Array.from(
		{ length: count },
		(_, i) => from + ((i + 0.5) * (to - from)) / count,
	);
	const read = (start: number) =>
		Array.from({ length: count }, (_, i) => view.getFloat32(start + 4 * i, true));
	return { at, low: read(24), high: read(24 + 4 * count) };
}

export function knownOrNull(values: number[]): (number | null)[] {
	return values.map((value) => (Number.isNaN(value) ? null : value));
}

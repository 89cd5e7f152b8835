/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.ts - formats numbers for people as the command does: three significant digits and a
 * unit.
 */
const DASH = "–";

function digits(value: number): string {
	const size = Math.abs(value);
	if (size >= 99.95 || Number.isInteger(value)) return value.toFixed(0);
	return value.toFixed(size >= 9.995 ? 1 : 2);
}

const HOUR = 3600e9;

export function formatNs(ns: number | null | undefined): string {
	if (ns === null || ns === undefined) return DASH;
	const size = Math.abs(ns);
	if (size < 999.5) return `${Math.round(ns)} ns`;
	if (size < 999.5e3) return `${digits(ns / 1e3)} µs`;
	if (size < 999.5e6) return `${digits(ns / 1e6)} ms`;
	if (size < 119.5e9) return `${digits(ns / 1e9)} s`;
	if (size < 119.5 * 60e9) return `${digits(ns / 60e9)} min`;
	if (size < 47.5 * HOUR) return `${digits(ns / HOUR)} h`;
	if (size < 10_000 * 24 * HOUR) return `${digits(ns / 24 / HOUR)} days`;
	/* no job runs for decades: a clock that counts from 1970 */
	return `${new Date(ns / 1e6).toISOString().replace("T", " ").slice(0, -1)} UTC`;
}

/* Ends of a range that are nearer to each other are one figure. */
const NEAR = 1.01;

export function isNear(low: number, high: number): boolean {
	return high <= NEAR * low || formatNs(low) === formatNs(high);
}

/* "109 to 303 ms", as the command: the unit stands once where both have it. */
export function formatNsRange(low: number, high: number): string {
	const [from, to] = [formatNs(low), formatNs(high)];
	const unit = to.slice(to.lastIndexOf(" "));
	if (isNear(low, high)) return to;
	if (low <= 0) return `up to ${to}`;
	return `${from.endsWith(unit) ? from.slice(0, -unit.length) : from} to ${to}`;
}

export function formatBytes(bytes: number | null | undefined): string {
	if (bytes === null || bytes === undefined) return DASH;
	const units = ["B", "kB", "MB", "GB", "TB"];
	let value = bytes;
	let unit = 0;
	while (Math.abs(value) >= 999.5 && unit < units.length - 1) {
		value /= 1000;
		unit++;
	}
	return `${unit ? digits(value) : Math.round(value)} ${units[unit]}`;
}

export function formatCount(count: number | null | undefined): string {
	if (count === null || count === undefined) return DASH;
	return Math.round(count).toLocaleString("en-US");
}

export function formatPercent(percent: number | null | undefined): string {
	if (percent === null || percent === undefined) return DASH;
	if (percent !== 0 && Math.abs(percent) < 0.05) return percent < 0 ? "> −0.1 %" : "< 0.1 %";
	return `${percent.toFixed(Math.abs(percent) >= 9.95 ? 0 : 1)} %`;
}

export function formatCell(value: string | number | null, unit: string): string {
	if (value === null) return DASH;
	if (typeof value === "string") return value;
	if (unit === "ns") return formatNs(value);
	if (unit === "bytes") return formatBytes(value);
	if (unit === "percent") return formatPercent(value);
	if (unit === "count") return formatCount(value);
	return Number.isInteger(value) ? String(value) : digits(value);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.mjs - figures as the page writes them, from the command's JSON; written anew, so that
 * a mistake of the page is none here.
 */
function digits(value) {
	const size = Math.abs(value);
	if (size >= 99.95 || Number.isInteger(value)) return value.toFixed(0);
	return value.toFixed(size >= 9.995 ? 1 : 2);
}

export function time(ns) {
	const size = Math.abs(ns);
	if (size < 999.5) return `${Math.round(ns)} ns`;
	if (size < 999.5e3) return `${digits(ns / 1e3)} µs`;
	if (size < 999.5e6) return `${digits(ns / 1e6)} ms`;
	if (size < 119.5e9) return `${digits(ns / 1e9)} s`;
	return `${digits(ns / 60e9)} min`;
}

/* Two times; a unit that both have stands once. */
export function range(low, high) {
	const [from, to] = [time(low).split(" "), time(high).split(" ")];
	if (low <= 0) return `up to ${to.join(" ")}`;
	return `${from[1] === to[1] ? from[0] : from.join(" ")} to ${to.join(" ")}`;
}

/* The sentence of the verdict. */
export function sentence(verdict) {
	const { step_ns, fixed_step_ns, fixed_low_ns, fixed_high_ns } = verdict;
	const faster = (ns) => (step_ns / ns).toFixed(2);
	if (!verdict.findings.some((finding) => finding.level === "warning")) return null;
	if (step_ns - fixed_low_ns > 1.5 * (step_ns - fixed_high_ns))
		return (
			`A step takes ${time(step_ns)}. ` +
			`It could take ${range(fixed_low_ns, fixed_high_ns)}: ` +
			`${faster(fixed_high_ns)} to ${faster(fixed_low_ns)} × faster.`
		);
	return (
		`A step takes ${time(step_ns)}. ` +
		`It could take ${time(fixed_step_ns)}: ${faster(fixed_step_ns)} × faster.`
	);
}

/* A column of a table of the command, by its name. */
export function column(table, name) {
	const at = table.columns.findIndex((one) => one.name === name);
	if (at < 0) throw new Error(`${table.schema} has no column ${name}`);
	return table.rows.map((row) => row[at]);
}

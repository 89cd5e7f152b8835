/* SPDX-License-Identifier: Apache-2.0 */
/*
 * totals.mjs - the tables of every tab on real jobs: each cell that is shown is the one that the
 * command gives over all ranks, in the order of the command.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { check, equal, quiet, TRACES } from "./harness.mjs";
import { load } from "./load.mjs";
import { verdictOf } from "./ways.mjs";

const JOBS = [
	"jobs/h100x8_nanogpt",
	"jobs/megatron_tp8",
	"jobs/dlrm_v100x8",
	"jobs/torchrec_straggler",
	"cpu/stack_memory",
];

/* A tree and a plot of their own: charts.mjs has them. */
const NO_TABLE = ["modules", "memory-curve"];

const EXACT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });
const UNITS = { ns: " ns", bytes: " bytes", percent: " %" };

/* The cell as the page tells it on hovering. */
function told(column, value) {
	if (value === null) return null;
	if (typeof value === "string") return value;
	return column.unit === "" ? String(value) : EXACT.format(value) + (UNITS[column.unit] ?? "");
}

/* The grid of a view, as it is in the page: what its columns are about, and its first rows. */
function readGrid(view) {
	const grid = document.querySelector(`[role=grid][aria-label="${view}"]`);
	if (!grid) return null;
	const heads = [...grid.querySelectorAll("[role=columnheader]")];
	const rows = [...grid.querySelectorAll("[role=row]")].filter(
		(row) =>
			row.querySelectorAll("[role=gridcell]").length === heads.length &&
			!row.closest(".table-totals"),
	);
	const cellOf = (cell) =>
		cell.classList.contains("none")
			? null
			: cell.title || (cell.firstChild?.textContent ?? "");
	return {
		abouts: heads.map((head) => {
			const ids = head.querySelector("button")?.getAttribute("aria-describedby") ?? "";
			return document.getElementById(ids.split(" ")[0])?.textContent ?? "";
		}),
		rows: rows.map((row) => [...row.querySelectorAll("[role=gridcell]")].map(cellOf)),
	};
}

async function showView(page, tab, view) {
	await page.evaluate((to) => {
		location.hash = to;
	}, `#/${tab}?view=${view}`);
	await quiet(page);
	return page.evaluate(readGrid, view);
}

/* The rows of the command under the columns that the page shows. */
function rowsUnder(table, abouts) {
	const at = abouts.map((about) =>
		table.columns.findIndex((one) => about === one.about),
	);
	return {
		at,
		rows: table.rows.map((row) => at.map((i) => told(table.columns[i] ?? {}, row[i] ?? null))),
	};
}

function compare(what, grid, table, ordered) {
	const { at, rows } = rowsUnder(table, grid.abouts);
	check(!at.includes(-1), `${what}: no column about ${grid.abouts[at.indexOf(-1)]}`);
	check(grid.rows.length > 0, `${what}: ${table.rows.length} rows, and none is shown`);
	if (ordered) return equal(grid.rows, rows.slice(0, grid.rows.length), what);
	const all = new Set(rows.map((row) => JSON.stringify(row)));
	for (const row of grid.rows)
		check(all.has(JSON.stringify(row)), `${what}: the command has no row ${row}`);
}

async function checkJob(harness, folder) {
	const { VIEW_PLACES } = await load("tabs/views.ts");
	const { views } = JSON.parse(harness.command("ask", "offers", folder));
	const { link } = await harness.serve(folder);
	const page = await harness.open(link, { viewport: { width: 1920, height: 1080 } });
	await verdictOf(page);
	let tables = 0;
	for (const [tab, places] of Object.entries(VIEW_PLACES))
		for (const { view } of places) {
			const offer = views.find((one) => one.name === view);
			if (offer.of_snapshot || NO_TABLE.includes(view)) continue;
			/* a tab without any memory says so instead */
			if (tab === "memory" && !harness.json(view, folder).rows.length) continue;
			const grid = await showView(page, tab, view);
			const chips = page.locator('[aria-label="Group rows"] [aria-pressed=true]');
			const shown = (await chips.count()) ? await chips.first().innerText() : "";
			const group = shown.replace(/^by /, "");
			const once = offer.events.includes(group || (offer.groups[0] ?? ""));
			const words = [...(offer.of_job || once ? [] : ["--rank", "all"])];
			if (group) words.push("--group", group);
			const table = harness.json(view, ...words, "--top", "0", folder);
			const what = `${folder.split("/").at(-1)}: ${view} ${group}`;
			if (!table.rows.length) continue;
			check(grid, `${what}: no table`);
			compare(what, grid, table, !once);
			tables++;
		}
	await harness.close(page);
	check(tables >= 15, `${folder}: only ${tables} tables`);
}

/* All of them take minutes: two a day, so that each has its turn; STEPSCOPE_ALL=1 takes all. */
function jobsOfToday() {
	if (process.env.STEPSCOPE_ALL) return JOBS;
	const day = Math.floor(Date.now() / 86_400_000);
	return [JOBS[(2 * day) % JOBS.length], JOBS[(2 * day + 1) % JOBS.length]];
}

async function realJobs(harness) {
	for (const job of jobsOfToday())
		if (existsSync(join(TRACES, job))) await checkJob(harness, join(TRACES, job));
}

export const totalTests = [
	{
		name: "totals: tables of real jobs are the command's over all ranks",
		run: realJobs,
		seconds: 40,
	},
];

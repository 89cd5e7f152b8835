/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.mjs - the SQL tab: its rows are the command's, keys, history, errors, stop, no DuckDB.
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { load } from "./load.mjs";
import { check, equal, PAGE } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

const QUERY = "select rank, count(*) as calls, sum(dur_ns) as total_ns from slices group by rank";
const ENDLESS = "select count(*) from range(100000000000) a, range(1000)";

const hasDuckDb = () => Boolean(process.env.STEPSCOPE_DUCKDB);

async function sqlTab(page) {
	await verdictOf(page);
	await page.getByRole("tab", { name: "SQL" }).click();
	const panel = page.getByRole("tabpanel", { name: "SQL" });
	const box = panel.getByRole("textbox", { name: "SQL query" });
	await box.waitFor();
	return { panel, box };
}

async function open(harness, options = {}) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link, options);
	return { folder, page, ...(await sqlTab(page)) };
}

async function run(box, query) {
	await box.fill(query);
	await box.press("Control+Enter");
}

async function saved(page, button) {
	const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
	return readFileSync(await file.path(), "utf8");
}

/* Rows are the command's; they sort, and the CSV is what is shown. */
async function rows(harness) {
	if (!hasDuckDb()) return;
	const { folder, page, panel, box } = await open(harness);
	const query = `${QUERY} order by rank`;
	await run(box, query);
	const grid = panel.getByRole("grid", { name: "Result" });
	await grid.getByRole("gridcell").first().waitFor();
	const { rows: theirs } = harness.json("sql", folder, query);
	const ranks = () => grid.locator(".table-row [role=gridcell]:first-child").allInnerTexts();
	equal(await ranks(), theirs.map((row) => String(row[0])), "the ranks");
	await grid.getByRole("columnheader", { name: /rank/ }).click();
	await grid.getByRole("columnheader", { name: /rank/ }).click();
	const turned = await ranks();
	const csv = await saved(page, panel.getByRole("button", { name: "CSV" }));
	const lines = csv.trim().split("\r\n");
	equal(lines[0], "rank,calls,total_ns", "the head of the CSV");
	equal(lines.slice(1).map((line) => line.split(",")[0]), turned, "the ranks of the CSV");
	const whole = harness.command("sql", folder, query, "--format", "csv").toString();
	equal([...lines].sort(), whole.trim().split("\r\n").sort(), "the rows of the CSV");
	check((await page.evaluate(() => location.hash)).includes("query="), "no query in the link");
	await harness.close(page);
}

/* More rows than the page takes: their number is said, and the CSV has all. */
async function many(harness) {
	if (!hasDuckDb()) return;
	const { folder, page, panel, box } = await open(harness);
	const [[count]] = harness.json("sql", folder, "select count(*) from slices").rows;
	check(count > 10_000, `only ${count} slices`);
	await run(box, "select rank, slice from slices");
	const words = count.toLocaleString("en-US");
	await panel.getByText(`The first 10,000 of ${words} rows; the CSV has all of them.`).waitFor();
	const csv = await saved(page, panel.getByRole("button", { name: "CSV" }));
	equal(csv.trim().split("\n").length, count + 1, "the lines of the CSV");
	await harness.close(page);
}

/* A mistake: the sentence, its place, and the word is selected; then what cannot be done. */
async function mistakes(harness) {
	if (!hasDuckDb()) return;
	const { page, panel, box } = await open(harness);
	const alert = panel.getByRole("alert");
	const query = "select 'µ', count(*)\nfrom slcies";
	await run(box, query);
	await panel.getByText("line 2, column 6:").waitFor();
	check((await alert.innerText()).includes("did you mean 'slices'?"), await alert.innerText());
	const chosen = await box.evaluate((area) =>
		area.value.slice(area.selectionStart, area.selectionEnd),
	);
	equal(chosen, "slcies", "what is selected");
	for (const forbidden of [
		"from read_text('/etc/hostname')",
		"copy (select 1) to '/tmp/stepscope-no.csv'",
		"attach '/tmp/stepscope-no.db'",
		"set threads = 1",
		"install httpfs",
	]) {
		await run(box, forbidden);
		await panel.getByText(/may not read or write files|has been locked/).waitFor();
		await run(box, "select 1 as one");
		await panel.getByRole("gridcell", { name: "1" }).waitFor();
	}
	await harness.close(page);
}

/* Stop ends it; other tabs answer; leaving the tab ends it as well. */
async function stopped(harness) {
	if (!hasDuckDb()) return;
	const { page, panel, box } = await open(harness);
	await run(box, ENDLESS);
	await panel.getByRole("button", { name: "Stop" }).click();
	await panel.getByText(/^Stopped after/).waitFor();
	await run(box, ENDLESS);
	await panel.getByText("Running the query …").waitFor();
	await page.getByRole("tab", { name: "Kernels" }).click();
	await page.getByRole("tabpanel", { name: "Kernels" }).getByRole("gridcell").first().waitFor();
	await harness.close(page);
}

/* Arrows lead through the queries of the session, names are put in, examples run. */
async function keys(harness) {
	if (!hasDuckDb()) return;
	const { page, panel, box } = await open(harness);
	await run(box, "select 11 as a");
	await panel.getByRole("gridcell", { name: "11" }).waitFor();
	await run(box, "select 22 as b");
	await panel.getByRole("gridcell", { name: "22" }).waitFor();
	await box.fill("draft");
	for (const [key, query] of [
		["ArrowUp", "select 22 as b"],
		["ArrowUp", "select 11 as a"],
		["ArrowDown", "select 22 as b"],
		["ArrowDown", "draft"],
	]) {
		await box.press(key);
		await page.waitForFunction(
			(text) => document.querySelector(".sql-box").value === text,
			query,
		);
	}
	await page.reload();
	await box.waitFor();
	await box.fill("");
	await box.press("ArrowUp");
	equal(await box.inputValue(), "select 22 as b", "the last query after a reload");
	await box.fill("select  from ");
	await panel.getByRole("searchbox", { name: "Find a table" }).fill("delay_ns");
	await panel.locator("summary", { hasText: "links" }).first().waitFor();
	await panel.getByRole("button", { name: "Insert links" }).click();
	equal(await box.inputValue(), "select  from links", "the query with the table");
	await box.evaluate((area) => area.setSelectionRange(7, 7));
	await panel.getByRole("button", { name: "delay_ns" }).first().click();
	equal(await box.inputValue(), "select delay_ns from links", "the query with the column");
	const examples = panel.getByRole("combobox", { name: "Example queries" });
	equal(await examples.getByRole("option").count(), 26, "examples and their title");
	await examples.selectOption({ label: "24. Where does the mean step go?" });
	await panel.getByRole("grid", { name: "Result" }).getByRole("row").nth(2).waitFor();
	await harness.close(page);
}

/* On a phone nothing is lost; without DuckDB a sentence; in a page from disk there is no tab. */
async function elsewhere(harness) {
	if (hasDuckDb()) {
		const { page, panel, box } = await open(harness, { viewport: { width: 390, height: 844 } });
		await run(box, QUERY);
		await panel.getByRole("gridcell").first().waitFor();
		const wide = await page.evaluate(() => document.documentElement.scrollWidth);
		check(wide <= 390, `the page is ${wide} pixels wide`);
		await panel.getByRole("searchbox", { name: "Find a table" }).scrollIntoViewIfNeeded();
		await harness.close(page);
	}
	const duckdb = process.env.STEPSCOPE_DUCKDB;
	process.env.STEPSCOPE_DUCKDB = "/nonexistent";
	const served = harness.serveAlone(harness.simulate("gpu1-fp32-matmul"));
	if (duckdb) process.env.STEPSCOPE_DUCKDB = duckdb;
	else delete process.env.STEPSCOPE_DUCKDB;
	const page = await harness.open((await served).link);
	await verdictOf(page);
	await page.getByRole("tab", { name: "SQL" }).click();
	await page.getByText(/no DuckDB in STEPSCOPE_DUCKDB/).waitFor();
	await harness.close(page);
	const own = await harness.open(pathToFileURL(PAGE).href);
	await own.getByRole("button", { name: /demo/ }).click();
	await verdictOf(own);
	await own.getByRole("tab", { name: "SQL" }).click();
	await own.getByText(/SQL needs the command/).waitFor();
	await own.getByText("stepscope serve PATH").waitFor();
	await harness.close(own);
}

async function units() {
	const { asTabs, columnsOf, letterAt, nameInSql, placeOf, wordAt } = await load(
		"tabs/sql/model.ts",
	);
	const text = "select 'µ'\n  , x";
	equal(letterAt(text, 15), 14, "the letter of a byte");
	equal(placeOf(text, 15), "line 2, column 5", "a place");
	equal(wordAt("a slcies,", 2), "slcies", "a word");
	equal(wordAt("a", 1), "", "a word past the end");
	equal(["rank", "group", "odd name"].map(nameInSql), ["rank", '"group"', '"odd name"'], "names");
	equal(asTabs([{ name: "a" }], [["x\ty"], [null], [1]]), "a\nx y\n\n1", "cells with tabs");
	const columns = [
		{ name: "a", unit: "", about: "" },
		{ name: "a", unit: "ns", about: "" },
	];
	const drawn = columnsOf({ columns, rows: [["x", 1]] });
	equal(drawn.map(({ name, type }) => [name, type]), [["a", "text"], ["a (2)", "ns"]], "columns");
}

export const sqlTests = [
	{ name: "unit: places, names and columns of queries", run: units },
	{ name: "sql: rows are the command's", run: rows },
	{ name: "sql: more rows than the page takes", run: many },
	{ name: "sql: mistakes and what is forbidden", run: mistakes },
	{ name: "sql: a query can be stopped", run: stopped },
	{ name: "sql: history, schema, examples", run: keys },
	{ name: "sql: a phone, no DuckDB, no server", run: elsewhere },
];

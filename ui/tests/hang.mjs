/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang.mjs - dumps of the flight recorder: the sentence, the map of ranks and collectives, stacks.
 */
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { check, equal, PAGE } from "./harness.mjs";

const RECORDED = join(dirname(fileURLToPath(import.meta.url)), "../../tests/hang/recorded");

function rowsOf(document) {
	const names = document.columns.map((column) => column.name);
	return document.rows.map((row) =>
		Object.fromEntries(row.map((cell, i) => [names[i], cell])),
	);
}

/* What the map shows: ranks and their signs. */
function shown(page) {
	return page.locator(".hang-map tbody tr").evaluateAll((rows) =>
		rows.map((row) => [
			row.querySelector("th").innerText.replace(/^ranks? /, ""),
			[...row.querySelectorAll("td:not(.hang-call)")]
				.map((cell) => cell.textContent)
				.join(""),
		]),
	);
}

/* The page shows what the command says of these dumps. */
async function compare(harness, page, folder) {
	const [cause] = rowsOf(harness.json("hang-causes", folder));
	const map = rowsOf(harness.json("hang-map", folder));
	await page.getByRole("heading", { name: cause.sentence }).waitFor();
	await page.locator(".hang-map").waitFor();
	const first = map.filter((row) => row.process_group === map[0].process_group);
	equal(await shown(page), first.map((row) => [row.ranks, row.calls]), "the map");
	return first;
}

async function served(harness) {
	const folder = join(RECORDED, "missing_rank");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	const rows = await compare(harness, page, folder);
	equal(await page.getByRole("tab").allInnerTexts(), ["Hang"], "tabs without traces");
	check((await page.locator("thead .hang-frontier").innerText()) === "7", "the frontier");
	const last = page.locator(".hang-map tbody tr").last();
	await last.click();
	const stack = page.getByRole("complementary", { name: "Stack" });
	const frames = await stack.locator("li").allInnerTexts();
	equal(frames.join(" < "), rows.at(-1).stack, "the stack of a row");
	await harness.close(page);
}

async function fromDisk(harness) {
	const folder = join(RECORDED, "missing_rank");
	const page = await harness.open(pathToFileURL(PAGE).href);
	const files = [0, 1, 2, 3].map((rank) => join(folder, `rank_${rank}`));
	await page.locator('input[type="file"]').first().setInputFiles(files);
	await compare(harness, page, folder);
	await harness.close(page);
}

async function withTraces(harness) {
	const job = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(job, join(RECORDED, "missing_rank"));
	const page = await harness.open(link);
	const tabs = page.getByRole("tab");
	await tabs.filter({ hasText: "Hang" }).click();
	await page.getByRole("heading", { name: /did not come/ }).waitFor();
	check((await tabs.count()) > 10, "the other tabs are gone");
	await harness.close(page);
	const { link: calm } = await harness.serve(job);
	const other = await harness.open(calm);
	await other.getByRole("tab", { name: "Ranks" }).waitFor();
	check(!(await other.getByRole("tab", { name: "Hang" }).count()), "a tab without dumps");
	await harness.close(other);
}

export const hangTests = [
	{ name: "hang: the map of the command, the frontier and a stack", run: served },
	{ name: "hang: dumps are opened from disk", run: fromDisk },
	{ name: "hang: a tab only with dumps", run: withTraces },
];

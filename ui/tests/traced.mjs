/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traced.mjs - who held the memory of a trace: figures are those that the command prints.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, equal, PAGE, TRACES } from "./harness.mjs";
import { drop } from "./ways.mjs";

function rowsOf(document) {
	const names = document.columns.map((column) => column.name);
	return document.rows.map((row) =>
		Object.fromEntries(names.map((name, i) => [name, row[i]])),
	);
}

async function openHeld(page) {
	await page.getByRole("tab", { name: "Memory" }).click();
	await page.getByRole("button", { name: "Holders over time", exact: true }).click();
	await page.locator(".snapshot-lead").waitFor({ timeout: 30_000 });
}

async function compare(harness, page, path) {
	const findings = rowsOf(harness.json("snapshot", path, "findings"));
	equal(
		await page.locator(".finding-box p:first-of-type").allInnerTexts(),
		findings.map((finding) => finding.evidence),
		`${path}: findings`,
	);
	const holders = rowsOf(harness.json("snapshot", path, "holders"));
	const top = holders.find((holder) => holder.line !== null);
	await page.getByRole("grid").getByText(top.line, { exact: true }).first().waitFor();
}

/* Served: the curve by line, its tables, and what a trace does not have. */
async function served(harness) {
	const path = join(TRACES, "memory/cpu_leak.pt.trace.json.gz");
	if (!existsSync(path)) return;
	const { link, stop } = await harness.serve(path);
	const page = await harness.open(link);
	await openHeld(page);
	await compare(harness, page, path);
	await page.getByText(/A trace has no map/).waitFor();
	await page.getByRole("button", { name: "by line", exact: true }).first().click();
	const legend = page.getByRole("list", { name: /Holders/ });
	await legend.getByRole("button", { name: /train\.py:37/ }).waitFor();
	for (const name of ["Segments", "Settings"])
		equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
	await page.getByRole("button", { name: "Leaks", exact: true }).click();
	await page.getByRole("grid").getByText("train.py:48 (forward)").first().waitFor();
	await page.getByRole("button", { name: "Recording", exact: true }).click();
	await page.locator(".memory-curve").waitFor();
	check((await page.locator(".snapshot-lead").count()) === 0, "both kinds are shown at once");
	await harness.close(page);
	stop();
}

/* Several ranks, in the browser alone: one is chosen, the files count as traces. */
async function dropped(harness) {
	const ranks = [0, 1].map((rank) =>
		join(TRACES, `cpu/stack_memory/rank${rank}.pt.trace.json.gz`),
	);
	if (!existsSync(ranks[1])) return;
	const page = await harness.open(pathToFileURL(PAGE).href);
	await drop(page, ranks);
	await openHeld(page);
	await compare(harness, page, ranks[0]);
	await page.getByLabel("Trace", { exact: true }).selectOption({ label: "rank 1" });
	await compare(harness, page, ranks[1]);
	equal(await page.getByText(/memory snapshot/).count(), 0, "traces that count as snapshots");
	equal(
		await page.getByRole("button", { name: "Snapshot", exact: true }).count(),
		0,
		"a part for snapshots where there are none",
	);
	await harness.close(page);
}

/* A trace without memory events has no such part. */
async function without(harness) {
	const path = join(TRACES, "cuda/b200_eager.json.gz");
	if (!existsSync(path)) return;
	const { link, stop } = await harness.serve(path);
	const page = await harness.open(link);
	await page.getByRole("tab", { name: "Memory" }).click();
	await page.getByText("Memory was not recorded.").waitFor();
	equal(await page.getByRole("button", { name: "Holders over time" }).count(), 0, "the part");
	await harness.close(page);
	stop();
}

export const tracedTests = [
	{ name: "traced memory: the curve by line, leaks, what is not recorded", run: served },
	{ name: "traced memory: ranks that were dropped on the page", run: dropped },
	{ name: "traced memory: none was recorded", run: without },
];

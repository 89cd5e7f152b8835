/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.mjs - what is easily told wrong: the order of rows over ranks, arguments of the program
 * itself, names that turn sentences round, marks over the whole run, one count of notes.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { column } from "./figures.mjs";
import { check, equal } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

/* A trace of `count` operators on one thread, one a second; some with arguments of their own. */
function longTrace(count) {
	const events = [];
	for (let i = 0; i < count; i++)
		events.push({
			ph: "X",
			cat: "cpu_op",
			name: i % 2 ? "aten::mm" : "aten::item",
			pid: 1,
			tid: 1,
			ts: i * 1e5,
			dur: 5e4,
			args: { "Ev Idx": i },
		});
	events[0].name = "load \u202Egnp.exe";
	const tags = ["a", "b"];
	events[0].args = { batch: 17, ratio: 2.5, tags, who: 'me "x"', on: true, none: null };
	return JSON.stringify({ traceEvents: events });
}

function writeTrace(harness, name, count) {
	const path = join(harness.scratch, name);
	writeFileSync(path, longTrace(count));
	return path;
}

async function openAt(harness, path, hash) {
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	await verdictOf(page);
	await page.evaluate((to) => {
		location.hash = to;
	}, hash);
	return page;
}

async function ownArguments(harness) {
	const path = writeTrace(harness, "own.json", 6);
	const page = await openAt(harness, path, "#/timeline?at=slice.0.0");
	const facts = page.locator("aside, .drawer, [role=complementary]").first();
	await facts.getByText("batch", { exact: true }).waitFor();
	const text = await facts.innerText();
	for (const wanted of ["batch", "17", "ratio", "2.5", '["a","b"]', 'me "x"', "true", "null"])
		check(text.includes(wanted), `the details lack ${wanted}: ${text}`);
	check(!text.includes("\u202E"), "a name turns the sentence round");
	check(text.includes("load \uFFFDgnp.exe"), "the name does not say what was in it");
	await harness.close(page);
}

/* More hits than one page of them has: their marks reach the end of the run. */
async function marks(harness) {
	const path = writeTrace(harness, "long.json", 2000);
	const page = await openAt(harness, path, "#/timeline?q=aten");
	const found = page.waitForResponse((one) => /search\?.*pixels=/.test(one.url()));
	await page.keyboard.press("/");
	await page.keyboard.type("mm");
	const answer = await (await found).json();
	const counts = answer.marks;
	equal(
		counts.reduce((sum, one) => sum + one, 0),
		answer.count,
		"marks of all hits",
	);
	check(answer.count >= 999 && answer.hits.length === 200, `${answer.count} hits`);
	check(counts.slice(-8).some((one) => one > 0), "no mark at the end of the run");
	await harness.close(page);
}

/* Flags of findings wherever the run has them. */
function flags(harness) {
	const folder = harness.simulate("gpu1-fp32-matmul", "--steps", "40");
	const { flags: all } = JSON.parse(harness.command("ask", "flags", folder));
	const { span_ns } = JSON.parse(harness.command("ask", "job", folder));
	const many = all.find((flag) => flag.count > 200);
	check(many, "no finding with many places");
	check(many.places.length === 24, `${many.places.length} places that cost most`);
	const starts = many.spread.map((place) => place.start_ns / span_ns);
	for (let part = 0; part < 8; part++)
		check(
			starts.some((at) => at >= part / 8 && at < (part + 1) / 8),
			`no flag in part ${part} of the run`,
		);
}

async function order(harness) {
	const folder = harness.simulate("ddp8-slow");
	const page = await openAt(harness, folder, "#/operators");
	const panel = page.getByRole("tabpanel", { name: "Operators" });
	const first = panel.getByRole("grid").getByRole("row").nth(1).getByRole("gridcell").first();
	await first.waitFor();
	const ours = harness.json("operators", "--rank", "all", folder);
	const median = column(ours, "device_self_median_ns");
	equal(median[0], Math.max(...median), "the command orders by device time");
	const name = await first.evaluate((cell) => cell.firstChild.textContent);
	equal(name, column(ours, "name")[0], "the first operator over all ranks");
	const heading = panel.locator("[aria-sort=descending]");
	check(/device self/.test(await heading.innerText()), "the order is not shown");
	await page.getByRole("button", { name: "each rank" }).click();
	await page.waitForURL(/ranks=each/);
	check(/device self/.test(await heading.innerText()), "each rank has another order");
	await harness.close(page);
}

async function badges(harness) {
	/* two ranks that lack the same: one note, not two */
	const folder = join(harness.scratch, "notes");
	mkdirSync(folder, { recursive: true });
	for (const rank of [0, 1]) writeFileSync(join(folder, `rank${rank}.json`), longTrace(40));
	const page = await openAt(harness, folder, "#/verdict");
	const badge = page.locator("#tab-quality .badge");
	await badge.waitFor();
	const count = /\d+/.exec(await badge.innerText())[0];
	await page.getByRole("button", { name: new RegExp(`^All ${count} notes? `) }).click();
	const notes = page.locator(".quality .odds li");
	await notes.first().waitFor();
	equal(await notes.count(), Number(count), "notes that are listed");
	await harness.close(page);
}

export const factTests = [
	{ name: "facts: arguments of the program, names that turn round", run: ownArguments },
	{ name: "facts: marks of a search cover the run", run: marks },
	{ name: "facts: flags of findings cover the run", run: flags },
	{ name: "facts: operators over all ranks by device time", run: order },
	{ name: "facts: one count of notes", run: badges },
];

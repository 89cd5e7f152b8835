/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.mjs - every row is a place: its calls, callers, SQL and link; slices are copied, charts
 * saved as pictures.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check, equal, quiet, TRACES } from "./harness.mjs";
import { load } from "./load.mjs";
import { copiedBy, verdictOf } from "./ways.mjs";

const RESNET = join(TRACES, "cuda/resnet50_workers0.pt.trace.json.gz");

async function model() {
	const { histogramOf, byStep, byRank, summaryOf, sqlOf, factsMarkdown, factsJson, ...more } =
		await load("places/model.ts");
	const { keysOf, speaksOf, viewSql } = more;
	const call = (file, start_ns, dur_ns) => ({ file, row: 0, start_ns, dur_ns });
	const calls = [call(0, 5, 1500), call(0, 105, 1999), call(1, 5, 60_000), call(1, 500, 0)];
	equal(
		histogramOf(calls)
			.map(({ from_ns, to_ns, calls: n }) => [from_ns, to_ns, n])
			.slice(-6),
		[
			[1000, 2000, 2],
			[2000, 5000, 0],
			[5000, 10000, 0],
			[10000, 20000, 0],
			[20000, 50000, 0],
			[50000, 100000, 1],
		],
		"buckets",
	);
	const steps = [
		{ number: 0, start_ns: 0, end_ns: 100 },
		{ number: 1, start_ns: 100, end_ns: 200 },
	];
	const job = {
		files: [
			{ file: 0, rank: 3, steps },
			{ file: 1, rank: 4, steps },
		],
	};
	const told = (tallies) => tallies.map(({ label, value, calls: n }) => [label, value, n]);
	equal(
		told(byStep(calls, job)),
		[
			["0", 61_500, 2],
			["1", 1999, 1],
			["outside", 0, 1],
		],
		"by step",
	);
	equal(
		told(byRank(calls, job)),
		[
			["3", 3499, 2],
			["4", 60_000, 2],
		],
		"by rank",
	);
	equal(summaryOf(calls).median_ns, 1999, "the median");
	equal(summaryOf([]), null, "no calls");
	check(sqlOf("it's").includes("where name = 'it''s'"), "quotes in SQL");
	equal(
		[
			["aten::add is slow", "aten::add"],
			["aten::copy_: 0.15 ms", "aten::copy_"],
			["all-gathers start late", "all-gather"],
			["aten::add_ is slow", "aten::add"],
			["in nanogpt::mm for 0.18 ms", "mm"],
		].map(([sentence, name]) => speaksOf(sentence, name)),
		[true, true, true, false, false],
		"whether a sentence names it",
	);
	const column = (name, type, detail = false) => ({ name, type, detail });
	const offer = {
		name: "critical-path",
		groups: ["part", "name"],
		of_job: true,
		columns: [column("rank", "id"), column("group", "text"), column("x_ns", "ns")],
	};
	const cells = { rank: 3, group: "it's", x_ns: 5 };
	equal(
		viewSql(offer, "name", keysOf(offer, (name) => cells[name] ?? null), {
			rank: 3,
			step: 1,
		}),
		"select *\nfrom critical_path(by := 'name', rank := 3)\nwhere \"group\" = 'it''s';",
		"the query of a row",
	);
	equal(
		factsMarkdown("a*b", [["shape", "a|b\nc"]]),
		"**a\\*b**\n\n| | |\n|---|---|\n| shape | a\\|b c |\n",
		"Markdown",
	);
	equal(JSON.parse(factsJson("k", [["dur_ns", 5]])), { name: "k", dur_ns: 5 }, "JSON");
}

/* Names of kernels have more letters than the core takes wildcards in. */
async function wholeNames() {
	const { wholeName } = await load("parts/place.ts");
	equal(wholeName("aten::mm"), "aten::m?", "a short name");
	const name = `void ${"x".repeat(255)}`;
	equal(wholeName(name), `${name}*`, "a long one");
	equal(wholeName(name.repeat(2)), `${name.repeat(2).slice(0, 400)}*`, "a longer one");
}

/* On a phone the name and its first figure come before counts, ranks, devices and steps. */
async function narrow(harness) {
	const { narrowOrder } = await load("parts/table.tsx");
	const types = { rank: "id", step: "id", cause: "text", host: "text", calls: "count" };
	const order = (...names) =>
		narrowOrder(names.map((name) => ({ name, type: types[name] ?? "ns" }))).map(
			({ name }) => name,
		);
	equal(
		order("rank", "step", "cause", "idle", "longest"),
		["cause", "idle", "rank", "step", "longest"],
		"ids before a name",
	);
	equal(order("cause", "host", "calls", "idle"), ["cause", "idle", "host", "calls"], "a count");
	equal(order("step", "idle", "longest"), ["step", "idle", "longest"], "rows are steps");
	equal(order("rank", "cause"), ["rank", "cause"], "no figure");
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await harness.open(link, { viewport: { width: 390, height: 844 } });
	await verdictOf(page);
	await page.evaluate(() => (location.hash = "#/gaps?group=gap"));
	const heads = page.getByRole("columnheader");
	await heads.first().waitFor();
	const box = await heads.filter({ hasText: "idle" }).first().boundingBox();
	check(box.x + box.width <= 390, `the idle time ends at ${box.x + box.width}`);
	await harness.close(page);
}

/* Rows without a name of their own on the timeline lead to what they are made of. */
async function leads(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	await verdictOf(page);
	const drawer = page.locator(".drawer");
	for (const [hash, lead] of [
		["communication?view=collectives&at=row.collectives.class.0", /at=range\./],
		["communication?view=communication&at=row.communication..0", /at=(range|slice)\./],
		["ranks?view=imbalance&at=row.imbalance.phase.0", /at=slice\./],
		["quality?view=tracks&rank=1&at=row.tracks..0", /at=slice\.1\./],
		["quality?view=tracks&rank=1&at=row.tracks..3", /at=slice\.1\./],
		["operators?view=stacks&at=row.stacks..0", /at=slice\./],
		["modules?view=modules&at=row.modules.class.0", null],
	]) {
		await page.evaluate((at) => (location.hash = `#/${at}`), hash);
		await drawer.locator(".place-sql").first().waitFor();
		await quiet(page);
		const show = drawer.getByRole("button", { name: "Show on timeline", exact: true });
		if (lead === null && !(await show.count())) continue;
		await show.first().click({ timeout: 8000 });
		await page.waitForURL(/#\/timeline/);
		if (lead) await page.waitForURL(lead);
		await drawer.locator("h2").waitFor();
	}
	await harness.close(page);
}

async function openRow(page, tab, text) {
	await page.getByRole("tab", { name: tab, exact: true }).click();
	const row = page
		.getByRole("grid")
		.first()
		.locator(".table-rows [role=row]", { hasText: text });
	await row.first().click();
	await page.locator(".drawer .name-page").waitFor();
	return page.locator(".drawer");
}

/* An operator: as many calls as the table says; its link shows the same. */
async function operator(harness) {
	if (!existsSync(RESNET)) return;
	const name = "aten::add_";
	const { link } = await harness.serve(RESNET);
	const page = await harness.open(link);
	await verdictOf(page);
	const drawer = await openRow(page, "Operators", name);
	const table = harness.json("operators", RESNET, "--name", name, "--top", "0");
	const at = (column) => table.columns.findIndex((one) => one.name === column);
	const calls = table.rows.find((row) => row[at("name")] === name)[at("calls")];
	const events = harness.json("events", RESNET, "--name", name, "--top", "1").row_count;
	const said = await drawer.innerText();
	check(
		said.includes(`${events.toLocaleString("en-US")} calls`),
		`not ${events} calls: ${said}`,
	);
	check(events >= calls, `${events} events, ${calls} calls`);
	for (const part of [
		"Calls by duration",
		"Time by step",
		"Lines",
		"from events",
		"where name = 'aten::add_'",
	])
		check(said.includes(part), `no ${part}: ${said}`);
	await page.waitForURL(/at=row\.operators/);
	const again = await harness.open(`${page.url()}&token=${/token=(\w+)/.exec(link)[1]}`);
	await again.locator(".drawer .name-page", { hasText: "Calls by duration" }).waitFor();
	await harness.close(again);
	/* the calls one after the other on the timeline */
	await drawer.getByRole("button", { name: "First on timeline" }).click();
	await page.waitForURL(/#\/timeline.*at=slice/);
	await harness.close(page);
}

async function slice(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link, {
		permissions: ["clipboard-read", "clipboard-write"],
	});
	await verdictOf(page);
	const found = JSON.parse(
		harness.command("ask", "search?q=nccl&longest=1&kind=kernel", folder),
	);
	const { file, row, name } = found.hits[0];
	await page.evaluate((at) => {
		location.hash = at;
	}, `#/timeline?at=slice.${file}.${row}`);
	const drawer = page.locator(".drawer");
	const copiedAs = (name) => copiedBy(page, drawer.getByRole("button", { name, exact: true }));
	const copied = JSON.parse(await copiedAs("JSON"));
	equal([copied.name, copied.rank], [name, file], "the slice as JSON");
	const csv = await copiedAs("CSV");
	check(csv.startsWith("name,kind,category,rank,step,start_ns,dur_ns"), csv);
	check((await copiedAs("Markdown")).includes("| dur_ns |"), "Markdown");
	const all = drawer.getByRole("button", { name: "All of this correlation" });
	if (await all.count()) {
		await all.click();
		await drawer.locator(".place-list li").nth(1).waitFor();
	}
	await drawer.getByRole("button", { name: "All of this name" }).click();
	await drawer.locator(".name-page", { hasText: "Time by rank" }).waitFor();
	await page.waitForURL(/at=name\./);
	await harness.close(page);
}

/* Whether the query of the page gives rows, and how many. */
async function queried(harness, folder, drawer) {
	const query = await drawer.locator(".place-sql").innerText();
	check(query.startsWith("select"), query);
	if (!process.env.STEPSCOPE_DUCKDB) return null;
	const { rows } = harness.json("sql", folder, query);
	check(rows.length > 0, `no rows: ${query}`);
	return rows.length;
}

/* Rows that are no names: a collective, a step, a part of the budget, a place of the step. */
async function otherRows(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	await verdictOf(page);
	const first = async (hash) => {
		await page.evaluate((at) => {
			location.hash = at;
		}, hash);
		const drawer = page.locator(".drawer");
		await drawer.locator(".place-sql").first().waitFor();
		await quiet(page);
		return drawer;
	};
	let drawer = await first("#/communication?at=row.collectives.class.0");
	const each = harness.json("collectives", folder, "--group", "class", "--top", "1");
	const at = (name) => each.columns.findIndex((one) => one.name === name);
	const calls = each.rows[0][at("calls")];
	await drawer.getByText(`${calls.toLocaleString("en-US")} calls of 8 ranks`).waitFor();
	for (const title of ["Last to arrive", "Waiting by rank", "Longest waits"])
		await drawer.getByRole("heading", { name: title }).waitFor();
	equal((await queried(harness, folder, drawer)) ?? 1, 1, "rows of the class");
	await drawer.getByRole("button", { name: "First on timeline" }).click();
	await page.waitForURL(/#\/timeline/);
	drawer = await first("#/steps?at=row.steps..1");
	await drawer.getByRole("heading", { name: "Step, step 1 by rank" }).waitFor();
	equal((await queried(harness, folder, drawer)) ?? 8, 8, "the step on all ranks");
	for (const [view, group] of [
		["budget", "part"],
		["phases", ""],
		["critical-path", ""],
		["durations", ""],
		["devices", ""],
		["streams", ""],
	]) {
		drawer = await first(`#/overview?at=row.${view}.${group}.0`);
		await queried(harness, folder, drawer);
	}
	drawer = await first("#/overview?at=row.budget.part.0");
	await drawer.getByRole("heading", { name: "mean by step" }).waitFor();
	await drawer.getByRole("heading", { name: "mean by rank" }).waitFor();
	const show = drawer.getByRole("button", { name: "Show on timeline" });
	equal(await show.count(), 0, "ways to the timeline from a sum");
	/* sums of the job: what the critical path is made of, and how far the ranks are apart */
	drawer = await first("#/overview?at=row.critical-path.part.0");
	await drawer.getByRole("heading", { name: "On the path" }).waitFor();
	const path = (group) => harness.json("critical-path", folder, "--group", group).rows;
	const [, part] = path("part")[0];
	const [, , longest] = path("name").find((row) => row[1] === part);
	await drawer.getByText(longest, { exact: true }).waitFor();
	drawer = await first("#/ranks?at=row.imbalance.phase.0");
	await drawer.getByRole("heading", { name: /Least, median and most/ }).waitFor();
	equal(await drawer.locator(".small-bars rect").count(), 3, "bars of ranks");
	await harness.close(page);
}

/* A collective that the recording does not name: the longest of its kernel. */
async function kernelName(harness) {
	const folder = join(TRACES, "jobs/megatron_tp8");
	if (!existsSync(folder)) return;
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	await verdictOf(page);
	await page.evaluate(() => {
		location.hash = "#/communication?view=communication&at=row.communication..0";
	});
	const drawer = page.locator(".drawer");
	await drawer.getByRole("button", { name: "Show on timeline" }).click();
	await page.waitForURL(/#\/timeline.*at=slice/);
	await drawer.getByText("ncclDevKernel_AllReduce").first().waitFor();
	await harness.close(page);
}

async function ranks(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await harness.open(link);
	await verdictOf(page);
	await page.evaluate(() => {
		location.hash = "#/ranks?view=ranks&at=row.ranks..3";
	});
	const drawer = page.locator(".drawer");
	await drawer.getByText("Step, rank 3 by step").waitFor();
	/* the longest step of that rank */
	await drawer.getByRole("button", { name: "Show on timeline" }).click();
	await page.waitForURL(/#\/timeline.*at=slice\.3\./);
	await page.goBack();
	await drawer.getByText("Step, rank 3 by step").waitFor();
	await drawer.getByRole("link", { name: "Gaps" }).click();
	await page.waitForURL(/#\/gaps\?rank=3/);
	await harness.close(page);
}

/* PNG and SVG of a chart. */
async function pictures(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await harness.open(link);
	await verdictOf(page);
	const saved = async (name) => {
		const [download] = await Promise.all([
			page.waitForEvent("download"),
			page.getByRole("button", { name, exact: true }).click(),
		]);
		return readFileSync(await download.path());
	};
	await openRow(page, "Operators", "aten::");
	const chart = (await saved("Save Calls by duration as SVG")).toString();
	check(chart.includes("<rect") && !chart.includes("var("), chart.slice(0, 300));
	const small = await saved("Save Calls by duration as PNG");
	check(small.length > 500, `a chart of ${small.length} bytes`);
	await harness.close(page);
}

export const placeTests = [
	{ name: "places: names that are longer than patterns", run: wholeNames },
	{ name: "places: columns on a phone", run: narrow },
	{ name: "places: rows of sums lead to what they are made of", run: leads },
	{ name: "places: calls by length, step and rank", run: model },
	{ name: "places: an operator of a real trace", run: operator },
	{ name: "places: a slice, its name, its copies", run: slice },
	{ name: "places: a rank", run: ranks },
	{ name: "places: a collective that has its kernel's name", run: kernelName },
	{ name: "places: collectives, steps and parts, with queries that run", run: otherRows },
	{ name: "places: pictures of charts", run: pictures },
];

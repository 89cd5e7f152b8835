/* SPDX-License-Identifier: Apache-2.0 */
/*
 * defaults.mjs - what people of other tools look for first: phases, GPU utilization, tensor
 * cores, totals, lines, ranks in parts. All figures are the command's.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { column, time } from "./figures.mjs";
import { check, equal, TRACES } from "./harness.mjs";

const NANOGPT = join(TRACES, "jobs/h100x8_nanogpt");
const STACKS = join(TRACES, "cuda/rtx3060_stacks.json.gz");

function jobOf(harness) {
	return existsSync(NANOGPT) ? NANOGPT : harness.simulate("ddp8-slow");
}

function traceOf(harness) {
	return existsSync(STACKS) ? STACKS : harness.simulate("gpu1-fp32-matmul");
}

/* As core/format.ts writes shares: two digits. */
function percent(value) {
	return `${value >= 9.95 || value === 0 ? value.toFixed(0) : value.toFixed(1)} %`;
}

async function opened(harness, path, hash, options) {
	const { link } = await harness.serve(path);
	const page = await harness.open(link, options);
	await page.waitForSelector("#tab-body");
	await page.evaluate((to) => {
		location.hash = to;
	}, hash);
	return page;
}

async function words(locator) {
	await locator.first().waitFor();
	return (await locator.first().innerText()).replace(/\s+/g, " ").trim();
}

/* Parts of one step in the title of its bar: [["forward", "16.8 ms"], …]. */
function partsIn(title) {
	return title
		.split("\n")
		.slice(1)
		.map((line) => /^(.*) ([\d.]+ (?:ns|µs|ms|s)), /.exec(line)?.slice(1));
}

/* The rank whose mean step is the median one. */
function medianRank(harness, path) {
	const table = harness.json("ranks", path);
	const ranks = column(table, "rank");
	const steps = column(table, "step_ns");
	const order = ranks.map((_, i) => i).sort((a, b) => steps[a] - steps[b]);
	return ranks[order[(order.length - 1) >> 1]];
}

function phasesOf(harness, path, rank, name) {
	const asked = rank === null ? [] : ["--rank", String(rank)];
	const table = harness.json("phases", ...asked, "--group", "step", path);
	const [steps, phases, ns] = ["step", "phase", name].map((one) => column(table, one));
	return steps.map((step, i) => ({ step, phase: phases[i], ns: ns[i] }));
}

async function checkPhases(harness, page, path, rank, axis) {
	const rows = phasesOf(harness, path, rank, axis).filter((row) => row.ns > 0);
	const chart = page.getByRole("group", { name: "Time of each step by phase" });
	await chart.waitFor();
	for (const step of new Set(rows.map((row) => row.step))) {
		const title = await chart.locator(`[data-bar="${step}"] title`).textContent();
		const own = rows.filter((row) => row.step === step);
		equal(
			partsIn(title).sort(),
			own.map((row) => [row.phase, time(row.ns)]).sort(),
			`phases of step ${step}`,
		);
		const whole = own.reduce((all, row) => all + row.ns, 0);
		check(title.startsWith(`Step ${step}: ${time(whole)}`), `${title}: not ${time(whole)}`);
	}
	const steps = new Set(rows.map((row) => row.step)).size;
	const mean = rows.reduce((all, row) => all + row.ns, 0) / steps;
	const table = page.getByRole("table", { name: "Phases of the mean step" });
	check((await words(table.locator("tfoot"))).includes(time(mean)), "the mean step");
}

async function phases(harness) {
	const path = jobOf(harness);
	const page = await opened(harness, path, "#/overview");
	const rank = medianRank(harness, path);
	await page.getByText(`Rank ${rank}, the one with the median step.`).waitFor();
	await checkPhases(harness, page, path, rank, "host_ns");
	await page.getByRole("button", { name: "GPU", exact: true }).click();
	await checkPhases(harness, page, path, rank, "device_ns");
	await page.getByRole("combobox", { name: /rank/ }).selectOption({ index: 2 });
	await page.getByText("Rank 1. Per step").waitFor();
	await checkPhases(harness, page, path, 1, "device_ns");
	/* with the keys: to the next step, and choose it */
	await page.locator('[data-bar="0"]').first().focus();
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Enter");
	await page.waitForURL(/step=1/);
	await harness.close(page);
	const alone = await opened(harness, traceOf(harness), "#/overview");
	await checkPhases(harness, alone, traceOf(harness), null, "host_ns");
	await harness.close(alone);
}

/* Of all GPUs. */
function meanOf(harness, path, name) {
	const values = column(JSON.parse(harness.command("ask", "view/utilization", path)), name);
	return values.reduce((all, value) => all + value, 0) / values.length;
}

async function utilization(harness) {
	const path = jobOf(harness);
	const mean = meanOf(harness, path, "gpu_percent");
	const page = await opened(harness, path, "#/overview");
	/* exposed communication of a tenth of the step is worth more than faster kernels */
	const budget = harness.json("budget", path, "--group", "part", "--top", "0");
	const means = column(budget, "mean_ns");
	const parts = column(budget, "part");
	const sumOf = (values) => values.reduce((all, ns) => all + ns, 0);
	const exposed = sumOf(means.filter((_, i) => parts[i] === "exposed communication"));
	const wanted =
		mean < 80
			? "Below 80 %: see Gaps"
			: exposed >= 0.1 * sumOf(means)
				? "exposed communication: see Comm"
				: "80 % or more";
	await page.locator(".headline", { hasText: wanted }).waitFor();
	const said = await words(page.locator(".headline"));
	check(said.startsWith(`GPU utilization ${percent(mean)}`), said);
	await harness.close(page);
	/* and one that idles */
	const slow = harness.simulate("ddp8-slow");
	if (meanOf(harness, slow, "gpu_percent") >= 80) return;
	const other = await opened(harness, slow, "#/overview");
	check((await words(other.locator(".headline"))).includes("Below 80 %: see Gaps"), "below 80 %");
	await other.locator(".headline").getByRole("link", { name: "Gaps" }).click();
	await other.getByRole("tabpanel", { name: "Gaps" }).waitFor();
	await harness.close(other);
}

async function tensor(harness) {
	const path = jobOf(harness);
	const used = meanOf(harness, path, "tensor_percent");
	const could = meanOf(harness, path, "tensor_eligible_percent");
	const page = await opened(harness, path, "#/kernels");
	await page.getByText("could use them").waitFor();
	check(
		(await words(page.locator(".tensor"))).startsWith(
			`Tensor cores: ${percent(used)} of kernel time; ${percent(could)} could use them`,
		),
		await words(page.locator(".tensor")),
	);
	const box = page.getByRole("grid");
	const right = await box.evaluate((one) => one.getBoundingClientRect().right);
	for (const name of ["tensor cores", "occupancy", "blocks per sm"]) {
		const head = box.getByRole("columnheader", { name: new RegExp(`^${name}`) });
		const edge = await head.evaluate((one) => one.getBoundingClientRect().right);
		check(edge <= right + 1, `${name} ends at ${edge}, the table at ${right}`);
	}
	await harness.close(page);
}

/* The row of totals as the page has it: label, and figures by their exact title. */
async function totalsOf(page, label) {
	const row = page.locator(".table-totals .table-row").filter({ hasText: label });
	await row.waitFor();
	return row
		.locator(".number")
		.evaluateAll((cells) => cells.map((cell) => cell.title).filter(Boolean));
}

function exact(value, unit) {
	return `${value.toLocaleString("en-US", { maximumFractionDigits: 6 })}${unit}`;
}

async function totals(harness) {
	const trace = traceOf(harness);
	const all = harness.json("operators", trace);
	const page = await opened(harness, trace, "#/operators");
	const at = (table, name) => table.totals[table.columns.findIndex((one) => one.name === name)];
	const wanted = (table) => [
		exact(at(table, "calls"), ""),
		exact(at(table, "host_self_ns"), " ns"),
		exact(at(table, "device_self_ns"), " ns"),
	];
	const label = `total of ${all.row_count} rows`;
	equal(await totalsOf(page, label), wanted(all), "the totals of operators");
	/* by hand, so that the command is not its own judge */
	const sum = column(all, "host_self_ns").reduce((a, b) => a + b, 0);
	equal(at(all, "host_self_ns"), sum, "Self CPU time total");
	await page.getByRole("searchbox", { name: /Filter operators/ }).fill("conv");
	const some = harness.json("operators", "--name", "conv", trace);
	equal(await totalsOf(page, `shown: ${some.row_count} rows`), wanted(some), "of those shown");
	equal(await totalsOf(page, label), wanted(all), "of all, beside them");
	check(at(some, "host_self_ns") < sum, "the filter leaves less");
	await page.locator(".table-totals").evaluate((one) => {
		const box = one.parentElement.getBoundingClientRect();
		if (one.getBoundingClientRect().bottom > box.bottom + 1) throw new Error("not in sight");
	});
	await harness.close(page);
}

/* Over ranks the totals are of the ranks' own sums. */
async function rankTotals(harness) {
	const path = jobOf(harness);
	const table = harness.json("kernels", "--rank", "all", path);
	const at = (name) => table.totals[table.columns.findIndex((one) => one.name === name)];
	const sums = new Map();
	const each = harness.json("kernels", path);
	const [ranks, ns] = [column(each, "rank"), column(each, "total_ns")];
	for (const [i, rank] of ranks.entries()) sums.set(rank, (sums.get(rank) ?? 0) + ns[i]);
	const sorted = [...sums.values()].sort((a, b) => a - b);
	equal(at("total_median_ns"), sorted[(sorted.length - 1) >> 1], "the median of the sums");
	const page = await opened(harness, path, "#/kernels");
	const told = await totalsOf(page, `total of ${table.row_count} rows`);
	check(told.includes(exact(at("total_median_ns"), " ns")), `${told}`);
	await harness.close(page);
}

async function lines(harness) {
	const trace = traceOf(harness);
	for (const view of ["operators", "kernels"]) {
		const page = await opened(harness, trace, `#/${view}`);
		await page.getByRole("button", { name: "by source-line" }).click();
		const table = harness.json(view, "--group", "source-line", trace);
		const names = column(table, "line").filter((line) => line !== null);
		const shown = page.getByRole("grid").getByRole("gridcell", { name: names[0] });
		await shown.first().waitFor();
		equal(
			await page.locator(".table-rows .table-row").count(),
			table.row_count,
			`lines of ${view}`,
		);
		await harness.close(page);
	}
	const job = jobOf(harness);
	const page = await opened(harness, job, "#/kernels?group=source-line");
	const [note] = harness.json("kernels", "--group", "source-line", job).notes;
	if (note) await page.getByText(note).waitFor();
	await harness.close(page);
}

function partsOf(harness, path) {
	const table = harness.json("ranks", "--group", "part", path);
	const [ranks, parts, ns, steps] = ["rank", "part", "part_ns", "step_ns"].map((name) =>
		column(table, name),
	);
	const found = new Map();
	ranks.forEach((rank, i) => {
		const one = found.get(rank) ?? { step: steps[i], parts: [] };
		one.parts.push([parts[i], ns[i]]);
		found.set(rank, one);
	});
	return found;
}

async function rankBars(harness) {
	const path = jobOf(harness);
	const page = await opened(harness, path, "#/ranks");
	const chart = page.getByRole("group", { name: "Step time of each rank" });
	await chart.waitFor();
	for (const [rank, { step, parts }] of partsOf(harness, path)) {
		const sum = parts.reduce((all, [, ns]) => all + ns, 0);
		equal(sum, step, `the parts of rank ${rank}`);
		const title = await chart.locator(`[data-bar="${rank}"] title`).textContent();
		check(title.startsWith(`Rank ${rank}: ${time(step)} per step`), title);
		equal(
			partsIn(title),
			parts.map(([name, ns]) => [name, time(ns)]),
			`rank ${rank}`,
		);
	}
	/* the first thing of the tab but the sentence */
	const top = await chart.evaluate((one) => one.getBoundingClientRect().top);
	const heat = page.locator(".heat").first();
	const map = await heat.evaluate((one) => one.getBoundingClientRect().top);
	check(top < map, "the bars stand above the map");
	await chart.locator('[data-bar="1"]').click();
	await page.waitForURL(/rank=1/);
	await page.getByRole("button", { name: "Show on the timeline" }).click();
	await page.waitForURL(/#\/timeline\?.*open=1/);
	await harness.close(page);
}

/* More ranks than bars fit: a page at a time, all within reach. */
async function manyRanks(harness) {
	const path = harness.simulate("ddp8-slow", "--ranks", "80", "--steps", "2");
	const page = await opened(harness, path, "#/ranks");
	const bars = page.locator(".rank-bars [data-bar]");
	await bars.first().waitFor();
	equal(await bars.count(), 64, "bars of the first page");
	await page.getByText("1 to 64 of 80 ranks").waitFor();
	await page.getByRole("button", { name: "Next ranks" }).click();
	await page.getByText("65 to 80 of 80 ranks").waitFor();
	equal(await bars.count(), 16, "bars of the last page");
	await page.getByRole("button", { name: "shortest wait first" }).click();
	await page.getByText("1 to 64 of 80 ranks").waitFor();
	const waits = [...partsOf(harness, path)].map(([rank, { parts }]) => [
		rank,
		parts.find(([name]) => name === "waiting for ranks")?.[1] ?? 0,
	]);
	const [least] = waits.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
	equal(await bars.first().getAttribute("data-bar"), String(least[0]), "who waits least");
	await harness.close(page);
}

/* Every table says once whether it has sums or means, in the words of the command. */
async function basis(harness) {
	const path = jobOf(harness);
	const page = await opened(harness, path, "#/operators");
	/** @type {[string, string[]][]} */
	const cases = [
		["#/operators", ["operators", "--rank", "all"]],
		["#/overview?view=budget", ["budget", "--rank", "all", "--group", "part"]],
		["#/overview?view=phases", ["phases", "--rank", "all"]],
		["#/gaps", ["gaps", "--group", "gap"]],
		["#/ranks?view=ranks", ["ranks"]],
		["#/steps", ["steps", "--rank", "all"]],
		["#/kernels?step=1", ["kernels", "--rank", "all", "--step", "1"]],
	];
	for (const [hash, command] of cases) {
		await page.evaluate((to) => {
			location.hash = to;
		}, hash);
		const told = harness.json(...command, path).basis;
		check(told, `${command.join(" ")} has no basis`);
		await page.locator(".summary .basis").filter({ hasText: told }).waitFor();
		equal(await page.locator(".summary .basis").count(), 1, `${hash}: said once`);
	}
	await harness.close(page);
}

export const defaultTests = [
	{ name: "defaults: phases of each step", run: phases },
	{ name: "defaults: GPU utilization", run: utilization },
	{ name: "defaults: tensor cores, occupancy, blocks", run: tensor },
	{ name: "defaults: totals of a table", run: totals },
	{ name: "defaults: totals over ranks", run: rankTotals },
	{ name: "defaults: totals by source line", run: lines },
	{ name: "defaults: ranks in parts", run: rankBars },
	{ name: "defaults: many ranks in parts", run: manyRanks },
	{ name: "defaults: sums or means", run: basis },
];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charts.mjs - waterfall, map, curve, tree, flame and compare: what they show equals what the
 * command says.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { check, equal, quiet, TRACES } from "./harness.mjs";

/* As core/format.ts writes times: three digits and a unit. */
function ns(value) {
	/** @type {[number, number, string][]} */
	const units = [
		[999.5, 1, "ns"],
		[999.5e3, 1e3, "µs"],
		[999.5e6, 1e6, "ms"],
		[Number.POSITIVE_INFINITY, 1e9, "s"],
	];
	const [, by, unit] = units.find(([below]) => Math.abs(value) < below);
	const size = value / by;
	if (by === 1 || size >= 99.95 || Number.isInteger(size))
		return `${size.toFixed(0)} ${unit}`;
	return `${size.toFixed(size >= 9.995 ? 1 : 2)} ${unit}`;
}

async function go(page, hash) {
	await page.evaluate((to) => {
		location.hash = to;
	}, hash);
}

export async function opened(harness, paths, hash, options) {
	const { link } = await harness.serve(...paths);
	const page = await harness.open(link, options);
	await page.waitForSelector("#tab-body");
	await go(page, hash);
	return page;
}

async function text(page, selector) {
	return (await page.locator(selector).first().innerText()).replace(/\s+/g, " ").trim();
}

/* The step that is shown once no what-if is under way. */
async function settled(page) {
	await page.waitForTimeout(250);
	await page.waitForSelector(".falls:not(.busy)");
	return text(page, ".fall.whole:last-of-type .fall-figure");
}

async function verdict(harness) {
	const folder = harness.simulate("ddp8-slow");
	const told = harness.json("diagnose", folder);
	const page = await opened(harness, [folder], "#/verdict");
	await page.waitForSelector(".sentence b");
	const sentence = await text(page, ".sentence h2");
	equal(
		sentence,
		`A step takes ${ns(told.step_ns)}. It could take ${ns(told.fixed_step_ns)}: ` +
			`${(told.step_ns / told.fixed_step_ns).toFixed(2)} × faster.`,
		"the sentence",
	);
	const warned = told.findings.filter((one) => one.level === "warning");
	equal(
		await page.locator(".finding.warning h3").allInnerTexts(),
		warned.map((one) => one.title),
		"findings",
	);
	const figures = await page.locator("label.fall .fall-figure").allInnerTexts();
	equal(
		figures,
		warned.map((one) => `−${ns(one.cost_ns)}`),
		"the waterfall",
	);
	await harness.close(page);
}

async function whatIf(harness) {
	const folder = harness.simulate("ddp8-slow");
	const told = harness.json("diagnose", folder);
	const fixes = told.findings
		.filter((one) => one.level === "warning")
		.map((one) => (one.rank === null ? one.rule : `${one.rule}=${one.rank}`));
	const page = await opened(harness, [folder], "#/verdict");
	const boxes = page.locator("label.fall input");
	await boxes.first().waitFor();
	await boxes.first().focus();
	check(
		(await text(page, ".falls-hint")).includes(told.findings[0].title),
		"focus tells the bounds",
	);
	await page.keyboard.press("Space");
	const after = harness.json("what-if", "--fix", fixes.slice(1).join(","), folder);
	equal(await settled(page), ns(after.fixed_step_ns), "without the first fix");
	for (let i = 1; i < fixes.length; i++) await boxes.nth(i).uncheck();
	equal(await settled(page), ns(told.step_ns), "nothing fixed is today's step");
	await page.waitForTimeout(600);
	check(page.url().includes("fix=none"), "the set stands in the address");
	await boxes.nth(0).check();
	const one = harness.json("what-if", "--fix", fixes[0], folder);
	equal(await settled(page), ns(one.fixed_step_ns), "the first fix alone");
	await harness.close(page);
}

async function evidence(harness) {
	const folder = harness.simulate("ddp8-slow");
	const page = await opened(harness, [folder], "#/verdict");
	const why = page.getByRole("button", { name: "Why we think so" }).first();
	await why.click();
	await page.getByText("What it looks at").first().waitFor();
	await page.locator(".finding h3 button").first().click();
	await page.locator(".finding-details .places li").first().waitFor();
	await page.keyboard.press("Escape");
	await page.locator(".finding-details").waitFor({ state: "detached" });
	await page.locator(".finding .button:enabled").first().click();
	await page.waitForFunction(() => location.hash.startsWith("#/timeline"));
	check(/at=slice\.\d+\.\d+/.test(page.url()), "the evidence is selected");
	await harness.close(page);
}

async function healthy(harness) {
	const page = await opened(harness, [harness.simulate("ddp8-healthy")], "#/verdict");
	await page.waitForSelector(".sentence b");
	const healthy = "No fix was found that saves more than 3 %.";
	check((await text(page, ".sentence h2")).endsWith(healthy), "healthy");
	await page.waitForSelector(".stacked-legend li");
	equal(await page.locator("label.fall").count(), 0, "no fixes");
	await harness.close(page);
}

async function ranks(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { columns, rows } = harness.json("ranks", "--group", "step", "--top", "0", folder);
	const at = (name) => columns.findIndex((column) => column.name === name);
	const late = (row) => row[at("lateness_ns")] ?? 0;
	const worst = rows.reduce((most, row) => (late(row) > late(most) ? row : most));
	const page = await opened(harness, [folder], "#/ranks");
	const map = page.locator(".heat canvas").first();
	await map.waitFor();
	/* by share of the step: half of it, or the worst that is more */
	const steps = rows.map((row) => row[at("step_ns")]).sort((a, b) => a - b);
	const most = Math.max(late(worst), steps[(steps.length - 1) >> 1] / 2);
	equal(await text(page, ".heat-scale"), `0 ns ${ns(most)}`, "the scale");
	await map.focus();
	for (let i = 0; i < worst[at("step")]; i++) await page.keyboard.press("ArrowRight");
	for (let i = 0; i < worst[at("rank")]; i++) await page.keyboard.press("ArrowDown");
	if (worst[at("rank")] + worst[at("step")] === 0) await page.keyboard.press("Home");
	const told = await text(page, ".heat-hint");
	check(told.includes(`Rank ${worst[at("rank")]}, step ${worst[at("step")]}`), told);
	check(told.includes(ns(late(worst))), told);
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => location.hash.startsWith("#/timeline"));
	await go(page, "#/ranks?view=pairs");
	await page.waitForFunction(() => document.querySelectorAll(".heat canvas").length === 2);
	await harness.close(page);
}

async function memory(harness) {
	const folder = harness.simulate("ddp8-healthy");
	const { columns, rows } = harness.json("memory", folder);
	const at = columns.findIndex((column) => column.name === "peak_allocated_bytes");
	const most = Math.max(...rows.map((row) => row[at]));
	const page = await opened(harness, [folder], "#/memory");
	await page.waitForSelector(".memory-plot canvas");
	const told = await text(page, ".memory-sentence");
	check(told.includes(`Peak: ${(most / 1e9).toFixed(2)} GB allocated`), told);
	await zoomMemory(page);
	await page.getByRole("button", { name: "Show all" }).click();
	await harness.close(page);
	/* recorded without totals: nothing is known of what was reserved */
	const old = join(TRACES, "cuda/resnet50_workers0.pt.trace.json.gz");
	if (!existsSync(old)) return;
	const bare = await opened(harness, [old], "#/memory");
	await bare.waitForSelector(".memory-plot canvas");
	await zoomMemory(bare);
	await harness.close(bare);
}

async function zoomMemory(page) {
	const plot = await page.locator(".memory-plot canvas").boundingBox();
	await page.mouse.move(plot.x + 100, plot.y + 50);
	await page.mouse.down();
	await page.mouse.move(plot.x + 300, plot.y + 50, { steps: 5 });
	await Promise.all([page.waitForResponse(/\/ask\/curve/), page.mouse.up()]);
	await quiet(page);
}

async function modules(harness) {
	const trace = join(TRACES, "cuda/h100_owlv2.json.gz");
	if (!existsSync(trace)) {
		console.log(`       skipped: ${trace} is not there`);
		return;
	}
	const { columns, rows } = harness.json("modules", "--top", "0", trace);
	const at = columns.findIndex((column) => column.name === "device_total_ns");
	const page = await opened(harness, [trace], "#/modules");
	await page.waitForSelector(".tree-window .tree-row");
	check(
		(await text(page, ".tree-window .tree-row")).includes(ns(rows[0][at])),
		"the first module",
	);
	await page.locator(".tree-box").focus();
	await page.keyboard.press("ArrowDown");
	const before = await page.locator(".tree-window .tree-row").count();
	await page.keyboard.press("ArrowLeft");
	check((await page.locator(".tree-window .tree-row").count()) < before, "a branch closes");
	await harness.close(page);
}

async function compare(harness) {
	const before = harness.simulate("ddp8-slow");
	const after = harness.simulate("ddp8-healthy");
	const [a, b] = [before, after].map((folder) => harness.json("diagnose", folder).step_ns);
	const page = await opened(harness, [before, "--compare", after], "#/compare");
	await page.waitForSelector(".compare-sentence b");
	equal(
		await text(page, ".compare-sentence h2"),
		`B's step takes ${ns(b)} instead of ${ns(a)}: ${(a / b).toFixed(2)} × faster.`,
		"the sentence",
	);
	await page.waitForSelector(".compare-table .better");
	for (const name of ["Kernels", "Communication", "Gaps", "Memory", "Phases", "Steps"]) {
		await page.getByRole("button", { name, exact: true }).click();
		await page.waitForSelector(
			`.compare-table section[aria-label="${name} of both runs"]`,
		);
	}
	await harness.close(page);
	const alone = await opened(harness, [before], "#/compare");
	await alone.getByText("stepscope serve BEFORE --compare AFTER").waitFor();
	await harness.close(alone);
}

export const chartTests = [
	{ name: "charts: verdict: the command's figures", run: verdict },
	{ name: "charts: verdict: what-if, live", run: whatIf },
	{ name: "charts: verdict: evidence in one click", run: evidence },
	{ name: "charts: verdict: a healthy job", run: healthy },
	{ name: "charts: ranks: the map", run: ranks },
	{ name: "charts: memory: curve and zoom", run: memory },
	{ name: "charts: modules: the tree", run: modules },
	{ name: "charts: compare: two runs", run: compare },
];

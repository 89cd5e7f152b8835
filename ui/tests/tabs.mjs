/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tabs.mjs - every tab: its figures are the command's, tables sort, filter, export and lead to
 * the timeline.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { column, time } from "./figures.mjs";
import { check, equal, quiet, TRACES } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

const RESNET = join(TRACES, "cuda/resnet50_workers0.pt.trace.json.gz");

async function go(page, name) {
	await page.getByRole("tab", { name }).click();
	const panel = page.getByRole("tabpanel", { name });
	await panel.waitFor();
	return panel;
}

async function everyTab(harness) {
	const paths = [harness.simulate("ddp8-slow")];
	if (existsSync(RESNET)) paths.push(RESNET);
	for (const path of paths) {
		const { link } = await harness.serve(path);
		const page = await harness.open(link);
		await verdictOf(page);
		const names = await page.getByRole("tab").allInnerTexts();
		check(names.length >= 13, `only ${names.length} tabs: ${names}`);
		for (const name of names) {
			const panel = await go(page, name.split("\n")[0].replace(/[●\d ]+$/, ""));
			await quiet(page);
			equal(await panel.getByRole("alert").count(), 0, `alerts on ${name}`);
			check((await panel.innerText()).length > 40, `${name} is empty`);
		}
		await harness.close(page);
	}
}

async function everyView(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { views } = JSON.parse(harness.command("ask", "offers", folder));
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	const asked = new Set();
	page.on("request", (request) => {
		const found = /\/api\/ask\/view\/([a-z-]+)/.exec(request.url());
		if (found) asked.add(found[1]);
	});
	await verdictOf(page);
	for (const tab of await page.getByRole("tab").all()) {
		await tab.click();
		await quiet(page);
		const parts = page.locator(".chips.strong").getByRole("button");
		/* some lead to other parts: back by the first */
		for (const name of await parts.allInnerTexts()) {
			const part = page.locator(".chips.strong").getByRole("button", { name, exact: true });
			if ((await part.count()) === 0) await parts.first().click();
			await part.first().click();
			await quiet(page);
		}
	}
	/* those of snapshots are on the page where there is one: snapshot.mjs; dumps have none yet */
	const missing = views
		.filter((view) => !view.of_snapshot && !view.of_dumps)
		.map((view) => view.name)
		.filter((name) => !asked.has(name));
	equal(missing, [], "views that no tab shows");
	await harness.close(page);
}

async function table(harness) {
	const path = existsSync(RESNET) ? RESNET : harness.simulate("gpu1-fp32-matmul");
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	await verdictOf(page);
	const panel = await go(page, "Operators");
	const rows = panel.getByRole("grid").getByRole("row");
	await rows.nth(1).waitFor();
	const ours = harness.json("operators", path);
	const names = column(ours, "name");
	const first = (await rows.nth(1).getByRole("gridcell").first().innerText()).split("\n")[0];
	equal(first, names[0], "the first operator");
	await panel.getByRole("button", { name: "calls", exact: true }).click();
	const most = Math.max(...column(ours, "calls"));
	await panel.getByRole("gridcell", { name: most.toLocaleString("en-US") }).first().waitFor();
	await panel.getByRole("searchbox").fill("conv");
	const shown = names.filter((name) => name.toLowerCase().includes("conv")).length;
	await panel.getByText(new RegExp(`^${shown} of|^${shown} rows?`)).first().waitFor();
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		panel.getByRole("button", { name: "CSV" }).click(),
	]);
	const csv = readFileSync(await download.path()).toString();
	const theirs = harness.command("operators", "--format", "csv", path).toString();
	equal(csv.split("\r\n")[0], theirs.split("\r\n")[0], "the head of the CSV");
	await rows.nth(1).getByRole("button", { name: /timeline/ }).click();
	await page.waitForURL(/#\/timeline\?.*at=slice/);
	await harness.close(page);
}

async function scope(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	await verdictOf(page);
	await page.getByRole("combobox", { name: /rank/ }).selectOption({ index: 3 });
	const panel = await go(page, "Kernels");
	const ours = harness.json("kernels", "--rank", "2", folder);
	const total = column(ours, "total_ns")[0];
	/* a unit in each cell where a column spans decades */
	const shown = new RegExp(`^(${(total / 1e6).toFixed(2)}|${(total / 1e6).toPrecision(3)} ms)$`);
	await panel.getByRole("gridcell", { name: shown }).first().waitFor();
	check(page.url().includes("rank=2"), "the rank does not stand in the address");
	await harness.close(page);
}

async function overview(harness) {
	const path = existsSync(RESNET) ? RESNET : harness.simulate("gpu1-fp32-matmul");
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	await verdictOf(page);
	const panel = await go(page, "Overview");
	await panel.getByRole("heading", { name: "The mean step" }).waitFor();
	const verdict = harness.json("diagnose", path);
	await panel.getByText(time(verdict.step_ns)).first().waitFor();
	await harness.close(page);
}

async function themes(harness) {
	const { link } = await harness.serve(harness.simulate("gpu1-fp32-matmul"));
	const page = await harness.open(link, { colorScheme: "dark" });
	await verdictOf(page);
	const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const dark = await back();
	await page.getByRole("button", { name: /Theme/ }).click();
	const next = await back();
	await page.getByRole("button", { name: /Theme/ }).click();
	const last = await back();
	check(new Set([dark, next, last]).size === 2, `backgrounds: ${dark}, ${next}, ${last}`);
	await harness.close(page);
}

/* Messages of other sizes are other rows: each has the median of the ranks' own figures. */
async function messages(harness) {
	const path = join(TRACES, "jobs/h100x8_nanogpt");
	if (!existsSync(path)) return;
	const each = harness.json("communication", path, "--top", "0");
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	await verdictOf(page);
	const panel = await go(page, "Comm");
	await panel.getByRole("button", { name: "By kind and size" }).click();
	await panel.getByRole("row", { name: /_allgather_base/ }).first().waitFor();
	const sizes = new Map();
	for (const [i, bytes] of column(each, "message_bytes").entries()) {
		const key = `${column(each, "collective")[i]} ${bytes}`;
		if (bytes) sizes.set(key, [...(sizes.get(key) ?? []), column(each, "total_ns")[i]]);
	}
	const said = await panel.innerText();
	check(sizes.size > 5, "messages of one size only");
	for (const [key, totals] of sizes) {
		const median = totals.sort((a, b) => a - b)[Math.floor((totals.length - 1) / 2)];
		const figure = (median / 1e6).toFixed(2);
		check(said.includes(`\n${figure}\n`), `no ${figure} ms for ${key} in ${said}`);
	}
	await harness.close(page);
}

/* The numbers of colours, in the order of docs/formats/viewer.md. */
const COLORS = (
	"compute communication copy operator runtime python input optimizer " +
	"range idle other"
).split(" ");

/* Names, colours and meanings of idle causes are the core's, on every tab. */
async function causes(harness) {
	const folder = harness.simulate("small8-idle-gc");
	const told = JSON.parse(harness.command("ask", "offers", folder)).causes;
	const found = column(harness.json("gaps", folder), "cause");
	check(found.includes("garbage collection"), `causes: ${[...new Set(found)]}`);
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	await verdictOf(page);
	const panel = await go(page, "Gaps");
	for (const name of new Set(found)) {
		const cause = told.find((one) => one.name === name);
		check(cause, `'${name}' of the view gaps is no cause of the core`);
		const button = page.getByRole("button", { name, exact: true });
		const table = panel.getByRole("table", { name: "Idle time by cause" });
		const line = table.locator("tr", { has: button });
		const means = await line.getByRole("button").evaluate((one) => {
			const [first] = (one.getAttribute("aria-describedby") ?? "").split(" ");
			return document.getElementById(first ?? "")?.textContent ?? null;
		});
		equal(means, cause.about, `what '${name}' means`);
		const style = await line.locator(".meter-bar span").getAttribute("style");
		check(style.includes(`--c-${COLORS[cause.color]})`), `'${name}': ${style}`);
	}
	await harness.close(page);
}

export const tabTests = [
	{ name: "tabs: every tab of a job and of a real trace has something to say", run: everyTab },
	{ name: "tabs: every view can be reached", run: everyView, seconds: 30 },
	{ name: "tabs: a table sorts, filters, exports and leads to the timeline", run: table },
	{ name: "tabs: the scope counts everywhere", run: scope },
	{ name: "tabs: overview", run: overview },
	{ name: "tabs: collectives of several ranks by the size of their messages", run: messages },
	{ name: "tabs: causes of idle time as the core has them", run: causes },
	{ name: "tabs: light and dark", run: themes },
];

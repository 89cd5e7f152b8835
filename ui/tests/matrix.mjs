/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.mjs - every tab and part at three sizes in both themes: nothing is cut or runs out of
 * the window, there is one first heading, and axe-core finds nothing.
 *
 * Colours are all that a theme changes: in the dark one axe-core looks at them alone, of parts at
 * one size. Of the rows of a table, which are alike, it looks at the first ones.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { makeStore } from "./fleet.mjs";
import { check, PAGE, TRACES } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const SNAPSHOT = join(TRACES, "memory/gpu");

const SIZES = [
	{ width: 1280, height: 800 },
	{ width: 1920, height: 1080 },
	{ width: 390, height: 844 },
];
const THEMES = ["light", "dark"];

/* In the page: until nothing has changed for a while, and nothing says that it loads. */
function settle() {
	const QUIET_MS = 90;
	const MOST_MS = 10_000;
	return new Promise((resolve) => {
		const begin = performance.now();
		let last = begin;
		const watch = new MutationObserver(() => (last = performance.now()));
		watch.observe(document.body, {
			subtree: true,
			childList: true,
			attributes: true,
			characterData: true,
		});
		const look = () => {
			const now = performance.now();
			const loads = document.querySelector(".state-dot, .sentence-wait");
			const done = !loads && now - last > QUIET_MS;
			if (!done && now - begin < MOST_MS) return setTimeout(look, 30);
			watch.disconnect();
			resolve(null);
		};
		requestAnimationFrame(() => requestAnimationFrame(look));
	});
}

/* In the page: another theme has other colours, and that is all. */
function nextFrame() {
	return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}

/* In the page: what does not fit, and how many first headings there are. */
function misfits() {
	const found = [];
	const root = document.documentElement;
	const say = (what, { tagName, className, textContent }) =>
		found.push(`${what}: ${tagName}.${className} ${textContent.trim().slice(0, 40)}`);
	if (Math.max(root.scrollWidth, document.body.scrollWidth) > innerWidth)
		found.push(`the page is ${root.scrollWidth} pixels wide`);
	const scrolls = (one) => /auto|scroll/.test(getComputedStyle(one).overflowX);
	for (const one of document.querySelectorAll("body *:not(option)")) {
		const own = [...one.childNodes].some(
			(node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim(),
		);
		const style = getComputedStyle(one);
		/* what is said to screen readers alone */
		if (!own || !one.checkVisibility() || style.clipPath !== "none") continue;
		const cuts = /hidden|clip/.test(style.overflowX) && style.textOverflow !== "ellipsis";
		if (cuts && one.scrollWidth > one.clientWidth + 1) say("cut", one);
		if (one.getBoundingClientRect().right <= innerWidth + 1) continue;
		let around = one.parentElement;
		while (around && !scrolls(around)) around = around.parentElement;
		if (!around) say("outside", one);
	}
	const heads = document.querySelectorAll("h1").length;
	if (heads !== 1) found.push(`${heads} first headings`);
	return found;
}

/* In the page. */
async function findings(dark) {
	const colours = { runOnly: ["color-contrast", "link-in-text-block"] };
	const all = { rules: { "target-size": { enabled: true } } };
	const rows = ":is(.table-window, .tree-window) > :nth-child(n + 5)";
	const { violations } = await window.axe.run({ include: ["html"], exclude: [rows] }, {
		resultTypes: ["violations"],
		...(dark ? colours : all),
	});
	return violations.flatMap(({ id, nodes }) =>
		nodes.map((node) => {
			const why = [...node.any, ...node.all, ...node.none][0]?.message ?? "";
			return `${id}: ${node.html.slice(0, 120)} ${why}`;
		}),
	);
}

/* Whether axe-core looks: never, always, or at a part. */
function looksAt(axe, viewport, colorScheme) {
	return axe === "part" ? colorScheme === "light" || viewport === SIZES[0] : axe;
}

/* Looks at what the page shows, at all sizes in both themes. */
async function look(page, name, axe, wrong) {
	for (const viewport of SIZES)
		for (const colorScheme of THEMES) {
			await page.setViewportSize(viewport);
			await page.emulateMedia({ colorScheme });
			await page.evaluate(colorScheme === "light" ? settle : nextFrame);
			const found = await page.evaluate(misfits);
			if (looksAt(axe, viewport, colorScheme))
				found.push(...(await page.evaluate(findings, colorScheme === "dark")));
			for (const one of found)
				wrong.push(`${name} at ${viewport.width}, ${colorScheme}: ${one}`);
		}
	await page.setViewportSize(SIZES[0]);
}

function report(wrong) {
	const shown = wrong.slice(0, 20).join("\n       ");
	check(!wrong.length, `${wrong.length} findings\n       ${shown}`);
}

async function begin(harness, url) {
	const page = await harness.open(url);
	await page.evaluate(AXE);
	return page;
}

/* Every part of the tabs, until none is left: several pages share the list. */
async function lookAtTabs(page, ids, axe, wrong) {
	for (let id = ids.shift(); id; id = ids.shift()) {
		await page.locator(`#tab-${id}`).evaluate((tab) => tab.click());
		await page.evaluate(settle);
		const parts = page.locator("#tab-body .chips.strong button");
		const count = axe ? Math.max(1, await parts.count()) : 1;
		await look(page, id, axe, wrong);
		for (let i = 1; i < count; i++) {
			/* some parts have others: back by the first */
			if (i >= (await parts.count())) break;
			const title = await parts.nth(i).innerText();
			await parts.nth(i).evaluate((part) => part.click());
			await page.evaluate(settle);
			await look(page, `${id}, ${title}`, axe && "part", wrong);
		}
	}
}

async function idsOf(page) {
	await verdictOf(page);
	const tabs = await page.getByRole("tab").all();
	return Promise.all(tabs.map(async (tab) => (await tab.getAttribute("id")).slice(4)));
}

/* So many pages at once: a test of a minute would be none that people run. */
const PAGES = 3;

async function everyTab(harness) {
	const { link } = await harness.serve(
		harness.simulate("ddp8-slow"),
		"--compare",
		harness.simulate("ddp8-healthy"),
	);
	const wrong = [];
	const pages = await Promise.all(Array.from({ length: PAGES }, () => begin(harness, link)));
	const [ids] = await Promise.all(pages.map(idsOf));
	check(ids.length >= 13, `only ${ids.length} tabs`);
	await Promise.all(pages.map((page) => lookAtTabs(page, ids, true, wrong)));
	for (const page of pages) await harness.close(page);
	report(wrong);
}

async function fromDisk(harness) {
	const page = await begin(harness, pathToFileURL(PAGE).href);
	const wrong = [];
	await look(page, "welcome", true, wrong);
	await page.getByRole("button", { name: /demo/ }).click();
	await lookAtTabs(page, await idsOf(page), false, wrong);
	await harness.close(page);
	report(wrong);
}

/* The drawer with everything that it shows, by the address of each. */
const DRAWERS = {
	finding: "verdict?at=finding.1",
	slice: "timeline?from=0&to=300000000&at=slice.0.60",
	range: "timeline?from=0&to=300000000&at=range.100000000.200000000",
	operator: "operators?at=row.operators..0",
	kernel: "kernels?at=row.kernels..1",
};

async function drawers(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await begin(harness, link);
	const wrong = [];
	await verdictOf(page);
	for (const [name, address] of Object.entries(DRAWERS)) {
		await page.evaluate((hash) => (location.hash = `#/${hash}`), address);
		await page.locator(".drawer h2, .drawer h3").first().waitFor();
		await look(page, `drawer of a ${name}`, true, wrong);
	}
	await page.evaluate(() => (location.hash = "#/gaps"));
	await page.getByRole("grid").focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("t");
	await page.waitForURL(/at=gap/);
	await page.locator(".drawer h2").waitFor();
	await look(page, "drawer of a gap", true, wrong);
	await harness.close(page);
	report(wrong);
}

/* What opens over a tab, and a tab that shows nothing. */
async function layers(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await begin(harness, link);
	const wrong = [];
	await verdictOf(page);
	await page.getByRole("button", { name: /Help/ }).click();
	await look(page, "help", true, wrong);
	await page.keyboard.press("Escape");
	await page.getByRole("searchbox", { name: /Search/ }).fill("gemm");
	await page.keyboard.press("Enter");
	await page.getByText(/hits for/).waitFor();
	await look(page, "search", true, wrong);
	await page.evaluate(() => (location.hash = "#/operators"));
	await page.getByText("Columns ▾").click();
	await look(page, "columns", true, wrong);
	await page.keyboard.press("Escape");
	await page.getByRole("searchbox", { name: /Filter/ }).fill("no such name");
	await page.getByRole("button", { name: "Clear filter" }).waitFor();
	await look(page, "filter without hits", true, wrong);
	await page.evaluate(() => (location.hash = "#/verdict"));
	await verdictOf(page);
	await page.getByRole("button", { name: /Why we think so/ }).first().click();
	await look(page, "reasons", true, wrong);
	await page.setViewportSize(SIZES[2]);
	await page.locator("summary", { hasText: "☰" }).click();
	await page.evaluate(settle);
	for (const dark of [false, true]) {
		await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
		wrong.push(...(await page.evaluate(misfits)), ...(await page.evaluate(findings, dark)));
	}
	await harness.close(page);
	report(wrong);
}

/* While files load: answers are held back. */
async function loading(harness) {
	const { link } = await harness.serve(harness.simulate("gpu1-fp32-matmul"));
	const page = await harness.open("about:blank", {});
	let held = [];
	await page.route("**/api/**", (route) => void held.push(route));
	await page.goto(link);
	await page.evaluate(AXE);
	await page.getByRole("heading", { name: "Reading the traces" }).waitFor();
	const wrong = [];
	await look(page, "loading", true, wrong);
	for (const route of held) await route.abort();
	held = [];
	await page.context().close();
	report(wrong);
}

async function snapshots(harness) {
	if (!existsSync(SNAPSHOT)) return;
	const { link } = await harness.serve(SNAPSHOT);
	const page = await begin(harness, link);
	const wrong = [];
	await page.locator(".snapshot-lead").waitFor({ timeout: 30_000 });
	await lookAtTabs(page, ["memory"], true, wrong);
	await harness.close(page);
	report(wrong);
}

async function fleet(harness) {
	if (!process.env.STEPSCOPE_DUCKDB) return;
	const { link } = await harness.serve("--store", makeStore(harness).store);
	const page = await begin(harness, link);
	const wrong = [];
	await page.getByRole("heading", { level: 1, name: /runs lost/ }).waitFor();
	await page.getByRole("button", { name: "by team" }).click();
	await look(page, "fleet", true, wrong);
	await harness.close(page);
	report(wrong);
}

export const matrixTests = [
	{ name: "matrix: every tab and part, with axe-core", run: everyTab },
	{ name: "matrix: every tab of a page from disk", run: fromDisk },
	{ name: "matrix: the drawer, with axe-core", run: drawers },
	{ name: "matrix: help, search, menus, with axe-core", run: layers },
	{ name: "matrix: loading, with axe-core", run: loading },
	{ name: "matrix: snapshots, with axe-core", run: snapshots },
	{ name: "matrix: the fleet, with axe-core", run: fleet },
];

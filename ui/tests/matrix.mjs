/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.mjs - every tab and part at three sizes in both themes: nothing is cut or runs out of
 * the window, there is one first heading, and axe-core finds nothing.
 *
 * axe-core runs each rule where its answer can differ. Colours are all that a theme changes: in the
 * dark one it looks at them alone, of parts at one size. Where a tab shows the same elements as at
 * another size, with the same attributes, and what is around it was looked at, too, it looks at
 * what depends on where they are, and at no colour of the dark theme again. Of the rows of a table,
 * which are alike, it looks at the first ones.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { makeStore } from "./fleet.mjs";
import { check, PAGE, quiet, TRACES } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const SNAPSHOT = join(TRACES, "memory/gpu");
const RECORDED = resolve(PAGE, "../../../tests/hang/recorded/wrong_op");

const SIZES = [
	{ width: 1280, height: 800 },
	{ width: 1920, height: 1080 },
	{ width: 390, height: 844 },
];
const THEMES = ["light", "dark"];

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

/* Rows of a table behind the first ones. */
const ALIKE = ":is(.table-window, .tree-window) > :nth-child(n + 5)";

/* In the page: the elements that are shown, with what rules read of them. */
function structure(rows) {
	const sized = /^(style|d|points|transform|width|height|viewBox|x\d?|y\d?|cx|cy|r|rx|ry)$/;
	const words = (one) =>
		[...one.attributes]
			.filter(({ name }) => !sized.test(name))
			.map(({ name, value }) => `${name}=${value}`)
			.join(" ");
	const told = (every) =>
		every.map((one) => `${one.tagName} ${one.checkVisibility()} ${words(one)}`).join("\n");
	const all = [...document.querySelectorAll("body *")].filter((one) => !one.closest(rows));
	const inside = all.filter((one) => one.closest("#tab-body"));
	return { body: told(inside), frame: told(all.filter((one) => !one.closest("#tab-body"))) };
}

const COLOURS = ["color-contrast", "link-in-text-block"];

/* What depends on sizes and places. */
const PLACES = [...COLOURS, "target-size", "scrollable-region-focusable", "css-orientation-lock"];

/* In the page; `rules`: these alone, null: all. */
async function findings([rules, inside, alike]) {
	const all = { rules: { "target-size": { enabled: true } } };
	const { violations } = await window.axe.run({ include: [inside], exclude: [alike] }, {
		resultTypes: ["violations"],
		...(rules ? { runOnly: rules } : all),
	});
	return violations.flatMap(({ id, nodes }) =>
		nodes.map((node) => {
			const why = [...node.any, ...node.all, ...node.none][0]?.message ?? "";
			return `${id}: ${node.html.slice(0, 120)} ${why}`;
		}),
	);
}

function axeFindings(page, rules, inside = "html") {
	return page.evaluate(findings, [rules, inside, ALIKE]);
}

/*
 * Looks at what the page shows, at all sizes in both themes. `frames`: what was seen around this
 * tab. `fresh`: what was not seen elsewhere; axe-core looks at the rest once.
 */
async function look(page, name, axe, wrong, frames = new Set(), fresh = "html") {
	const bodies = new Set();
	for (const viewport of SIZES) {
		await page.setViewportSize(viewport);
		await page.emulateMedia({ colorScheme: "light" });
		await quiet(page);
		const { frame, body } = await page.evaluate(structure, ALIKE);
		const known = frames.has(frame) && bodies.has(body);
		const anew = viewport === SIZES[0] || (axe === "part" && !frames.has(frame));
		const inside = anew ? "html" : fresh;
		frames.add(frame);
		bodies.add(body);
		for (const colorScheme of THEMES) {
			await page.emulateMedia({ colorScheme });
			if (colorScheme === "dark") await page.evaluate(nextFrame);
			const found = await page.evaluate(misfits);
			const dark = colorScheme === "dark";
			const same = known || (axe === "part" && viewport !== SIZES[0]);
			if (axe && !(dark && same))
				found.push(
					...(await axeFindings(
						page,
						dark ? COLOURS : known ? PLACES : null,
						dark ? fresh : inside,
					)),
				);
			for (const one of found)
				wrong.push(`${name} at ${viewport.width}, ${colorScheme}: ${one}`);
		}
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

/* Every part of the tabs. */
async function lookAtTabs(page, ids, axe, wrong) {
	for (const id of ids) {
		await page.locator(`#tab-${id}`).evaluate((tab) => tab.click());
		await quiet(page);
		const parts = page.locator("#tab-body .chips.strong button");
		const count = axe ? Math.max(1, await parts.count()) : 1;
		const frames = new Set();
		await look(page, id, axe, wrong, frames);
		for (let i = 1; i < count; i++) {
			/* some parts have others: back by the first */
			if (i >= (await parts.count())) break;
			const title = await parts.nth(i).innerText();
			await parts.nth(i).evaluate((part) => part.click());
			await quiet(page);
			await look(page, `${id}, ${title}`, axe && "part", wrong, frames, "#tab-body");
		}
	}
}

async function idsOf(page) {
	await verdictOf(page);
	const tabs = await page.getByRole("tab").all();
	return Promise.all(tabs.map(async (tab) => (await tab.getAttribute("id")).slice(4)));
}

/* Tests of the same length: two browsers share them. */
const SHARES = 4;

/* Every SHARES-th tab. */
function someTabs(share) {
	return async (harness) => {
		const { link } = await harness.serve(
			harness.simulate("ddp8-slow"),
			"--compare",
			harness.simulate("ddp8-healthy"),
		);
		const wrong = [];
		const page = await begin(harness, link);
		const ids = await idsOf(page);
		check(ids.length >= 13, `only ${ids.length} tabs`);
		await lookAtTabs(page, ids.filter((_, i) => i % SHARES === share), true, wrong);
		await harness.close(page);
		report(wrong);
	};
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
		await look(page, `drawer of a ${name}`, true, wrong, new Set(), ".drawer");
	}
	await page.evaluate(() => (location.hash = "#/gaps"));
	await page.getByRole("grid").focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("t");
	await page.waitForURL(/at=gap/);
	await page.locator(".drawer h2").waitFor();
	await look(page, "drawer of a gap", true, wrong, new Set(), ".drawer");
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
	await quiet(page);
	for (const dark of [false, true]) {
		await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
		const rules = dark ? COLOURS : null;
		wrong.push(...(await page.evaluate(misfits)), ...(await axeFindings(page, rules)));
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

/* Dumps of which most collectives have no number of their own in the heading. */
async function hang(harness) {
	const { link } = await harness.serve(RECORDED);
	const page = await begin(harness, link);
	const wrong = [];
	await page.locator(".hang-map").waitFor();
	await look(page, "hang", true, wrong);
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
	...Array.from({ length: SHARES }, (_, i) => ({
		name: `matrix: every tab and part, with axe-core (${i + 1} of ${SHARES})`,
		run: someTabs(i),
		seconds: 30,
	})),
	{ name: "matrix: every tab of a page from disk", run: fromDisk, seconds: 30 },
	{ name: "matrix: the drawer, with axe-core", run: drawers, seconds: 30 },
	{ name: "matrix: help, search, menus, with axe-core", run: layers, seconds: 30 },
	{ name: "matrix: loading, with axe-core", run: loading },
	{ name: "matrix: snapshots, with axe-core", run: snapshots, seconds: 40 },
	{ name: "matrix: dumps, with axe-core", run: hang },
	{ name: "matrix: the fleet, with axe-core", run: fleet, seconds: 20 },
];

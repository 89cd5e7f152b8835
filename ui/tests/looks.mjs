/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looks.mjs - paper, phones, wide screens; titles, names, and what stands where nothing is found.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { load } from "./load.mjs";
import { check, equal, PAGE, TRACES } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

const RESNET = join(TRACES, "cuda/resnet50_workers0.pt.trace.json.gz");

const PHONE = { width: 390, height: 844 };
const WIDE = { width: 1920, height: 1080 };

/* A4 in points. */
const PAPER = { width: 595, height: 842 };

function pagesOf(pdf) {
	return (pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g) ?? []).length;
}

/* What is seen on paper, and in which colours. */
function onPaper() {
	const seen = (element) => element.checkVisibility();
	const all = [...document.querySelectorAll("body *")].filter(seen);
	return {
		buttons: all.filter((one) => one.matches("button.button, [role=tab], select, input"))
			.length,
		fixes: all.filter((one) => one.matches(".finding .copy-box code")).length,
		back: getComputedStyle(document.body).backgroundColor,
		text: getComputedStyle(document.body).color,
		cut: all
			.filter((one) => one.scrollWidth > one.clientWidth + 1)
			.filter((one) => getComputedStyle(one).overflowX !== "visible")
			.map((one) => one.className),
	};
}

async function print(harness) {
	const paths = [harness.simulate("ddp8-slow")];
	if (existsSync(RESNET)) paths.push(RESNET);
	for (const path of paths) {
		const { findings } = harness.json("diagnose", path);
		const { link } = await harness.serve(path);
		for (const colorScheme of ["light", "dark"]) {
			const page = await harness.open(link, { colorScheme });
			await verdictOf(page);
			await page.locator(".finding").first().waitFor();
			const pages = pagesOf(await page.pdf({ preferCSSPageSize: true }));
			check(pages === 1 || pages === 2, `the verdict takes ${pages} pages`);
			const { width, height } = PAPER;
			await page.setViewportSize({ width, height });
			await page.emulateMedia({ media: "print" });
			const seen = await page.evaluate(onPaper);
			equal(seen.buttons, 0, "buttons on paper");
			equal(seen.fixes, findings.filter((one) => one.fix).length, "fixes on paper");
			equal(seen.back, "rgb(255, 255, 255)", `paper in ${colorScheme}`);
			equal(seen.text, "rgb(27, 31, 36)", `text in ${colorScheme}`);
			equal(seen.cut, [], "what is cut on paper");
			await harness.close(page);
		}
	}
}

async function printButton(harness) {
	const { link } = await harness.serve(harness.simulate("gpu1-fp32-matmul"));
	const page = await harness.open(link);
	await verdictOf(page);
	await page.evaluate(() => {
		window.print = () => document.body.setAttribute("data-printed", "yes");
	});
	await page.getByRole("button", { name: "Print" }).click();
	await page.locator('body[data-printed="yes"]').waitFor();
	await harness.close(page);
}

/* Everything of the header is to be had, the tab that is shown can be seen, names can be read. */
async function phone(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await harness.open(link, { viewport: PHONE });
	await verdictOf(page);
	const inside = async (locator, what) => {
		await locator.waitFor();
		const box = await locator.boundingBox();
		const fits = box && box.x >= 0 && box.x + box.width <= PHONE.width;
		check(fits, `${what} lies outside: ${JSON.stringify(box)}`);
		return box;
	};
	await inside(page.getByRole("heading", { level: 1 }), "the name of the run");
	await page.locator("summary", { hasText: "☰" }).click();
	await inside(page.getByRole("searchbox", { name: /Search names/ }), "the search");
	await inside(page.getByRole("button", { name: "Copy link" }), "Copy link");
	await inside(page.getByRole("button", { name: /Theme/ }), "the theme");
	await page.getByRole("button", { name: /Help/ }).click();
	await inside(page.getByRole("dialog"), "the help");
	await page.keyboard.press("Escape");
	equal(await page.locator(".header details[open]").count(), 0, "menus that stay open");
	for (const name of ["Quality", "Timeline"]) {
		const tab = page.getByRole("tab", { name });
		await tab.evaluate((element) => element.click());
		await inside(tab, `the tab ${name}`);
	}
	const names = page.locator(".timeline .head-name, .timeline .head-fold strong");
	await names.first().waitFor();
	const cut = await names.evaluateAll((all) =>
		all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
	);
	check(cut.length <= 1, `names of rows that are cut: ${cut}`);
	const canvas = await page.locator(".timeline canvas").boundingBox();
	check(canvas.width > PHONE.width * 0.6, `the canvas has ${canvas.width} pixels`);
	await harness.close(page);
}

/* Notes on all ranks, bars beside long names, all colours of the legend where there is room. */
async function narrow(harness) {
	const { link } = await harness.serve(join(TRACES, "jobs/h100x8_nanogpt"));
	const page = await harness.open(link, { viewport: PHONE });
	await verdictOf(page);
	await page.evaluate(() => (location.hash = "#/quality"));
	const notes = page.locator(".odds li > *");
	await notes.first().waitFor();
	const right = await notes.evaluateAll((all) =>
		Math.max(...all.map((one) => one.getBoundingClientRect().right)),
	);
	check(right <= PHONE.width - 8, `a note ends at ${right} of ${PHONE.width}`);
	await page.evaluate(() => (location.hash = "#/overview"));
	const bar = page.locator("#tab-body .meter-bar").first();
	await bar.waitFor();
	const { width } = await bar.boundingBox();
	check(width > 60, `bars have ${width} pixels`);
	await page.setViewportSize({ width: 1024, height: 768 });
	await page.evaluate(() => (location.hash = "#/timeline"));
	const legend = page.getByRole("list", { name: "Colours" });
	await legend.waitFor();
	const hidden = await legend.evaluate((one) => one.scrollWidth - one.clientWidth);
	check(hidden <= 1, `${hidden} pixels of the legend are hidden`);
	await harness.close(page);
}

/* Names stay beside their figures when a table is scrolled sideways. */
async function phoneTable(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await harness.open(`${link}`, { viewport: PHONE });
	await verdictOf(page);
	await page.getByRole("tab", { name: "Kernels" }).click();
	const grid = page.getByRole("grid");
	const name = grid.getByRole("gridcell").first();
	await name.waitFor();
	const before = await name.boundingBox();
	const moved = await grid.evaluate((box) => {
		box.scrollLeft = 120;
		return box.scrollLeft;
	});
	check(moved > 50, "the table has nothing beside the window");
	const after = await name.boundingBox();
	equal(after.x, before.x, "where the name stands");
	await harness.close(page);
}

async function titles(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await harness.open(link);
	await verdictOf(page);
	equal(await page.title(), "stepscope - ddp8-slow", "the title of a served run");
	await harness.close(page);
	const report = join(harness.scratch, "titled.html");
	harness.command("report", harness.simulate("ddp8-slow"), "-o", report);
	const mailed = await harness.open(pathToFileURL(report).href);
	await verdictOf(mailed);
	equal(await mailed.title(), "stepscope - ddp8-slow", "the title of a report");
	await harness.close(mailed);
	const own = await harness.open(pathToFileURL(PAGE).href);
	equal(await own.title(), "stepscope", "the title before anything is open");
	await own.getByRole("button", { name: /demo/ }).click();
	await verdictOf(own);
	equal(await own.title(), "stepscope - demo", "the title of the demo");
	await own.getByRole("button", { name: "Open another" }).click();
	await own.getByRole("heading", { name: "Large traces" }).waitFor();
	equal(await own.title(), "stepscope", "the title after it was closed");
	await harness.close(own);
}

async function emptyFilter(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await harness.open(link);
	await verdictOf(page);
	await page.getByRole("tab", { name: "Operators" }).click();
	const grid = page.getByRole("grid");
	await grid.getByRole("row").nth(1).waitFor();
	const before = await grid.getByRole("row").count();
	await page.getByRole("searchbox", { name: /Filter/ }).fill("no such name");
	await page.getByText("No name contains “no such name”").waitFor();
	await page.getByRole("button", { name: "Clear filter" }).click();
	await grid.getByRole("row").nth(1).waitFor();
	equal(await grid.getByRole("row").count(), before, "rows after it was cleared");
	equal(await page.getByRole("searchbox", { name: /Filter/ }).inputValue(), "", "the filter");
	await harness.close(page);
}

/* The last column ends where the table does, on every tab with a table. */
async function wide(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await harness.open(link, { viewport: WIDE });
	await verdictOf(page);
	for (const name of ["Operators", "Kernels", "Gaps", "Comm", "Ranks", "Steps"]) {
		await page.getByRole("tab", { name }).click();
		const grid = page.getByRole("tabpanel", { name }).getByRole("grid").last();
		await grid.getByRole("gridcell").first().waitFor();
		const used = await grid.evaluate((box) => {
			const last = box.querySelector(".table-head > div:last-child");
			const right = last.getBoundingClientRect().right;
			const frame = box.getBoundingClientRect();
			return { of: frame.width, free: frame.right - right };
		});
		check(used.of > 1800, `${name}: the table has ${used.of} pixels`);
		check(used.free < 24, `${name}: ${used.free} of ${used.of} pixels are empty`);
	}
	await page.getByRole("tab", { name: "Kernels" }).click();
	const names = page.getByRole("grid").locator(".table-rows .text:first-child");
	await names.first().waitFor();
	const cut = await names.evaluateAll(
		(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length,
	);
	equal(cut, 0, "names of kernels that are cut");
	await harness.close(page);
}

/* A name that fills the drawer is no title: the short one is, the whole one can be copied. */
async function drawerTitle(harness) {
	if (!existsSync(RESNET)) return;
	const { rows, columns } = harness.json("kernels", RESNET, "--top", "0");
	const at = columns.findIndex((column) => column.name === "name");
	const index = rows.findIndex((row) => row[at].length > 120 && row[at].includes("<"));
	check(index >= 0, "no kernel has a long name");
	const { link } = await harness.serve(RESNET);
	const page = await harness.open(link);
	await verdictOf(page);
	await page.getByRole("tab", { name: "Kernels" }).click();
	await page.getByRole("gridcell").first().waitFor();
	await page.evaluate((row) => (location.hash = `#/kernels?at=row.kernels..${row}`), index);
	const drawer = page.locator(".drawer");
	const title = (await drawer.getByRole("heading").first().innerText()).trim();
	check(title.length <= 64, `the title has ${title.length} letters`);
	await drawer.getByText(rows[index][at], { exact: true }).first().waitFor();
	await drawer.getByRole("button", { name: "copy name" }).waitFor();
	await harness.close(page);
}

/* Every pixel of a plate behind a label: the lines of the hatch end at it. */
async function hatch() {
	const { Batch } = await load("timeline/draw/pen.ts");
	const calls = [];
	const context = {
		set fillStyle(style) {
			calls.push(["style", style]);
		},
		fillRect: (...box) => calls.push(["box", ...box]),
		fillText: (text, x, y) => calls.push(["text", text, x, y]),
	};
	const theme = {
		fills: [],
		waits: [],
		causes: ["hatch"],
		causeFills: [],
		back: "back",
		text: "text",
		accentText: "accent",
		width: (text) => text.length * 6,
	};
	const batch = new Batch();
	batch.cause(0).add(0, 0, 100, 12);
	batch.label("input", 4, 6, "hatch");
	batch.flush({ context, theme });
	const at = (kind, test) => calls.findIndex((call) => call[0] === kind && test(call));
	const lines = at("box", ([, , , width]) => width === 100);
	const plate = at("box", ([, x, , width]) => x <= 4 && x + width >= 34 && width < 100);
	const text = at("text", () => true);
	check(lines >= 0 && lines < plate && plate < text, JSON.stringify(calls));
}

/* Ticks of the axis give way to a label that stands on it. */
async function axis() {
	const { drawAxis } = await load("timeline/draw/axis.ts");
	const written = [];
	const context = {
		fillRect() {},
		fillText: (text, x) => written.push({ x, right: x + text.length * 6 }),
	};
	const theme = { width: (text) => text.length * 6, font: "", text: "", soft: "", line: "" };
	const pen = {
		context,
		theme,
		width: 1000,
		scale: 1,
		span: { from: 0, to: 1e9 },
		perNs: 1e-6,
	};
	const label = { x: 380, width: 60 };
	drawAxis(pen, [], true, 0, 20, []);
	const all = written.splice(0).length;
	drawAxis(pen, [], true, 0, 20, [label]);
	const over = written.filter(({ x, right }) => x < label.x + label.width && right > label.x);
	equal(over, [], "words under the label");
	check(written.length < all && written.length >= all - 2, `${written.length} of ${all} words`);
}

export const lookTests = [
	{ name: "unit: a hatch ends at its label", run: hatch },
	{ name: "unit: the axis gives way to labels", run: axis },
	{ name: "looks: the verdict on paper", run: print },
	{ name: "looks: a button prints", run: printButton },
	{ name: "looks: a phone", run: phone },
	{ name: "looks: a table on a phone", run: phoneTable },
	...(existsSync(join(TRACES, "jobs/h100x8_nanogpt"))
		? [{ name: "looks: narrow windows of a real job", run: narrow }]
		: []),
	{ name: "looks: titles name the run", run: titles },
	{ name: "looks: a filter that finds nothing", run: emptyFilter },
	{ name: "looks: tables use a wide screen", run: wide },
	{ name: "looks: a short title in the drawer", run: drawerTitle },
];

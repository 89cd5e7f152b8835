/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tips.mjs - the sentences of docs/glossary.md on hover, focus and tap: in the verdict, headings
 * and columns, in a report without a server, for screen readers and on a phone.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { check, equal } from "./harness.mjs";
import { load } from "./load.mjs";
import { verdictOf } from "./ways.mjs";

const GLOSSARY = resolve(dirname(fileURLToPath(import.meta.url)), "../../docs/glossary.md");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { width: 390, height: 844 };

/* The page of the docs, read anew: names and sentence of each row, without Markdown. */
function pageTerms() {
	const row = /^\| (?!term \|)([^|-][^|]*?) \| ([^|]+?) \|/gm;
	const rows = readFileSync(GLOSSARY, "utf8").matchAll(row);
	return [...rows].map(([, names, text]) => ({
		names: names.split(", "),
		text: text.replaceAll("`", "").replaceAll("*", ""),
	}));
}

function sentenceOf(name) {
	const found = pageTerms().find(({ names }) => names.includes(name));
	check(found, `docs/glossary.md has no term "${name}"`);
	return `${name}: ${found.text}`;
}

const tipOn = (page) => page.getByRole("tooltip");

async function tipSays(page, part, what) {
	await tipOn(page).waitFor({ timeout: 5000 });
	const said = await tipOn(page).innerText();
	check(said.includes(part), `${what} says "${said}", not "${part}"`);
}

/* Charts above may still push it down while the pointer arrives. */
async function hoverSays(page, element, part, what) {
	for (let tries = 0; tries < 4 && !(await tipOn(page).count()); tries++) {
		await element.hover();
		await tipOn(page).waitFor({ timeout: 1000 }).catch(() => page.mouse.move(1, 1));
	}
	await tipSays(page, part, what);
}

async function tipGoes(page, what) {
	await tipOn(page).waitFor({ state: "detached", timeout: 5000 }).catch(() => {
		check(false, `${what} leaves the tip open`);
	});
}

function glossaryInPage(harness) {
	const asked = JSON.parse(harness.command("ask", "offers", harness.simulate("ddp8-slow")));
	const want = pageTerms().flatMap(({ names, text }) => names.map((name) => ({ name, text })));
	const have = asked.terms.map(({ name, text }) => ({
		name,
		text: text.replaceAll("`", "").replaceAll("*", ""),
	}));
	check(pageTerms().length >= 40, `the glossary has only ${pageTerms().length} terms`);
	equal(have, want, "terms of the core and of docs/glossary.md");
}

async function termUnits() {
	const { cutAtTerms, learnTerms, termsOf } = await load("core/glossary.ts");
	learnTerms([
		{ name: "host sync", text: "a" },
		{ name: "sync", text: "a" },
		{ name: "gap", text: "b" },
		{ name: "straggler", text: "c" },
	]);
	const shown = (text, ...more) =>
		cutAtTerms(text, ...more).map((piece) =>
			typeof piece === "string" ? piece : [piece.shown],
		);
	equal(shown("Host syncs and gaps"), [["Host syncs"], " and ", ["gaps"]], "labels");
	equal(shown("2 gaps, a straggler"), ["2 ", ["gaps"], ", a ", ["straggler"]], "label");
	equal(shown("2 gaps, a straggler", true), ["2 gaps, a ", ["straggler"]], "sentence");
	equal(shown("host sync, then a sync"), [["host sync"], ", then a sync"], "one sentence once");
	equal(shown("gapless async host-syncs"), ["gapless async ", ["host-syncs"]], "words");
	const about = termsOf("idle", "a straggler causes gaps");
	equal(about.map((one) => one.name), ["straggler"], "terms of what explains a label");
	const code = ["f(straggler)", "straggler.py:3", "#straggler", "straggler()", "a/straggler"];
	for (const text of code) equal(shown(text, true), [text], "code");
	learnTerms([]);
	equal(shown("gap"), ["gap"], "without terms");
}

/* Hover, keyboard, Esc and the drawer: on the verdict. */
async function verdictTips(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const page = await harness.open(link);
	await verdictOf(page);
	await page.locator(".finding").first().waitFor();
	const step = page.locator(".sentence h2 button.term");
	const want = sentenceOf("step");

	equal(await tipOn(page).count(), 0, "tips before anything is touched");
	await step.hover();
	await tipSays(page, want, "hovering");
	const box = await tipOn(page).boundingBox();
	await page.mouse.move(box.x + 20, box.y + 10);
	await page.waitForTimeout(400);
	equal(await tipOn(page).count(), 1, "tips while the pointer is on one");
	await page.mouse.move(5, 790);
	await tipGoes(page, "moving away");

	await page.locator(".finding h3 button").first().click();
	await page.locator(".drawer").waitFor();
	await step.focus();
	await page.keyboard.press("Shift+Tab");
	await page.keyboard.press("Tab");
	await tipSays(page, want, "the keyboard");
	await page.keyboard.press("Escape");
	await tipGoes(page, "Escape");
	equal(await page.locator(".drawer").count(), 1, "drawers after the first Escape");
	await page.keyboard.press("Escape");
	await page.locator(".drawer").waitFor({ state: "detached" });

	const confidence = page.locator(".confidence").first();
	await confidence.hover();
	await tipSays(page, sentenceOf("confidence"), "confidence");
	const described = await page.evaluate(() =>
		[...document.querySelectorAll("[data-tip]")].filter((one) =>
			one
				.getAttribute("aria-describedby")
				?.split(" ")
				.some((id) => !document.getElementById(id)?.textContent),
		),
	);
	equal(described.length, 0, "anchors whose description is missing");
	await harness.close(page);
}

/* Columns and headings, in a report that is opened from a disk. */
async function reportTips(harness) {
	const file = join(harness.scratch, "tips.html");
	harness.command("report", harness.simulate("ddp8-slow"), "-o", file);
	const page = await harness.open(pathToFileURL(file).href, { offline: true });
	await verdictOf(page);
	await page.getByRole("tab", { name: "Gaps" }).click();
	const head = page.getByRole("columnheader", { name: /^idle/ }).getByRole("button").first();
	await hoverSays(page, head, sentenceOf("idle"), "the column idle");
	const about = await page.evaluate(
		(element) =>
			element
				.getAttribute("aria-describedby")
				.split(" ")
				.map((id) => document.getElementById(id).textContent),
		await head.elementHandle(),
	);
	check(about.length >= 2, `the column's own sentence is missing: ${about}`);
	await page.getByRole("button", { name: "Host syncs" }).focus();
	await page.keyboard.press("Shift+Tab");
	await page.keyboard.press("Tab");
	await tipSays(page, sentenceOf("host sync"), "the part Host syncs");
	await page.getByRole("tab", { name: "Overview" }).click();
	await tipGoes(page, "another tab");
	const gaps = page.locator(".card h2 button.term", { hasText: "Gaps" });
	await hoverSays(page, gaps, sentenceOf("gap"), "the heading Gaps");
	await harness.close(page);
}

/* Wrong for people with aids, with a tip open. */
async function axeFinds(page) {
	await page.evaluate(AXE);
	return page.evaluate(async () => {
		const { violations } = await window.axe.run();
		return violations.map((one) => `${one.id}: ${one.nodes[0]?.html}`);
	});
}

async function phoneTips(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	for (const colorScheme of ["light", "dark"]) {
		const page = await harness.open(link, {
			viewport: PHONE,
			hasTouch: true,
			isMobile: true,
			colorScheme,
		});
		await verdictOf(page);
		await page.locator(".finding").first().waitFor();
		const term = page.locator(".confidence").first();
		await term.tap();
		await tipSays(page, sentenceOf("confidence"), "a tap");
		const box = await tipOn(page).boundingBox();
		check(
			box.x >= 0 && box.x + box.width <= PHONE.width,
			`the tip is ${box.width} px wide at ${box.x}`,
		);
		equal(await axeFinds(page), [], `axe, ${colorScheme}`);
		await page.touchscreen.tap(PHONE.width - 5, 70);
		await tipGoes(page, "a tap elsewhere");
		await harness.close(page);
	}
}

export const tipTests = [
	{ name: "tips: the core has the glossary of the docs", run: glossaryInPage },
	{ name: "tips: terms in labels and sentences", run: termUnits },
	{ name: "tips: hover, keyboard and Escape on the verdict", run: verdictTips },
	{ name: "tips: columns and headings of a report on disk", run: reportTips },
	{ name: "tips: taps on a phone, and axe", run: phoneTips },
];

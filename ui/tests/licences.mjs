/* SPDX-License-Identifier: Apache-2.0 */
/*
 * licences.mjs - the help shows the licences of everything that is in the page, without a network.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check, equal } from "./harness.mjs";

const LISTED = resolve(import.meta.dirname, "../../third_party");

async function licences(harness) {
	const report = join(harness.scratch, "licences.html");
	harness.command("report", harness.simulate("gpu1-healthy"), "-o", report);
	const page = await harness.open(pathToFileURL(report).href);
	await page.getByRole("button", { name: /Help/ }).click();
	const shown = page.getByRole("dialog").locator(".licences details");
	const parts = JSON.parse(readFileSync(join(LISTED, "parts.json"), "utf8"));
	const inside = parts.filter((part) => part.in !== "loaded");
	const names = await shown.locator("summary").allInnerTexts();
	equal(
		names,
		["stepscope: Apache-2.0"].concat(
			inside.map((part) => `${part.name} ${part.version}: ${part.licence}`),
		),
		"what is listed",
	);
	for (const [i, part] of inside.entries()) {
		const one = shown.nth(i + 1);
		await one.locator("summary").click();
		const texts = await one.locator("pre").allTextContents();
		const kept = part.texts.map((name) => readFileSync(join(LISTED, name), "utf8"));
		check(texts.join() === kept.join(), `${part.name}: another text than the one that is kept`);
	}
	await harness.close(page);
}

export const licenceTests = [{ name: "licences: the help of a report shows them", run: licences }];

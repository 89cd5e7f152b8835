/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digests.mjs - a job of digests: tables, strips, and the trace of a rank where it lies.
 */
import { cpSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { check, equal, quiet } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

function makeDigests(harness) {
	const folder = join(harness.scratch, "digests");
	const traces = join(folder, "traces");
	mkdirSync(folder);
	cpSync(harness.simulate("ddp8-slow"), traces, { recursive: true });
	const digests = join(folder, "job");
	harness.command("digest", traces, "-o", digests);
	return { traces, digests, away: join(folder, "away") };
}

const TABS = ["Overview", "Operators", "Kernels", "Gaps", "Comm", "Steps", "Ranks", "Quality"];

async function testDigests(harness) {
	const { traces, digests, away } = makeDigests(harness);
	const { link } = await harness.serve(digests);
	const page = await harness.open(link);
	await verdictOf(page);
	const bar = page.getByRole("complementary", { name: "Digests" });
	check((await bar.innerText()).startsWith("8 ranks from digests"), await bar.innerText());
	for (const name of TABS) {
		await page.getByRole("tab", { name, exact: true }).click();
		await quiet(page);
		const body = await page.locator("#tab-body").innerText();
		check(
			!/has no events|which have no events/.test(body),
			`${name}: ${body.slice(0, 200)}`,
		);
	}
	await page.getByRole("tab", { name: "Kernels", exact: true }).click();
	await page
		.getByText(/from 8 digests/)
		.first()
		.waitFor();
	/* strips: something is drawn on the canvas of every rank */
	await page.getByRole("tab", { name: "Timeline" }).click();
	await page.getByRole("application").waitFor();
	const strips = harness.command(
		"ask",
		"strips?files=0,1&from=0&to=1000000000&pixels=64",
		digests,
	);
	check(
		strips.subarray(16, 80).some((value) => value > 0),
		"the strip of rank 0 is empty",
	);
	/* the trace of rank 3, where it lies */
	await bar.getByRole("combobox").selectOption({ label: "3" });
	await bar.getByRole("button", { name: "Open its trace" }).click();
	await page.waitForURL(/\?run=0000000000000003/);
	await page.getByRole("application").waitFor();
	equal(await bar.count(), 0, "the bar of digests in an open trace");
	await page.locator(".head", { hasText: "main thread" }).first().waitFor();
	await page.getByRole("button", { name: "All ranks" }).click();
	await bar.waitFor();
	/* and why not */
	renameSync(traces, away);
	await bar.getByRole("combobox").selectOption({ label: "4" });
	await bar.getByRole("button", { name: "Open its trace" }).click();
	await bar.getByText(/not where it was/).waitFor();
	await harness.close(page);
}

export const digestTests = [{ name: "digests: tables, strips, a rank's trace", run: testDigests }];

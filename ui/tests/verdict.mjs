/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.mjs - the first tab: findings, what-if, the way to the evidence.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sentence, time } from "./figures.mjs";
import { check, equal, TRACES } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

async function whatIf(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	const verdict = harness.json("diagnose", folder);
	await verdictOf(page);
	const boxes = page.getByRole("checkbox", { name: /^Fix/ });
	equal(await boxes.count(), verdict.findings.length, "fixes that can be ticked");
	await boxes.first().uncheck();
	const left = verdict.findings
		.slice(1)
		.map((one) => (one.rank === null ? one.rule : `${one.rule}=${one.rank}`));
	const then = harness.json("what-if", "--fix", left.join(","), folder);
	const wanted = time(then.fixed_step_ns);
	await page.getByRole("region", { name: /today's step/ }).getByText(wanted).first().waitFor();
	await page.waitForURL(/fix=/); /* the set stands in the address */
	await boxes.first().check();
	await page.getByText(time(verdict.fixed_step_ns)).first().waitFor();
	await harness.close(page);
}

async function evidence(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	const verdict = harness.json("diagnose", folder);
	await verdictOf(page);
	const articles = page.getByRole("article");
	equal(await articles.count(), verdict.findings.length, "findings");
	for (const [at, finding] of verdict.findings.entries()) {
		const said = await articles.nth(at).innerText();
		check(said.includes(finding.title), `finding ${at + 1} is not '${finding.title}'`);
		const cost = time(finding.cost_ns);
		check(said.includes(`saves ${cost}`), `its cost is not ${cost}`);
		check(said.includes(finding.fix.split("\n")[0]), "its fix is missing");
	}
	await articles.first().getByRole("button", { name: "Why we think so" }).click();
	await articles.first().getByRole("button", { name: "Show on timeline" }).click();
	await page.getByRole("application").waitFor();
	await page.waitForURL(/#\/timeline\?.*from=/);
	const flags = JSON.parse(harness.command("ask", "flags", folder)).flags;
	const window = new URLSearchParams(page.url().split("?")[1]);
	const place = flags[0].places[0];
	check(
		Number(window.get("from")) <= place.start_ns && Number(window.get("to")) >= place.end_ns,
		"the timeline does not show the place of the first finding",
	);
	await harness.close(page);
}

async function healthy(harness) {
	const folder = harness.simulate("ddp8-healthy");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	const verdict = harness.json("diagnose", folder);
	equal(sentence(verdict), null, "warnings of a healthy job");
	const said = await verdictOf(page);
	check(said.includes(time(verdict.step_ns)), `'${said}' does not say the step's time`);
	check(!said.includes("faster"), `'${said}' promises a healthy job a gain`);
	await harness.close(page);
}

/* Every part of the account with the command's figure; what nothing explains is said. */
async function account(harness) {
	const path = join(TRACES, "cuda/sync_records_event_multi_stream.json.gz");
	if (!existsSync(path)) return;
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	const verdict = harness.json("diagnose", path);
	const said = await verdictOf(page);
	check(said.includes("No rule explains"), `'${said}' passes over what is unexplained`);
	const bar = await page.locator(".account").innerText();
	for (const part of ["compute", "unexplained"])
		check(
			bar.includes(time(verdict.account[`${part}_ns`])),
			`the bar has no ${time(verdict.account[`${part}_ns`])} for '${part}': ${bar}`,
		);
	const card = await page.getByRole("article").first().innerText();
	check(card.includes(`${time(verdict.account.unexplained_ns)} unexplained`), card);
	await harness.close(page);
}

export const verdictTests = [
	{ name: "verdict: unticked fixes are replayed as what-if does", run: whatIf },
	{ name: "verdict: findings as the command has them, each with its place", run: evidence },
	{ name: "verdict: a healthy job", run: healthy },
	{ name: "verdict: the account of the step", run: account },
];

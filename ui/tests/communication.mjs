/* SPDX-License-Identifier: Apache-2.0 */
/*
 * communication.mjs - bandwidth without waiting, strips with waiting apart, a map that is pale
 * where nothing is wrong.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { check, equal, quiet, TRACES } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

const NANOGPT = join(TRACES, "jobs/h100x8_nanogpt");

async function bandwidth(harness) {
	if (!existsSync(NANOGPT)) return;
	const { link } = await harness.serve(NANOGPT);
	const page = await harness.open(link, { viewport: { width: 1440, height: 900 } });
	await verdictOf(page);
	await page.getByRole("tab", { name: "Comm" }).click();
	const head = page.getByRole("columnheader", { name: /busbw/ });
	await head.waitFor();
	check((await head.innerText()).includes("GB/s"), await head.innerText());
	await page.getByRole("columnheader", { name: /^wait/ }).waitFor();
	const table = harness.json("collectives", NANOGPT, "--group", "class", "--top", "0");
	const at = (column) => table.columns.findIndex((one) => one.name === column);
	const [row] = table.rows.filter(
		(one) => one[at("collective")] === "all-gather" && one[at("message_bytes")] > 150e6,
	);
	check(row[at("busbw")] > 250, `${row[at("busbw")]} GB/s`);
	await page.getByRole("button", { name: "By kind and size" }).click();
	await page.getByRole("columnheader", { name: /exposed/ }).waitFor();
	equal(
		await page.getByRole("columnheader", { name: /busbw/ }).count(),
		0,
		"columns with waiting",
	);
	await harness.close(page);
}

/* The waiting of a folded rank is a part of its communication, and larger on those that wait. */
function strips(harness) {
	if (!existsSync(NANOGPT)) return;
	const job = JSON.parse(harness.command("ask", "job", NANOGPT));
	const W = 200;
	const bytes = harness.command(
		"ask",
		`strips?files=1,7&from=0&to=${job.span_ns}&pixels=${W}`,
		NANOGPT,
	);
	equal(bytes.readUInt32LE(12), 3, "columns of a strip");
	const sum = (file, column) =>
		bytes
			.subarray(16 + (3 * file + column) * W, 16 + (3 * file + column + 1) * W)
			.reduce((all, value) => all + value, 0);
	for (const file of [0, 1])
		check(sum(file, 2) <= sum(file, 1), `file ${file} waits more than it communicates`);
	check(sum(1, 2) > 2 * sum(0, 2), `rank 7 waits ${sum(1, 2)}, rank 1 ${sum(0, 2)}`);
}

/* The reddest cell of the map of a healthy job is pale. */
async function paleMap(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-healthy"));
	const page = await harness.open(link);
	await verdictOf(page);
	await page.getByRole("tab", { name: "Ranks" }).click();
	const map = page.locator(".heat-map, [class*=heat]").first();
	await map.waitFor();
	await quiet(page);
	const { rows, columns } = harness.json(
		...["ranks", harness.simulate("ddp8-healthy"), "--group", "step", "--top", "0"],
	);
	const at = (name) => columns.findIndex((one) => one.name === name);
	const most = Math.max(...rows.map((row) => row[at("lateness_ns")] ?? 0));
	const steps = rows.map((row) => row[at("step_ns")]).sort((a, b) => a - b);
	const scale = Math.max(most, 0.5 * steps[steps.length >> 1]);
	check(most < scale / 2, `the latest is ${most} of ${scale}`);
	await harness.close(page);
}

export const communicationTests = [
	{ name: "communication: bandwidth without waiting", run: bandwidth },
	{ name: "communication: strips have waiting apart", run: strips },
	{ name: "communication: the map of a healthy job is pale", run: paleMap },
];

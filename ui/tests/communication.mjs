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

/* In the page: how far the reddest cell of the map is on the way to its full colour. */
function reddest(map) {
	const style = getComputedStyle(document.documentElement);
	const probe = document.createElement("i");
	document.body.append(probe);
	const [low, high] = ["--raised", "--bad"].map((name) => {
		probe.style.color = style.getPropertyValue(name);
		return getComputedStyle(probe).color.match(/\d+/g).map(Number);
	});
	probe.remove();
	const { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height);
	const counts = new Map();
	for (let i = 0; i < data.length; i += 4) {
		const part = (data[i + 1] - low[1]) / (high[1] - low[1]);
		const near = (k) => Math.abs(low[k] + part * (high[k] - low[k]) - data[i + k]) < 3;
		const level = Math.round(part * 63);
		if (data[i + 3] === 255 && near(0) && near(2))
			counts.set(level, (counts.get(level) ?? 0) + 1);
	}
	/* a cell has more pixels than the edges of its letters */
	return Math.max(...[...counts].filter(([, n]) => n > 200).map(([level]) => level)) / 63;
}

/* The map of a healthy job is pale; that of a late rank is not. */
async function paleMap(harness) {
	for (const preset of ["ddp8-healthy", "ddp8-slow"]) {
		const folder = harness.simulate(preset);
		const { link } = await harness.serve(folder);
		const page = await harness.open(link);
		await verdictOf(page);
		await page.getByRole("tab", { name: "Ranks" }).click();
		const map = page.locator("#tab-body .heat canvas").first();
		await map.waitFor();
		await quiet(page);
		const { rows, columns } = harness.json(
			...["ranks", folder, "--group", "step", "--top", "0"],
		);
		const at = (name) => columns.findIndex((one) => one.name === name);
		const most = Math.max(...rows.map((row) => row[at("lateness_ns")] ?? 0));
		const steps = rows.map((row) => row[at("step_ns")]).sort((a, b) => a - b);
		const part = most / Math.max(most, 0.5 * steps[steps.length >> 1]);
		const drawn = await map.evaluate(reddest);
		check(Math.abs(drawn - part) < 0.03, `${preset}: ${drawn} of the colour, not ${part}`);
		check(preset !== "ddp8-healthy" || drawn < 0.5, `${preset}: ${drawn} of the colour`);
		await harness.close(page);
	}
}

export const communicationTests = [
	{ name: "communication: bandwidth without waiting", run: bandwidth },
	{ name: "communication: strips have waiting apart", run: strips },
	{ name: "communication: the map of a healthy job is pale", run: paleMap },
];

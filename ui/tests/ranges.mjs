/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.mjs - ranges by Shift and dragging: their rows, their sums against the command, the
 * flame graph, CSV, the address.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check, equal, TRACES } from "./harness.mjs";
import { Line, selected, selectionIs, settle } from "./timeline.mjs";

const NANOGPT = join(TRACES, "jobs/h100x8_nanogpt");

/* The middle of a row, by what stands at the left of it. */
async function heightOf(page, name) {
	const box = await page.locator(".head", { hasText: name }).first().boundingBox();
	return box.y + Math.min(10, box.height / 2);
}

async function drag(line, [x0, y0], [x1, y1]) {
	const { mouse, keyboard } = line.page;
	await keyboard.down("Shift");
	await mouse.move(x0, y0);
	await mouse.down();
	await mouse.move(x1, y1, { steps: 6 });
	await mouse.up();
	await keyboard.up("Shift");
	await selectionIs(line.page, true);
	await settle(line.page);
}

/* Escape, and the range is gone from the address: a slow machine takes longer than settle(). */
async function clear(page) {
	await page.keyboard.press("Escape");
	await selectionIs(page, false);
	await settle(page);
}

function rangeOf(page) {
	const [kind, from, to, rows] = selected(page).split(".");
	return { kind, from: Number(from), to: Number(to), rows };
}

function cellsOf(line) {
	const cells = [];
	let cell = "";
	let quoted = false;
	for (const letter of line) {
		if (letter === '"') quoted = !quoted;
		else if (letter === "," && !quoted) {
			cells.push(cell);
			cell = "";
		} else cell += letter;
	}
	return [...cells, cell];
}

/* The table of a chip as objects, from its CSV. */
async function csvOf(page, chip) {
	await page.getByRole("button", { name: chip, exact: true }).click();
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.locator(".drawer").getByRole("button", { name: "CSV" }).click(),
	]);
	const text = readFileSync(await download.path(), "utf8");
	const [names, ...lines] = text.trimEnd().split("\r\n").map(cellsOf);
	return lines.map((cells) =>
		Object.fromEntries(cells.map((cell, i) => [names[i], cell])),
	);
}

const sum = (rows, column) => rows.reduce((all, row) => all + Number(row[column]), 0);

async function drags(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await Line.open(harness, folder, "?from=100000000&to=300000000");
	const { page } = line;
	const box = await line.canvas.boundingBox();
	const [left, right] = [box.x + 500, box.x + 800];
	const { tracks } = line.ask("tracks?file=0");
	const main = tracks.find((track) => track.kind === "main").track;
	const autograd = tracks.find((track) => track.kind === "autograd").track;

	const y = await heightOf(page, "main thread");
	await drag(line, [left, y], [right, y]);
	const one = rangeOf(page);
	equal([one.kind, one.rows], ["range", `0-${main}`], "a drag along one row");
	const asked = `range?from=${one.from}&to=${one.to}&limit=10000`;
	const alone = line.ask(`${asked}&rows=0-${main}`);
	const names = await csvOf(page, "By name");
	equal(names.length, alone.names.length, "names of one row");
	equal(sum(names, "self_ns"), alone.tracks[0].busy_ns, "own times of one row");
	check((await line.drawer().innerText()).includes("1 row of rank 0"), "how many rows");

	await page.keyboard.down("Shift");
	await page.mouse.click(right + 150, y);
	await page.keyboard.up("Shift");
	await settle(page);
	const wider = rangeOf(page);
	check(wider.to > one.to && wider.rows === one.rows, "Shift and a click do not extend it");
	await clear(page);

	await drag(line, [left, y], [right, await heightOf(page, "autograd thread")]);
	equal(rangeOf(page).rows, `0-${main}-${autograd}`, "a drag over two rows");
	await clear(page);
	await drag(line, [left, box.y + 40], [right, box.y + 40]);
	equal(rangeOf(page).rows, undefined, "a drag in the axis is of all rows");
	check((await line.drawer().innerText()).includes("all rows of 8 ranks"), "all rows");
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "Fold ranks" }).click();
	await settle(page);
	await drag(
		line,
		[left, await heightOf(page, "rank 2")],
		[right, await heightOf(page, "rank 3")],
	);
	equal(rangeOf(page).rows, "2_3", "a drag over two folded ranks");
	await line.close();
}

/* What a link holds is what another page shows. */
async function links(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await Line.open(
		harness,
		folder,
		"?from=0&to=300000000&at=range.150000000.250000000.0-3-10&range=device",
	);
	const { page } = line;
	const first = await line.drawer().innerText();
	check(first.includes("2 rows of rank 0") && first.includes("idle: input"), first);
	equal(selected(page), "range.150000000.250000000.0-3-10", "the address of a range");
	const other = await harness.open(line.link);
	await other.getByRole("tab").first().waitFor();
	await other.evaluate((to) => {
		location.hash = to;
	}, new URL(page.url()).hash);
	await other.locator(".drawer").getByText("idle: input").waitFor();
	equal(await other.locator(".drawer").innerText(), first, "the drawer behind a link");
	await harness.close(other);
	/* a range is a place, too: Back undoes the next one */
	await page.getByRole("tab", { name: "Kernels" }).click();
	await settle(page);
	await page.goBack();
	await line.drawer().getByText("idle: input").waitFor();
	equal(selected(page), "range.150000000.250000000.0-3-10", "the range after Back");
	await line.close();
}

/* A range of exactly one step has the figures that the command has for the step. */
async function checkStep(harness, folder, number) {
	const { files } = JSON.parse(harness.command("ask", "job", folder));
	const file = files.find((one) => one.rank === 0);
	const step = file.steps.find((one) => one.number === number);
	const at = `range.${step.start_ns}.${step.end_ns}.${file.file}`;
	const line = await Line.open(harness, folder, `?at=${at}`);
	const length = step.end_ns - step.start_ns;
	const scope = ["--rank", "0", "--step", String(number), "--top", "0"];

	const states = await csvOf(line.page, "Busy and idle");
	equal(sum(states, "time_ns"), length, "busy and idle of the step");
	const table = harness.json("gaps", folder, "--group", "cause", ...scope);
	const column = (name) => table.columns.findIndex((one) => one.name === name);
	const idle = new Map();
	for (const row of table.rows) {
		const cause = `idle: ${row[column("cause")]}`;
		idle.set(cause, (idle.get(cause) ?? 0) + row[column("idle_ns")]);
	}
	for (const [cause, ns] of idle)
		equal(Number(states.find((one) => one.state === cause)?.time_ns), ns, cause);
	equal(states.length, idle.size + 1, "states of the step");

	const names = await csvOf(line.page, "By name");
	const kernels = harness.json("kernels", folder, ...scope);
	const at2 = (name) => kernels.columns.findIndex((one) => one.name === name);
	check(kernels.rows.length > 3, "the step has kernels");
	for (const row of kernels.rows) {
		const name = row[at2("name")];
		const own = names.find((one) => one.name === name && one.where === "device");
		equal(Number(own?.total_ns), row[at2("total_ns")], `kernel ${name}`);
		equal(Number(own?.calls), row[at2("calls")], `calls of ${name}`);
	}
	const rows = await csvOf(line.page, "Rows");
	const categories = await csvOf(line.page, "By category");
	equal(sum(categories, "self_ns"), sum(rows, "busy_ns"), "categories sum to the rows");
	equal(sum(names, "self_ns"), sum(rows, "busy_ns"), "names sum to the rows");
	await line.close();
}

async function steps(harness) {
	await checkStep(harness, harness.simulate("ddp8-slow"), 2);
}

async function realSteps(harness) {
	if (existsSync(NANOGPT)) await checkStep(harness, NANOGPT, 1);
}

async function flames(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await Line.open(harness, folder, "?at=range.100000000.250000000.0-0&range=flame");
	const { page } = line;
	const answer = line.ask("range?from=100000000&to=250000000&rows=0-0");
	const flame = line.drawer().getByRole("application");
	await flame.waitFor();
	const hint = line.drawer().locator(".flame-hint");
	check((await hint.innerText()).includes("150 ms in total"), await hint.innerText());
	equal(answer.tree[0][4], answer.tracks[0].busy_ns, "the total of the row");
	await line.drawer().getByRole("searchbox").fill("aten::item");
	const found = answer.tree.filter((node) => answer.texts[node[1]] === "aten::item");
	check(found.length > 0, "the range holds aten::item");
	await hint.getByText(/with “aten::item”/).waitFor();
	await flame.focus();
	await page.keyboard.press("ArrowDown");
	const name = (await hint.innerText()).split(":")[0];
	check(answer.texts.some((text) => text.startsWith(name)), `the tree has no ${name}`);
	await line.close();
}

export const rangeTests = [
	{ name: "ranges: only the rows that were dragged over", run: drags },
	{ name: "ranges: rows are in the address", run: links },
	{ name: "ranges: one step has the command's figures", run: steps },
	{ name: "ranges: one step of a real job has the command's figures", run: realSteps },
	{ name: "ranges: a flame graph of the selection", run: flames },
];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.mjs - snapshots of memory on the page: dropped, served, in a report, beside traces.
 * Figures are those that the command prints.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, equal, PAGE, quiet, TRACES } from "./harness.mjs";
import { drop } from "./ways.mjs";

const MEMORY = join(TRACES, "memory");
const REAL = join(MEMORY, "gpu");

function picklesOf(folder) {
	if (!existsSync(folder)) return [];
	return readdirSync(folder)
		.filter((name) => name.endsWith(".pickle"))
		.map((name) => join(folder, name));
}

/* As format.ts writes it. */
function bytesText(bytes) {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let [value, unit] = [bytes, 0];
	while (Math.abs(value) >= 999.5 && unit < units.length - 1) {
		value /= 1000;
		unit++;
	}
	if (!unit) return `${Math.round(value)} B`;
	const size = Math.abs(value);
	const whole = size >= 99.95 || Number.isInteger(value);
	return `${value.toFixed(whole ? 0 : size >= 9.995 ? 1 : 2)} ${units[unit]}`;
}

function rowsOf(document) {
	const names = document.columns.map((column) => column.name);
	return document.rows.map((row) =>
		Object.fromEntries(names.map((name, i) => [name, row[i]])),
	);
}

/* The figures of the device that the page shows first: the first with events, or the first. */
function summaryOf(harness, path) {
	const rows = rowsOf(harness.json("snapshot", path, "summary"));
	return rows.find((row) => row.events > 0) ?? rows[0];
}

async function leadOf(page) {
	const lead = page.locator(".snapshot-lead");
	await lead.waitFor({ timeout: 30_000 });
	return (await lead.innerText()).trim();
}

async function compare(harness, page, path) {
	const said = await leadOf(page);
	const row = summaryOf(harness, path);
	if (row.reserved_bytes)
		check(
			said.includes(
				`At the end, ${bytesText(row.allocated_bytes)} is allocated of ` +
					`${bytesText(row.reserved_bytes)} reserved`,
			),
			`${path}: the page says: ${said}`,
		);
	const peak = row.peak_active_bytes;
	const words = peak === null ? "the peak is unknown" : `The peak was ${bytesText(peak)}`;
	check(said.includes(words), `${path}: the page says: ${said}, not ${words}`);
	const findings = rowsOf(harness.json("snapshot", path, "findings", "--device", row.device));
	const shown = await page.locator(".finding-box p:first-of-type").allInnerTexts();
	equal(
		shown,
		findings.map((finding) => finding.evidence),
		`${path}: findings`,
	);
}

async function droppedAll(harness) {
	const made = join(MEMORY, "synthetic_leak_oom.p4.pickle");
	const paths = [...picklesOf(REAL), ...(existsSync(made) ? [made] : [])];
	for (const path of paths) {
		const page = await harness.open(pathToFileURL(PAGE).href);
		await drop(page, [path]);
		await compare(harness, page, path);
		equal(await page.getByRole("tab").allInnerTexts(), ["Memory"], "tabs of a snapshot");
		await page.getByRole("grid").getByRole("row").nth(1).waitFor();
		await firstBlock(page);
		await harness.close(page);
	}
}

/* Whatever is recorded of a block, pointing at it and its details do not fail. */
async function firstBlock(page) {
	const map = page.locator(".map");
	await map.hover({ position: { x: 74, y: 6 } });
	await page.locator(".map-place .area-tip").waitFor();
	await map.click({ position: { x: 74, y: 6 } });
	await page.getByRole("complementary", { name: "Block" }).getByText(/^segment$/).waitFor();
	equal(await page.getByText("This part of the page failed").count(), 0, "parts that failed");
}

/* What the legend says is what the core drew; zoom, search, moments and stacks. */
async function used(harness) {
	const path = join(MEMORY, "synthetic_leak_oom.p4.pickle");
	if (!existsSync(path)) return;
	const { link, stop } = await harness.serve(path);
	const page = await harness.open(link);
	await compare(harness, page, path);
	const legend = page.getByRole("list", { name: /Holders/ });
	await legend.getByRole("button", { name: /activation/ }).waitFor();
	await page.getByRole("button", { name: "by line", exact: true }).first().click();
	await legend.getByRole("button", { name: /train\.py:43/ }).click();
	const panel = page.getByRole("complementary", { name: "Stack" });
	await panel.getByText(/train_step/).first().waitFor();
	const top = rowsOf(harness.json("snapshot", path, "holders", "--group", "stack"))[0];
	await panel.getByText(bytesText(top.peak_bytes)).first().waitFor();
	await page.getByRole("button", { name: "Show the peak" }).click();
	await page.getByRole("heading", { name: /blocks after event/ }).waitFor();
	const reserved = summaryOf(harness, path).peak_reserved_bytes;
	await page.getByText(`of ${bytesText(reserved)}`).first().waitFor();
	const chart = page.getByRole("img", { name: /Active memory/ });
	await chart.press("+");
	await page.getByRole("button", { name: "Show all", exact: true }).click();
	await page.getByLabel("Find a holder").fill("train.py");
	check((await legend.locator("li.off").count()) > 0, "the search dims nothing");
	for (const name of ["Leaks", "Allocations", "Segments", "Out of memory", "Settings"]) {
		await page.getByRole("button", { name, exact: true }).click();
		await page.getByRole("grid").waitFor();
	}
	await harness.close(page);
	stop();
}

/* Cells by the names of their columns, of a table that the command prints. */
function viewOf(harness, path, view, ...options) {
	return rowsOf(harness.json("snapshot", path, view, ...options));
}

function ask(harness, path, request) {
	return JSON.parse(harness.command("ask", request, path));
}

/* What the address keeps; it is written a moment after the page changed. */
async function ownOf(page, holds) {
	await page.waitForFunction(
		([name, value]) =>
			new URLSearchParams(location.hash.split("?")[1] ?? "").get(name) === value,
		holds,
		{ timeout: 5000 },
	);
}

async function openRow(page, part, row = 1) {
	await page.getByRole("button", { name: part, exact: true }).click();
	await page.getByRole("grid").getByRole("row").nth(row).click();
	const drawer = page.getByRole("complementary", { name: "Row" });
	await drawer.waitFor();
	return drawer;
}

/* Texts of a list, once it is drawn: the one before it stays until then. */
async function listed(list, wanted, what) {
	let found = [];
	for (let i = 0; i < 50; i++) {
		found = await list.allInnerTexts();
		if (JSON.stringify(found) === JSON.stringify(wanted)) return;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	equal(found, wanted, what);
}

/* Frames of Python at first, then all of them. */
async function checkStack(drawer, frames) {
	const words = (list) =>
		list.map((frame) =>
			frame.file && frame.file !== "??"
				? `${frame.file}:${frame.line} ${frame.name}`
				: frame.name,
		);
	const part = drawer.getByRole("region", { name: "Stack" });
	const list = part.getByRole("listitem");
	const python = frames.filter((frame) => frame.file?.endsWith(".py"));
	const main = words(python.length ? python : frames.filter((frame) => !frame.noise));
	await listed(list, main, "the main frames");
	if (main.length === frames.length) return;
	await part.getByRole("button", { name: `show all ${frames.length} frames` }).click();
	await listed(list, words(frames), "all frames");
	await part.getByRole("button", { name: "show the main frames" }).click();
}

/* The first frames of every stack that the core has of a line are in the drawer, one by one. */
async function holderRow(harness, page, path) {
	const [row] = viewOf(harness, path, "holders");
	const drawer = await openRow(page, "Holders");
	await drawer.getByRole("heading", { name: row.line, exact: true }).waitFor();
	const line = encodeURIComponent(row.line);
	const { count, stacks } = ask(harness, path, `stacks?line=${line}`);
	equal(
		stacks.reduce((sum, one) => sum + one.peak_bytes, 0),
		row.peak_bytes,
		"stacks of a line hold what the line holds",
	);
	await drawer.getByText(`${count} stacks end in this line`).waitFor();
	const frames = (number) => ask(harness, path, `stack?stack=${number}`).frames;
	for (const [i, one] of stacks.slice(0, 2).entries()) {
		await drawer.getByRole("button", { name: new RegExp(`^${i + 1}\\.`) }).click();
		await checkStack(drawer, frames(one.stack));
	}
	await drawer.getByRole("button", { name: "Show in the curve" }).click();
	await ownOf(page, ["find", row.line]);
	equal(
		await page.locator(".area-legend li:not(.off) button").count(),
		1,
		"holders that are looked for",
	);
	await drawer.getByRole("button", { name: "Show in the block map" }).click();
	const words = `${row.peak_blocks} blocks (${bytesText(row.peak_bytes)}) marked`;
	await page.locator(".map-words").getByText(words).waitFor();
	await page.getByRole("button", { name: "Clear marks" }).click();
}

/* One allocation: when, how long, who freed it, where it lay. */
async function allocationRow(harness, page, path) {
	const rows = viewOf(harness, path, "allocations");
	const at = rows.findIndex((row) => row.lifetime_ns !== null && row.freed_by);
	const drawer = await openRow(page, "Allocations", at + 1);
	const event = ask(harness, path, `event?event=${rows[at].event}`);
	equal(event.freed.at_ns - event.at_ns, rows[at].lifetime_ns, "its lifetime");
	equal(event.freed.line, rows[at].freed_by, "who freed it");
	equal(event.address, rows[at].address, "its address");
	await drawer.getByText(`freed by ${rows[at].freed_by} at event`).waitFor();
	const same = rows.filter((row) => row.line === rows[at].line);
	const total = bytesText(same.reduce((sum, row) => sum + row.bytes, 0));
	const all = drawer.getByRole("region", { name: "All allocations of this line" });
	await all.getByText(`${same.length} allocations, ${total} in total;`).waitFor();
	const freed = same.filter((row) => row.lifetime_ns !== null).length;
	await all.getByText(`; ${freed} freed`).waitFor();
	await all.getByRole("heading", { name: /^Allocations by lifetime/ }).waitFor();
	await drawer.getByRole("button", { name: "Show in the block map" }).click();
	await ownOf(page, ["marked", event.address]);
	const words = `1 block (${bytesText(event.bytes)}) marked`;
	await page.locator(".map-words").getByText(words).waitFor();
	await drawer.getByRole("button", { name: "Show in the curve" }).click();
	await ownOf(page, ["moment", String(event.event)]);
	const around = Math.max(8, Math.ceil((event.freed.event - event.event) / 10));
	const window = `${Math.max(0, event.event - around)}-${event.freed.event + around + 1}`;
	await ownOf(page, ["window", window]);
}

/* Rows of every table open the drawer with what the command says of them. */
async function rows(harness) {
	const path = join(MEMORY, "synthetic_leak_oom.p4.pickle");
	if (!existsSync(path)) return;
	const { link, stop } = await harness.serve(path);
	const page = await harness.open(link, { viewport: { width: 1280, height: 1400 } });
	await leadOf(page);
	await holderRow(harness, page, path);
	await allocationRow(harness, page, path);
	const [oom] = viewOf(harness, path, "oom");
	const failed = await openRow(page, "Out of memory");
	await failed.getByText(oom.would_help).waitFor();
	await failed.getByRole("region", { name: "Stack" }).getByText(oom.line).first().waitFor();
	const [leak] = viewOf(harness, path, "leaks");
	const leaks = await openRow(page, "Leaks");
	await leaks.getByRole("heading", { name: leak.line, exact: true }).waitFor();
	const [segment] = viewOf(harness, path, "segments");
	const segments = await openRow(page, "Segments");
	await segments.getByRole("heading", { name: segment.address, exact: true }).waitFor();
	await segments.getByRole("button", { name: "Show in the block map" }).click();
	await ownOf(page, ["marked", segment.address]);
	/* the address shows the same again */
	await page.reload();
	await segments.getByRole("heading", { name: segment.address, exact: true }).waitFor();
	await page.locator(".map-words").getByText("marked").waitFor();
	await page.keyboard.press("Escape");
	equal(await page.getByRole("complementary").count(), 0, "drawers after Esc");
	await harness.close(page);
	stop();
}

/* The window of the curve, out of the address. */
function windowOf(page) {
	const found = /window=(\d+)-(\d+)/.exec(page.url());
	return found ? [Number(found[1]), Number(found[2])] : null;
}

async function goesTo(page, act, place, what) {
	const all = page.getByRole("button", { name: "Show all", exact: true });
	await all.evaluate((one) => one.click());
	await page.waitForFunction(() => !location.hash.includes("window="));
	await act();
	await page.waitForFunction(() => location.hash.includes("window="));
	const [from, to] = windowOf(page);
	check(from <= place && place < to, `${what}: ${place} is not in ${from} to ${to}`);
}

/* The peak and what failed, by button and by key, on both axes. */
async function jumps(harness) {
	const path = join(MEMORY, "synthetic_leak_oom.p4.pickle");
	if (!existsSync(path)) return;
	const { link, stop } = await harness.serve(path);
	const page = await harness.open(link);
	await leadOf(page);
	const [device] = ask(harness, path, "job").snapshots[0].devices;
	const { peak_at_ns: peakNs } = summaryOf(harness, path);
	const oomNs = viewOf(harness, path, "oom")[0].at_ns;
	const chart = page.getByRole("img", { name: /Active memory/ });
	const peak = () => page.getByRole("button", { name: "Go to the peak" }).click();
	const failure = () => page.getByRole("button", { name: "Go to the failure" }).click();
	await goesTo(page, peak, device.peak_event, "the peak");
	await page.getByRole("heading", { name: /blocks after event/ }).waitFor();
	await goesTo(page, failure, device.ooms[0], "the failure");
	await goesTo(page, () => chart.press("p"), device.peak_event, "the key of the peak");
	await goesTo(page, () => chart.press("o"), device.ooms[0], "the key of the failure");
	await page.getByRole("button", { name: "time", exact: true }).click();
	await ownOf(page, ["axis", "time"]);
	const span = windowOf(page);
	check(span && span[0] <= oomNs && oomNs < span[1], `the other axis is elsewhere: ${span}`);
	await goesTo(page, peak, peakNs, "the peak in time");
	await goesTo(page, failure, oomNs, "the failure in time");
	await goesTo(page, () => chart.press("Shift+O"), oomNs, "the key of the one before");
	await chart.press("r");
	await page.waitForFunction(() => !location.hash.includes("window="));
	await harness.close(page);
	stop();
}

/* What is under the pointer: the stack of a series, a block; a click pins it. */
async function pointed(harness) {
	const path = join(MEMORY, "synthetic_leak_oom.p4.pickle");
	if (!existsSync(path)) return;
	const { link, stop } = await harness.serve(path);
	const page = await harness.open(link);
	await leadOf(page);
	await page.getByRole("button", { name: "by stack", exact: true }).first().click();
	const chart = page.getByRole("img", { name: /stacked by stack/ });
	const box = await chart.boundingBox();
	/* near the end, just above the axis: the series that has most at any moment */
	const position = { x: box.width - 30, y: 250 };
	const shown = page.waitForResponse((one) => one.url().includes("/stack?"));
	await chart.hover({ position });
	const under = await (await shown).json();
	const own = under.frames.filter((frame) => frame.own);
	const place = (frame) => `${frame.file.split("/").pop()}:${frame.line} ${frame.name}`;
	const tip = page.locator(".area-tip .frames-short");
	await tip.waitFor();
	const frames = await tip.getByRole("listitem").allInnerTexts();
	for (const frame of own)
		check(frames.includes(place(frame)), `no ${place(frame)} in ${frames}`);
	await chart.click({ position });
	const drawer = page.getByRole("complementary", { name: "Stack" });
	await drawer.getByText(bytesText(under.peak_bytes)).first().waitFor();
	await checkStack(drawer, under.frames);
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "Show the end" }).click();
	/* blocks of the end take the place of those before: the pointer's card would go with them */
	await quiet(page);
	await blockAt(harness, page, path);
	await harness.close(page);
	stop();
}

/* The first block of the first segment: by the pointer, then by keys. */
async function blockAt(harness, page, path) {
	const { segments } = ask(harness, path, "blocks");
	const [segment] = segments;
	const [, bytes, , , requested, , event] = segment.blocks[0];
	const map = page.locator(".map");
	await map.scrollIntoViewIfNeeded();
	await map.hover({ position: { x: 76, y: 6 } });
	await page.locator(".map-place .frames-short").waitFor();
	const words = await page.locator(".map-words").innerText();
	check(words.startsWith(`${bytesText(bytes)}, ${bytesText(requested)} requested`), words);
	await map.click({ position: { x: 76, y: 6 } });
	const drawer = page.getByRole("complementary", { name: "Block" });
	await drawer.getByText(segment.address).first().waitFor();
	await drawer.getByText(`Allocated at event ${event}`).waitFor();
	await page.mouse.move(0, 0);
	await map.press("ArrowRight");
	await map.press("ArrowDown");
	await map.press("ArrowRight");
	await map.press("Enter");
	const second = segments[1];
	const address = BigInt(second.address) + BigInt(second.blocks[1][0]);
	await drawer.getByText(`0x${address.toString(16)}`).first().waitFor();
}

async function reported(harness) {
	const path = join(MEMORY, "synthetic_normal.p4.pickle");
	if (!existsSync(path)) return;
	const report = join(harness.scratch, "snapshot.html");
	harness.command("report", path, "-o", report);
	const page = await harness.open(pathToFileURL(report).href, { offline: true });
	await compare(harness, page, path);
	await harness.close(page);
}

/* A folder with ranks and a snapshot: both are on the tab Memory. */
async function beside(harness) {
	const path = join(MEMORY, "synthetic_fragmentation.p4.pickle");
	if (!existsSync(path)) return;
	const folder = join(harness.scratch, "beside");
	const ranks = harness.simulate("gpu1-fp32-matmul");
	mkdirSync(folder);
	for (const name of readdirSync(ranks).filter((one) => one.startsWith("rank")))
		copyFileSync(join(ranks, name), join(folder, name));
	copyFileSync(path, join(folder, "rank0_memory.pickle"));
	const { quality } = harness.json("files", folder);
	equal(quality.unreadable_files, 0, "snapshots that views of traces cannot read");
	const { link, stop } = await harness.serve(folder);
	const page = await harness.open(link);
	await page.getByRole("tab", { name: "Memory" }).click();
	await page.getByRole("button", { name: "Snapshot", exact: true }).click();
	await compare(harness, page, path);
	await page.getByRole("button", { name: "Recording", exact: true }).click();
	await page.locator(".snapshot-lead").waitFor({ state: "detached" });
	await harness.close(page);
	stop();
}

/* The first run is before, the second after. */
async function compared(harness) {
	const [before, after] = ["synthetic_normal", "synthetic_leak"].map((name) =>
		join(MEMORY, `${name}.p4.pickle`),
	);
	if (!existsSync(before)) return;
	const { link, stop } = await harness.serve(before, "--compare", after);
	const page = await harness.open(link);
	const reply = page.waitForResponse((one) => one.url().includes("view/snapshot-diff"));
	await leadOf(page);
	await page.getByRole("button", { name: "Comparison", exact: true }).click();
	const shown = await (await reply).json();
	equal(shown.rows, harness.json("snapshot", before, after, "diff").rows, "the comparison");
	await page.getByRole("grid").getByText(rowsOf(shown)[0].line).first().waitFor();
	const all = rowsOf(harness.json("snapshot", before, after, "diff"));
	const sum = (name) => all.reduce((total, row) => total + row[name], 0);
	const said = await page.getByRole("region", { name: "Compared" }).innerText();
	const words = `${bytesText(sum("before_bytes"))} → ${bytesText(sum("after_bytes"))}`;
	check(said.includes(words), `the page says: ${said}, not ${words}`);
	await page.getByRole("grid").getByRole("row").nth(1).click();
	const drawer = page.getByRole("complementary", { name: "Row" });
	await drawer.getByRole("heading", { name: all[0].line, exact: true }).waitFor();
	/* stacks are those of the second run */
	const line = encodeURIComponent(all[0].line);
	const { stacks } = ask(harness, after, `stacks?line=${line}`);
	equal(
		stacks.reduce((total, one) => total + one.end_bytes, 0),
		all[0].after_bytes,
		"stacks of the line in the second run",
	);
	const [most] = stacks;
	const held = `${bytesText(most.end_bytes)} in ${most.end_blocks} blocks at the end`;
	await drawer.getByText(held).first().waitFor();
	await harness.close(page);
	stop();
}

/* Two snapshots in one folder: the later one with the one before it, or as one chooses. */
async function sideBySide(harness) {
	const names = ["synthetic_normal", "synthetic_leak", "synthetic_fragmentation"];
	const folder = join(harness.scratch, "three");
	if (!existsSync(join(MEMORY, `${names[0]}.p4.pickle`))) return;
	mkdirSync(folder);
	for (const [i, name] of names.entries())
		copyFileSync(join(MEMORY, `${name}.p4.pickle`), join(folder, `${i}.pickle`));
	const { link, stop } = await harness.serve(folder);
	const page = await harness.open(link);
	await leadOf(page);
	const compared = page.getByRole("region", { name: "Compared" });
	await compared.getByText("From 0.pickle to 1.pickle").waitFor();
	await page.getByLabel("Snapshot", { exact: true }).selectOption("2");
	await compared.getByText("From 1.pickle to 2.pickle").waitFor();
	await page.getByLabel("Compare with").selectOption("0");
	await compared.getByText("From 0.pickle to 2.pickle").waitFor();
	const reply = page.waitForResponse((one) => one.url().includes("view/snapshot-diff"));
	await compared.getByRole("button", { name: "Show line by line" }).click();
	const wanted = harness.json(
		"snapshot",
		join(folder, "0.pickle"),
		join(folder, "2.pickle"),
		"diff",
	);
	equal((await (await reply).json()).rows, wanted.rows, "the comparison of two of three");
	await harness.close(page);
	stop();
}

/* Every view of snapshots is on the page. */
async function everyView(harness) {
	const path = join(MEMORY, "synthetic_leak.p4.pickle");
	if (!existsSync(path)) return;
	const { views } = JSON.parse(harness.command("ask", "offers", path));
	const { link, stop } = await harness.serve(path);
	const page = await harness.open(link);
	const asked = new Set(["snapshot-diff"]); /* where there are two: above */
	page.on("request", (request) => {
		const found = /\/api\/ask\/view\/([a-z-]+)/.exec(request.url());
		if (found) asked.add(found[1]);
	});
	await leadOf(page);
	for (const part of await page.locator(".chips.strong").getByRole("button").all()) {
		await part.click();
		await quiet(page);
	}
	const missing = views.filter((view) => view.of_snapshot && !asked.has(view.name));
	equal(missing, [], "views that the tab does not show");
	await harness.close(page);
	stop();
}

/* What a snapshot shows stands in the verdict, and leads to it. */
async function told(harness) {
	const files = ["cpu_leak.pt.trace.json.gz", "cpu_leak.p4.pickle"].map((name) =>
		join(MEMORY, name),
	);
	if (!existsSync(files[0])) return;
	const { link, stop } = await harness.serve(...files);
	const page = await harness.open(link);
	const card = page.locator(".finding", { hasText: "Memory grows with every step" });
	await card.getByText("13.0 MB").first().waitFor();
	equal(await card.getByText(/saves \d/).count(), 0, "no cost in time");
	await card.getByText("Host memory grows").waitFor();
	await card.getByText("train.py:48 (forward)").waitFor();
	await card.getByRole("button", { name: "Open in Memory" }).click();
	await leadOf(page);
	await page.getByRole("heading", { name: /^Memory leak/ }).waitFor();
	await harness.close(page);
	stop();
}

export const snapshotTests = [
	{ name: "snapshot: every real one is dropped on the page", run: droppedAll, seconds: 30 },
	{ name: "snapshot: the curve, stacks, moments and tables", run: used },
	{ name: "snapshot: rows lead to the drawer", run: rows },
	{ name: "snapshot: the peak and failures, on both axes", run: jumps },
	{ name: "snapshot: the stack under the pointer", run: pointed },
	{ name: "snapshot: a report from disk", run: reported },
	{ name: "snapshot: several in one folder", run: sideBySide },
	{ name: "snapshot: two runs", run: compared },
	{ name: "snapshot: every view can be reached", run: everyView },
	{ name: "snapshot: beside the traces of a folder", run: beside },
	{ name: "snapshot: in the verdict of the run", run: told },
];

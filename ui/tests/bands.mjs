/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bands.mjs - one band an allocation, event by event, memory by phase. Figures are those of the
 * core: the picture is checked pixel by pixel against the curve, the words against the command.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, equal, PAGE, quiet, TRACES } from "./harness.mjs";
import { drop } from "./ways.mjs";

const LEAK = join(TRACES, "memory/synthetic_leak_oom.p4.pickle");
const TRAINING = join(TRACES, "memory/gpu/medium_512_training.pickle");
const TRACED = join(TRACES, "memory/cpu_leak.pt.trace.json.gz");

function ask(harness, path, request) {
	return JSON.parse(harness.command("ask", request, path));
}

function rowsOf(document) {
	const names = document.columns.map((column) => column.name);
	return document.rows.map((row) =>
		Object.fromEntries(names.map((name, i) => [name, row[i]])),
	);
}

function chartOf(page) {
	return page.getByRole("img", { name: /Active memory/ });
}

function statusOf(page) {
	return page.getByRole("group", { name: "Events one by one" }).getByRole("status");
}

async function byAllocation(page) {
	await page.getByRole("button", { name: "by allocation", exact: true }).click();
	await page.getByRole("img", { name: "Active memory, one band per allocation" }).waitFor();
}

/* The answer that the page got last, as columns. */
function readBands(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const [pixels, count, points] = [4, 8, 12].map((at) => view.getUint32(at, true));
	let at = 32;
	const take = (length, size, read) =>
		Array.from({ length }, () => {
			const value = read.call(view, at, true);
			at += size;
			return value;
		});
	const doubles = (length) => take(length, 8, view.getFloat64);
	const numbers = (length) => take(length, 4, view.getUint32);
	const found = { pixels, count, points, loose: doubles(pixels), smaller: doubles(pixels) };
	Object.assign(found, { bytes: doubles(count), madeNs: doubles(count) });
	Object.assign(found, { freedNs: doubles(count), address: take(count, 8, view.getBigUint64) });
	Object.assign(found, { offset: doubles(points), smallerCount: numbers(pixels) });
	Object.assign(found, { made: numbers(count), freed: numbers(count) });
	Object.assign(found, { stack: numbers(count), series: numbers(count) });
	Object.assign(found, { end: numbers(count), first: numbers(count) });
	return { ...found, pixel: numbers(points) };
}

function readHigh(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	return Array.from({ length: view.getUint32(4, true) }, (_, i) =>
		view.getFloat64(32 + 8 * i, true),
	);
}

/* Every pixel: the bands lie on each other without a gap and sum to the curve. */
function checkSums(bands, high, what) {
	const present = Array.from({ length: bands.pixels }, () => []);
	for (let band = 0; band < bands.count; band++) {
		const last = bands.first[band + 1] ?? bands.points;
		for (let point = bands.first[band]; point < last; point++) {
			const end = point + 1 < last ? bands.pixel[point + 1] : bands.end[band];
			for (let pixel = bands.pixel[point]; pixel < end; pixel++)
				present[pixel].push([bands.offset[point], bands.bytes[band]]);
		}
	}
	present.forEach((ones, pixel) => {
		let top = bands.loose[pixel];
		for (const [offset, bytes] of ones.sort((a, b) => a[0] - b[0])) {
			check(offset === top, `${what}: a gap at pixel ${pixel}: ${offset}, not ${top}`);
			top += bytes;
		}
		equal(top + bands.smaller[pixel], high[pixel], `${what}: sum of pixel ${pixel}`);
	});
}

/* Windows that the page was answered about, the last one last. */
function watch(page) {
	const answered = [];
	page.on("response", (response) => {
		if (response.url().includes("/bands?") && response.ok()) answered.push(response.url());
	});
	return answered;
}

/* The last window, asked for again. */
async function drawnOf(page, answered, harness, path) {
	for (let i = 0; i < 200 && !answered.length; i++) await page.waitForTimeout(50);
	await quiet(page);
	const { search } = new URL(answered.at(-1));
	const bands = harness.command("ask", `bands${search}`, path);
	const memory = harness.command("ask", `memory${search.replace(/&most=\d+/, "")}`, path);
	return { bands: readBands(bands), high: readHigh(memory) };
}

/* A pixel in the middle of a band that is easy to hit; null: all are thin. */
function target({ bands, high }) {
	const most = 1.05 * Math.max(...high);
	const thick = bands.bytes.map((bytes, band) => ({ bytes, band }));
	for (const { band, bytes } of thick.sort((a, b) => b.bytes - a.bytes)) {
		const last = bands.first[band + 1] ?? bands.points;
		for (let point = bands.first[band]; point < last; point++) {
			const end = point + 1 < last ? bands.pixel[point + 1] : bands.end[band];
			const pixel = Math.floor((bands.pixel[point] + end) / 2);
			const wide = end - bands.pixel[point] >= 8;
			const y = 258 * (1 - (bands.offset[point] + bytes / 2) / most);
			if (wide && (258 * bytes) / most > 4 && bands.made[band] !== 0xffffffff)
				return { band, position: { x: 64 + pixel, y } };
		}
	}
	return null;
}

async function drawn(harness) {
	for (const path of [LEAK, TRAINING, TRACED].filter(existsSync))
		await drawnOne(harness, path);
}

/* The card beside the pointer and the drawer tell what the core says of the event. */
async function pointed(harness, page, path, { bands, band, position }) {
	const event = bands.made[band];
	const found = ask(harness, path, `event?event=${event}`);
	equal(found.action, "alloc", "what a band is");
	equal(found.freed?.event ?? 0xffffffff, bands.freed[band], "when it was freed");
	equal(found.bytes, bands.bytes[band], "how large it is");
	const chart = chartOf(page);
	await chart.hover({ position });
	const words = event.toLocaleString("en-US");
	await page.locator(".area-tip").getByText(`allocated at event ${words}`).waitFor();
	await chart.click({ position });
	const panel = page.getByRole("complementary", { name: "Allocation" });
	await panel.getByText(`Allocated at event ${words}`).waitFor();
	if (found.line) await panel.getByRole("heading", { name: found.line }).waitFor();
	check((await page.evaluate(() => location.hash)).includes("drawn=allocation"), "the address");
}

async function drawnOne(harness, path) {
	const { link, stop } = await harness.serve(path);
	const page = await harness.open(link);
	await page.getByRole("tab", { name: "Memory" }).click();
	if (path === TRACED) await page.getByRole("button", { name: "Holders over time" }).click();
	const answered = watch(page);
	await byAllocation(page);
	const picture = await drawnOf(page, answered, harness, path);
	checkSums(picture.bands, picture.high, path);
	check(picture.bands.count > 50, `${path}: only ${picture.bands.count} bands`);
	const hit = target(picture);
	check(hit || path === TRAINING, `${path}: no band can be hit`);
	if (hit) await pointed(harness, page, path, { ...picture, ...hit });
	/* zoomed in: the same holds for another window */
	answered.length = 0;
	await chartOf(page).press("+");
	const closer = await drawnOf(page, answered, harness, path);
	checkSums(closer.bands, closer.high, `${path}, zoomed in`);
	await harness.close(page);
	stop();
}

/* Dropped: the core in the page lays the same bands; the link leads back to them. */
async function dropped(harness) {
	if (!existsSync(LEAK)) return;
	const page = await harness.open(pathToFileURL(PAGE).href, { colorScheme: "dark" });
	await drop(page, [LEAK]);
	await byAllocation(page);
	const legend = page.getByRole("list", { name: /Holders/ });
	await legend.getByRole("button", { name: /activation/ }).waitFor();
	await page.getByRole("button", { name: "by line", exact: true }).first().click();
	await legend.getByRole("button", { name: /train\.py:43/ }).waitFor();
	await chartOf(page).hover({ position: { x: 640, y: 240 } });
	await page.locator(".area-tip").getByText(/allocated at event/).waitFor();
	await harness.close(page);
}

/* Keys go from event to event and from peak to peak, wherever the focus is. */
async function stepped(harness) {
	if (!existsSync(LEAK)) return;
	const { link, stop } = await harness.serve(LEAK);
	const page = await harness.open(link);
	const status = statusOf(page);
	await status.getByText(/Step through/).waitFor();
	const reach = async (key, event) => {
		await page.keyboard.press(key);
		const found = ask(harness, LEAK, `event?event=${event}`);
		await status.getByText(`Event ${event.toLocaleString("en-US")} of`).waitFor();
		const said = await status.innerText();
		if (found.line) check(said.includes(found.line), `${said}: no ${found.line}`);
		const peak = found.peak === null ? null : `Peak ${found.peak} of ${found.peaks}.`;
		check(peak ? said.includes(peak) : !/Peak/.test(said), `${said}: not ${peak}`);
		const heading = `blocks after event ${event.toLocaleString("en-US")}`;
		await page.getByRole("heading", { name: heading }).waitFor();
	};
	await reach(".", 0);
	await reach(".", 1);
	await reach(".", 2);
	await reach(",", 1);
	const first = ask(harness, LEAK, "event?event=1&go=next-peak").event;
	const second = ask(harness, LEAK, `event?event=${first}&go=next-peak`).event;
	await reach("]", first);
	await reach("]", second);
	await reach("[", first);
	await page.getByRole("button", { name: "Next peak" }).click();
	await status.getByText(`Event ${second.toLocaleString("en-US")} of`).waitFor();
	/* the map is that of the event, and keeps the focus */
	const map = page.locator(".map");
	await map.focus();
	await reach(".", second + 1);
	check(await map.evaluate((one) => one === document.activeElement), "the map lost the focus");
	const blocks = ask(harness, LEAK, `blocks?event=${second + 1}`);
	await page.getByText(new RegExp(`^${blocks.segments.length} segments, `)).waitFor();
	/* letters of a search are letters */
	await page.getByLabel("Find a holder").fill("");
	await page.getByLabel("Find a holder").press(".");
	equal(await page.getByLabel("Find a holder").inputValue(), ".", "what is typed");
	await status.getByText(`Event ${(second + 1).toLocaleString("en-US")} of`).waitFor();
	await page.keyboard.press("Tab");
	await page.keyboard.press("?");
	await page.getByRole("dialog").getByText(/next and previous peak/).waitFor();
	await harness.close(page);
	stop();
}

/* What leaves the window brings it along. */
async function followed(harness) {
	if (!existsSync(LEAK)) return;
	const { link, stop } = await harness.serve(LEAK);
	const page = await harness.open(`${link}`);
	await statusOf(page).waitFor();
	await page.evaluate(() => {
		location.hash = `${location.hash.split("?")[0]}?window=20-40&moment=39`;
	});
	await statusOf(page).getByText("Event 39 of").waitFor();
	await page.keyboard.press(".");
	await statusOf(page).getByText("Event 40 of").waitFor();
	await page.waitForFunction(() => {
		const [, from, to] = /window=(\d+)-(\d+)/.exec(location.hash) ?? [];
		return Number(from) > 20 && Number(from) <= 40 && Number(to) > 40;
	});
	await harness.close(page);
	stop();
}

/* The table, its sentence, and a square a step, as the command has them. */
async function phased(harness) {
	for (const path of [LEAK, TRACED].filter(existsSync)) {
		const { link, stop } = await harness.serve(path);
		const page = await harness.open(link);
		await page.getByRole("tab", { name: "Memory" }).click();
		const part = page.getByRole("region", { name: "Memory by phase" });
		await part.waitFor();
		const document = harness.json("snapshot", path, "phases");
		const rows = rowsOf(document);
		equal(
			(await part.locator("tbody th").allInnerTexts()).map((text) => text.trim()),
			rows.map((row) => row.phase),
			`${path}: phases`,
		);
		equal(
			await part.locator("tbody tr td:nth-child(4)").allInnerTexts(),
			rows.map((row) => `${row.peaks} of ${row.steps}`),
			`${path}: steps that peak there`,
		);
		const said = document.notes.find((note) => /memory peaks in/.test(note));
		await part.getByText(said, { exact: true }).waitFor();
		const steps = rowsOf(harness.json("snapshot", path, "phases", "--group", "step"));
		const peaks = steps.filter((row) => row.peaks);
		const squares = part.getByRole("group", { name: "Where each step peaks" });
		equal(await squares.getByRole("button").count(), peaks.length, `${path}: squares`);
		const [peak] = peaks;
		await squares.getByRole("button", { name: `step ${peak.step}:` }).click();
		await statusOf(page).getByText(`Event ${peak.event.toLocaleString("en-US")} of`).waitFor();
		await harness.close(page);
		stop();
	}
}

/* The drawer of a trace's stack knows the trace, which is no snapshot of the job. */
async function tracedStack(harness) {
	if (!existsSync(TRACED)) return;
	const { link, stop } = await harness.serve(TRACED);
	const page = await harness.open(link);
	await page.getByRole("tab", { name: "Memory" }).click();
	await page.getByRole("button", { name: "Holders over time", exact: true }).click();
	await page.getByRole("button", { name: "by line", exact: true }).first().click();
	const legend = page.getByRole("list", { name: /Holders/ });
	await legend.getByRole("button", { name: /train\.py:37/ }).click();
	const panel = page.getByRole("complementary", { name: "Stack" });
	await panel.getByRole("heading", { name: /train\.py:37/ }).waitFor();
	await panel.getByText(/This stack holds/).waitFor();
	await harness.close(page);
	stop();
}

export const bandTests = [
	{ name: "bands: one an allocation, sums, the pointer, the drawer", run: drawn },
	{ name: "bands: dropped on the page, coloured by line", run: dropped },
	{ name: "memory steps: events and peaks with the keys", run: stepped },
	{ name: "memory steps: the window follows", run: followed },
	{ name: "memory phases: the table and its sentence", run: phased },
	{ name: "traced memory: the drawer of a stack", run: tracedStack },
];

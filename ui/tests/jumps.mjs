/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jumps.mjs - "Show on timeline": the call and the idle row are both in view, a straggler's
 * collective on its ranks, ranks that are not needed close again, Back and Forward.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { check, equal, TRACES } from "./harness.mjs";
import { address, Line, selected, settle, windowOf } from "./timeline.mjs";
import { verdictOf } from "./ways.mjs";

const STRAGGLER = join(TRACES, "jobs/torchrec_straggler");
const OWL = join(TRACES, "cuda/h100_owlv2.json.gz");
const PHONE = { viewport: { width: 390, height: 844 } };

/* Of a row that is higher so much must be seen: lanes below the call may be cut off. */
const SEEN_LEAST = 60;

/* The row of this name that is in the window of the rows; fails where it is not. */
async function inView(line, name) {
	const canvas = await line.canvas.boundingBox();
	const [top, bottom] = [canvas.y + 54, canvas.y + canvas.height];
	const boxes = [];
	for (const head of await line.page.locator(".head", { hasText: name }).all()) {
		const box = await head.boundingBox();
		const seen = box ? Math.min(box.y + box.height, bottom + 1) - Math.max(box.y, top - 1) : 0;
		if (box && seen >= Math.min(box.height, SEEN_LEAST)) return box;
		boxes.push(box);
	}
	check(false, `no row '${name}' from ${top} to ${bottom}: ${JSON.stringify(boxes)}`);
}

/* Ranks whose rows are shown, by the ribbons of their steps. */
async function openRanks(page) {
	const heads = await page.locator(".head.group.open strong").allInnerTexts();
	return [...new Set(heads.map((text) => text.trim()))].sort();
}

async function begin(harness, folder, options) {
	const line = new Line();
	Object.assign(line, { harness, folder });
	const { link } = await harness.serve(folder);
	line.page = await harness.open(link, options);
	await verdictOf(line.page);
	line.canvas = line.page.getByRole("application", { name: /^Timeline/ });
	return line;
}

async function showFinding(line, rule) {
	const { flags } = line.ask("flags");
	const flag = flags.find((one) => one.rule === rule);
	const { page } = line;
	if (!page.url().includes("#/verdict")) await page.getByRole("tab", { name: "Verdict" }).click();
	const card = page.getByRole("article", { name: flag.title });
	await card.getByRole("button", { name: "Show on timeline" }).click();
	await line.canvas.waitFor();
	await settle(page);
	/* the answer moves the window once more */
	await settle(page);
	return flag;
}

function checkWindow(line, ...spots) {
	const [from, to] = windowOf(line.page);
	for (const { start_ns, dur_ns, name } of spots)
		check(
			from <= start_ns && to >= start_ns + dur_ns,
			`${name} is not between ${from} and ${to}`,
		);
}

/* A call that the device waits for: selected, with its gap in the window and in view. */
async function checkCall(line, rule) {
	const flag = await showFinding(line, rule);
	const [place] = flag.places;
	equal(selected(line.page), `slice.${place.file}.${place.row}`, "what is selected");
	const call = line.ask(`slice?file=${place.file}&row=${place.row}`);
	check(call.gap?.is_cause, `${call.name} is not the cause of a gap`);
	checkWindow(line, call, call.gap);
	const { tracks } = line.ask(`tracks?file=${place.file}`);
	for (const track of [call.track, call.gap.track]) {
		const { name } = tracks.find((one) => one.track === track);
		await inView(line, name);
	}
	return place;
}

async function calls(harness) {
	const folder = harness.simulate("ddp8-slow");
	for (const options of [{}, PHONE]) {
		const line = await begin(harness, folder, options);
		const place = await checkCall(line, "input-stall");
		equal(await openRanks(line.page), [`rank ${place.file}`], "open ranks");
		const other = await checkCall(line, "sync-stall");
		equal(await openRanks(line.page), [`rank ${other.file}`], "open ranks after another");
		await line.close();
	}
}

async function realCalls(harness) {
	if (!existsSync(OWL)) return;
	const line = await begin(harness, OWL, {});
	await checkCall(line, "input-stall");
	/* rows in between are folded where they do not fit, and one click away */
	const fold = line.page.getByRole("button", { name: /folded row/ });
	if (!(await fold.count())) return line.close();
	equal(await fold.getAttribute("aria-expanded"), "false", "the rows between");
	await fold.click();
	await settle(line.page);
	equal(await fold.getAttribute("aria-expanded"), "true", "the rows between, opened");
	await line.close();
}

/* The longest waits cost nothing there: the GPU works meanwhile. */
async function dearestWait(harness) {
	const path = join(TRACES, "unseen/sam_amg.json.gz");
	if (!existsSync(path)) return;
	const line = await begin(harness, path, {});
	const place = await checkCall(line, "sync-stall");
	const { gap, dur_ns } = line.ask(`slice?file=${place.file}&row=${place.row}`);
	check(gap.dur_ns > dur_ns, `it waits ${dur_ns} ns, the GPU idles ${gap.dur_ns}`);
	equal(place.ns, gap.dur_ns, "what its fix saves");
	await line.close();
}

async function gapRows(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await begin(harness, folder, {});
	const { page } = line;
	await page.getByRole("tab", { name: "Gaps" }).click();
	const grid = page.getByRole("grid").first();
	await grid.locator(".table-rows [role=row]").first().waitFor();
	await grid.focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("t");
	await line.canvas.waitFor();
	await settle(page);
	const [kind, file, track, gap] = selected(page).split(".");
	equal(kind, "gap", "what a row of Gaps leads to");
	const answer = line.ask(`gap?file=${file}&track=${track}&gap=${gap}`);
	const guilty = answer.causes.find((one) => one.track !== null);
	checkWindow(line, { ...answer, name: "the gap" }, guilty);
	const { tracks } = line.ask(`tracks?file=${file}`);
	for (const number of [answer.track, guilty.track])
		await inView(line, tracks.find((one) => one.track === number).name);
	await line.close();
}

/* The late rank and others with their row of the collective, the rest as strips. */
async function checkStraggler(line, least) {
	const { collective } = await showFinding(line, "straggler");
	check(collective, "the finding has no collective");
	equal(selected(line.page), `slice.${collective.file}.${collective.row}`, "what is selected");
	const slice = line.ask(`slice?file=${collective.file}&row=${collective.row}`);
	const { members } = slice.collective;
	equal(slice.collective.last_rank, slice.rank, "the rank that came last");
	checkWindow(line, ...members);
	const open = await openRanks(line.page);
	check(open.includes(`rank ${slice.rank}`), `${open} does not have the late rank`);
	check(open.length >= least, `only ${open} are open`);
	/* every rank is in view, and each that is open has one row; the late one also the thread
	 * that was busy while its GPU was idle, if one call fills that time */
	for (const { rank } of members) await inView(line, `rank ${rank}`);
	const { file } = slice;
	const late =
		slice.before &&
		line.ask(`gap?file=${file}&track=${slice.before.track}&gap=${slice.before.gap}`).during;
	if (late) {
		const { tracks } = line.ask(`tracks?file=${file}`);
		await inView(line, tracks.find((one) => one.track === late.track).name);
		checkWindow(line, late);
	}
	const rows = await line.page.locator(".head.track").count();
	equal(rows, open.length + (late ? 1 : 0), "rows of the open ranks");
	return { slice, open, late };
}

async function stragglers(harness) {
	const line = await begin(harness, harness.simulate("ddp8-slow"), {});
	const { slice } = await checkStraggler(line, 3);
	/* a click opens all of a rank */
	const { page } = line;
	await page.locator(`[title^="Show all rows of rank ${slice.rank}:"]`).click();
	await settle(page);
	await page.locator(".head", { hasText: "main thread" }).first().waitFor();
	const { places } = await showFinding(line, "input-stall");
	const open = await openRanks(page);
	/* the rank that was opened by hand stays; the jump's other ranks are gone */
	check(open.includes(`rank ${places[0].file}`), `${open} lacks the new place`);
	check(open.length <= 2, `${open} are open after the next jump`);
	await line.close();
}

async function realStragglers(harness) {
	if (!existsSync(STRAGGLER)) return;
	const line = await begin(harness, STRAGGLER, {});
	const { late } = await checkStraggler(line, 4);
	equal(late?.name, "# running sparse arch", "what the host of the late rank did");
	await line.close();
}

/* What can be seen of the place, for comparing. */
async function placeOf(line) {
	await settle(line.page);
	const words = address(line.page);
	const names = ["from", "to", "at", "jump", "open"];
	return { words: names.map((name) => words.get(name)), open: await openRanks(line.page) };
}

async function goesBack(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await begin(harness, folder, {});
	const { page } = line;
	await page.getByRole("tab", { name: "Timeline" }).click();
	await line.canvas.waitFor();
	const first = await placeOf(line);
	equal(first.open, ["rank 0"], "ranks that are open at first");
	await showFinding(line, "input-stall");
	const second = await placeOf(line);
	await showFinding(line, "straggler");
	const third = await placeOf(line);
	await page.goBack();
	await page.goBack();
	equal(await placeOf(line), second, "after Back");
	await page.goBack();
	await page.goBack();
	equal(await placeOf(line), first, "after Back again");
	await page.goForward();
	await page.goForward();
	equal(await placeOf(line), second, "after Forward");
	await page.goForward();
	await page.goForward();
	equal(await placeOf(line), third, "after Forward again");
	/* a jump inside of the timeline is a place of its own, and a window that moved is kept */
	await line.canvas.focus();
	await page.keyboard.press("w");
	const moved = await placeOf(line);
	check(moved.words[0] !== third.words[0], "W did not zoom");
	await page.locator(".drawer").getByRole("button", { name: "Show on timeline" }).click();
	const fourth = await placeOf(line);
	check(fourth.words[0] !== moved.words[0], "Show on timeline did not frame it");
	await page.goBack();
	equal(await placeOf(line), moved, "after Back inside of the timeline");
	await line.close();
}

export const jumpTests = [
	{ name: "jumps: the call and the idle row, also on a phone", run: calls, seconds: 25 },
	{ name: "jumps: the call and the idle row of a real trace", run: realCalls },
	{ name: "jumps: the wait after which the GPU idles most", run: dearestWait },
	{ name: "jumps: a row of Gaps", run: gapRows },
	{ name: "jumps: a straggler's collective on its ranks", run: stragglers },
	{ name: "jumps: a straggler of a real job", run: realStragglers },
	{ name: "jumps: Back and Forward", run: goesBack, seconds: 20 },
];

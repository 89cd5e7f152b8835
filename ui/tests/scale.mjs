/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.mjs - jobs of hundreds of ranks: what is drawn, laid out and asked for does not grow with
 * them. Counts, never times.
 */
import { check, equal, quiet } from "./harness.mjs";

/* More than a screen has pixels for: a strip is one pixel high. */
const RANKS = 640;

function makeJob(harness) {
	const settings = "layers=1,stack=0,memory=0,shapes=0";
	const size = ["--ranks", String(RANKS), "--steps", "2", "--set", settings];
	return harness.simulate("small8-healthy", ...size);
}

async function verdictOf(page) {
	const heading = page.getByRole("heading", { name: /A step takes/ }).first();
	await heading.waitFor({ timeout: 120_000 });
}

async function go(page, place) {
	await page.evaluate((to) => {
		location.hash = to;
	}, place);
}

/* What the canvas does from here on: pictures that were placed, by frame. */
async function countPictures(page) {
	await page.evaluate(() => {
		const { prototype } = CanvasRenderingContext2D;
		const draw = prototype.drawImage;
		window.placed = [];
		const next = () => {
			window.placed.push(0);
			requestAnimationFrame(next);
		};
		next();
		prototype.drawImage = function count(...args) {
			window.placed[window.placed.length - 1]++;
			return draw.apply(this, args);
		};
	});
}

async function hold(page, key, ms) {
	await page.keyboard.down(key);
	await page.waitForTimeout(ms);
	await page.keyboard.up(key);
}

async function testStrips(harness) {
	const { link, stop } = await harness.serve(makeJob(harness));
	const page = await harness.open(link);
	const asked = [];
	page.on("request", (request) => {
		if (request.url().includes("/api/ask/strips")) asked.push(request.url());
	});
	await verdictOf(page);
	await go(page, "#/timeline");
	await page.getByRole("application").waitFor();
	await page.getByRole("button", { name: "Fold ranks" }).click();
	await page.waitForFunction(() => document.querySelectorAll(".head-thin").length > 5);
	await quiet(page);
	await countPictures(page);
	await page.getByRole("application").focus();
	await hold(page, "w", 600);
	await quiet(page);
	asked.length = 0;
	await hold(page, "d", 600);
	await quiet(page);
	const { most, frames, heads } = await page.evaluate(() => ({
		most: Math.max(...window.placed),
		frames: window.placed.filter((count) => count > 0).length,
		heads: document.querySelectorAll(".heads *").length,
	}));
	check(frames > 3, `the strips were drawn in ${frames} frames`);
	check(most < 60, `${most} pictures in one frame for ${RANKS} strips`);
	check(heads < 120, `${heads} elements beside ${RANKS} strips`);
	/* a screen of margin on each side: a short way along asks for nothing, or for little */
	check(asked.length < 8, `${asked.length} requests for strips on a short way`);
	await harness.close(page);
	stop();
}

async function testGaps(harness) {
	const { link, stop } = await harness.serve(makeJob(harness));
	const page = await harness.open(link);
	const answers = [];
	page.on("response", async (response) => {
		if (response.url().includes("view/gaps") && response.url().includes("group=gap"))
			answers.push(JSON.parse(await response.text()));
	});
	await verdictOf(page);
	await go(page, "#/gaps?group=gap");
	await page.locator("#tab-body table tbody tr").first().waitFor();
	await quiet(page);
	/* megabytes take a moment from the browser to the test */
	for (let i = 0; i < 200 && !answers.length; i++) await page.waitForTimeout(50);
	equal(answers.length, 1, "answers for the table of gaps");
	const [{ rows, row_count: all, columns }] = answers;
	check(all > 5000, `there are ${all} gaps`);
	equal(rows.length, 5000, "gaps that the page is sent");
	const share = columns.findIndex((column) => column.name === "idle_ns");
	const least = Math.min(...rows.map((row) => row[share]));
	check(rows[0][share] >= rows[4999][share] && rows[4999][share] === least, "those with most");
	const said = await page.locator("#tab-body").innerText();
	check(said.includes("The first 5,000 of"), "the table says that it is a part");
	await harness.close(page);
	stop();
}

/* While the core is busy with tables of all ranks, who waits sees how far it is; what the server
 * tells meanwhile, tests/serve/work.c looks at. */
async function testWork(harness) {
	const { link, stop } = await harness.serve(makeJob(harness));
	const page = await harness.open(link);
	await verdictOf(page);
	/* the table takes as long as the test looks at what is told meanwhile */
	let answer;
	const looked = new Promise((resolve) => {
		answer = resolve;
	});
	await page.route("**/api/ask/view/modules*", async (route) => {
		await looked;
		await route.continue();
	});
	await page.route("**/api/state", async (route) => {
		const response = await route.fetch();
		const work = { doing: "Computing the table", share: 0.25, done: 160, count: 640 };
		await route.fulfill({ response, json: { ...(await response.json()), work } });
	});
	await page.getByRole("tab", { name: "Modules" }).click();
	const bar = page.locator(".state-work progress").first();
	await bar.waitFor();
	equal(await bar.getAttribute("value"), "0.25", "the bar");
	const words = await page.locator(".state-work").first().innerText();
	equal(words.trim(), "Computing the table: 160 of 640", "what is told");
	answer();
	await bar.waitFor({ state: "hidden" });
	/* the page asks for the state until it is closed */
	await page.unrouteAll({ behavior: "ignoreErrors" });
	await page.context().close();
	stop();
}

/* Before the verdict: what the traces say that are read, then how long their steps take. */
async function testFirstAnswer(harness) {
	const { link, stop } = await harness.serve(harness.simulate("ddp8-healthy"));
	const page = await harness.open("about:blank");
	let told;
	let answer;
	const computed = new Promise((resolve) => {
		answer = resolve;
	});
	await page.route("**/api/state", async (route) => {
		const state = { traces: 37, steps: 148, steps_ns: 148 * 186e6, files: 1024, file: 37 };
		if (told) await route.continue();
		else await route.fulfill({ json: { state: "loading", ...state } });
	});
	await page.route("**/api/ask/view/diagnose*", async (route) => {
		await computed;
		await route.continue();
	});
	await page.goto(link);
	await page.getByText("37 traces read: 148 steps, 186 ms on average").waitFor();
	await page.getByText("file 38 of 1,024").waitFor();
	told = true;
	const wait = page.locator(".sentence-wait", { hasText: "Computing the verdict" });
	await wait.waitFor();
	const words = await wait.innerText();
	const said = /A recorded step takes (\S+ ms) \(median of (\d+)\)/.exec(words);
	check(said, `while the verdict is computed: ${words}`);
	answer();
	await verdictOf(page);
	const sentence = await page.getByRole("heading", { name: /A step takes/ }).first().innerText();
	check(Number.parseFloat(said[1]) > 0 && Number(said[2]) % 8 === 0, `${words}; ${sentence}`);
	await page.unrouteAll({ behavior: "ignoreErrors" });
	await page.context().close();
	stop();
}

export const scaleTests = [
	{ name: "scale: folded ranks take few pictures, elements and requests", run: testStrips },
	{ name: "scale: of all ranks' gaps those with most are sent", run: testGaps },
	{ name: "scale: a long answer says how far it is", run: testWork },
	{ name: "scale: something true before the verdict", run: testFirstAnswer },
];

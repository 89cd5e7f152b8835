/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guides.mjs - what five well-known guides on profiling ask their readers to do, done here: each
 * step is a few clicks, and what it must show. guides.md lists the same steps.
 *
 * With STEPSCOPE_PICTURES=FOLDER a picture is made after each step, to be looked at.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check, equal, quiet, TRACES } from "./harness.mjs";

const RESNET = "cuda/resnet50_workers0.pt.trace.json.gz";
const TABLE = new URL("guides.md", import.meta.url);
const PICTURES = process.env.STEPSCOPE_PICTURES;

/* One reader: a page, how often it was clicked, and what is on it. */
class Reader {
	constructor(page) {
		this.page = page;
		this.clicks = 0;
	}

	async click(locator) {
		this.clicks++;
		await locator.first().click();
		await quiet(this.page);
	}

	async tab(name) {
		await this.click(this.page.getByRole("tab", { name }));
	}

	async part(name) {
		await this.click(this.page.locator("#tab-body").getByRole("button", { name, exact: true }));
	}

	/* Waits until the tab says all of it. */
	async sees(...patterns) {
		const body = this.page.locator("#tab-body");
		let missing = patterns;
		for (let i = 0; i < 100 && missing.length; i++) {
			if (i) await this.page.waitForTimeout(100);
			const text = await body.innerText();
			missing = patterns.filter((pattern) => !pattern.test(text));
		}
		check(!missing.length, `the tab does not say ${missing}`);
	}

	/* The same for all of the page: the timeline's rows, the drawer. */
	async says(pattern) {
		let text = "";
		for (let i = 0; i < 100 && !pattern.test(text); i++) {
			if (i) await this.page.waitForTimeout(100);
			text = await this.page.locator("body").innerText();
		}
		check(pattern.test(text), `nowhere on the page: ${pattern}`);
	}
}

async function findingOf(reader, title) {
	const card = reader.page.getByRole("article", { name: title });
	await card.first().waitFor();
	await reader.click(card.first().getByRole("button", { name: "Show on timeline" }));
}

/* Guide, step, what it is done on, how many clicks at most, and how. */
/** @type {[string, string, string, number, (reader: Reader) => Promise<void>][]} */
const STEPS = [
	/* "Perfetto is the recommended viewer": layout, gaps, overlap, stragglers, input */
	["perfetto", "layout", "job", 1, async (reader) => {
		await reader.tab("Timeline");
		await reader.says(/rank 0[\s\S]*main thread[\s\S]*stream/);
	}],
	["perfetto", "gap", "trace", 1, async (reader) => {
		await findingOf(reader, /input/i);
		await reader.says(/enumerate\(DataLoader\)/);
	}],
	["perfetto", "overlap", "job", 1, async (reader) => {
		await reader.tab("Ranks");
		await reader.sees(/exposed communication/, /compute and communication/);
	}],
	["perfetto", "straggler", "slow", 1, async (reader) => {
		await findingOf(reader, /late|slow|rank/i);
		await reader.says(/last to arrive/);
	}],
	["perfetto", "search", "trace", 1, async (reader) => {
		await reader.tab("Timeline");
		await reader.page.keyboard.press("/");
		await reader.page.keyboard.type("aten::copy_");
		await reader.page.keyboard.press("Enter");
		await reader.says(/aten::copy_/);
	}],
	/* "Finding the bottleneck": six questions about one step */
	["bottleneck", "one step", "trace", 2, async (reader) => {
		await reader.tab("Timeline");
		await reader.click(reader.page.getByRole("button", { name: "Next step" }));
		await reader.says(/step/);
	}],
	["bottleneck", "longest gap", "trace", 1, async (reader) => {
		await reader.tab("Gaps");
		/* and what the host was in */
		await reader.sees(/input/i, /enumerate\(DataLoader\)/);
	}],
	["bottleneck", "small kernels", "trace", 2, async (reader) => {
		await reader.tab("Operators");
		await reader.part("Launches");
		await reader.sees(/short/i);
	}],
	["bottleneck", "copies", "trace", 2, async (reader) => {
		await reader.tab("Kernels");
		await reader.part("Copies");
		await reader.sees(/HtoD/i);
	}],
	["bottleneck", "input", "trace", 1, async (reader) => {
		await reader.tab("Overview");
		await reader.sees(/input\s+[\d.]+ ms\s+\d+ %[\s\S]*forward\s+[\d.]+ ms/);
	}],
	/* The TensorBoard plugin: its tabs */
	["tensorboard", "overview", "trace", 1, async (reader) => {
		await reader.tab("Overview");
		await reader.sees(/utili[sz]ation/i, /forward/i, /backward/i, /optimizer/i);
	}],
	["tensorboard", "operators by line", "stacks", 2, async (reader) => {
		await reader.tab("Operators");
		await reader.part("by source-line");
		await reader.sees(/\.py\(\d+\)/, /total of/);
	}],
	["tensorboard", "kernels", "trace", 1, async (reader) => {
		await reader.tab("Kernels");
		await reader.sees(/occupancy/i, /tensor cores/i, /blocks/i);
	}],
	["tensorboard", "memory", "snapshot", 1, async (reader) => {
		await reader.tab("Memory");
		await reader.sees(/reserved/i, /Memory by phase/);
	}],
	["tensorboard", "distributed", "job", 1, async (reader) => {
		await reader.tab("Ranks");
		await reader.sees(/compute/, /exposed communication/, /waiting for ranks/);
	}],
	/* "How to use torch.profiler": tables, memory, kernels, stacks */
	["profiler", "top operators", "trace", 1, async (reader) => {
		await reader.tab("Operators");
		await reader.sees(/device self/i, /host self/i, /total of/);
	}],
	["profiler", "memory by operator", "memory", 2, async (reader) => {
		await reader.tab("Memory");
		await reader.part("Holders");
		await reader.sees(/aten::/);
	}],
	["profiler", "stacks", "python", 1, async (reader) => {
		await reader.tab("Flame");
		await reader.sees(/in total/);
	}],
	["profiler", "measure again", "compared", 1, async (reader) => {
		await reader.tab("Compare");
		await reader.says(/faster|slower|step/i);
	}],
	/* The course: utilization, top kernels, intensity, overlap, memory */
	["course", "GPU utilization", "trace", 1, async (reader) => {
		await reader.tab("Overview");
		await reader.says(/80 %/);
	}],
	["course", "top kernels", "trace", 1, async (reader) => {
		await reader.tab("Kernels");
		await reader.sees(/total of/);
	}],
	["course", "arithmetic intensity", "trace", 2, async (reader) => {
		await reader.tab("Operators");
		await reader.part("Roofline");
		await reader.sees(/peak %/, /bound/, /compute|memory/);
	}],
	["course", "modules", "stacks", 1, async (reader) => {
		await reader.tab("Modules");
		await reader.says(/module/i);
	}],
	["course", "peak of a snapshot", "snapshot", 1, async (reader) => {
		await reader.tab("Memory");
		await reader.says(/peak/i);
	}],
];

/* What the steps are done on; without the real file a simulated one. */
function pathsOf(harness, what) {
	const real = {
		trace: RESNET,
		job: "jobs/h100x8_nanogpt",
		stacks: "cuda/rtx3060_stacks.json.gz",
		python: "cuda/h100_owlv2.json.gz",
		memory: RESNET,
		snapshot: "memory/gpu/medium_512_training.pickle",
	}[what];
	if (real && existsSync(join(TRACES, real))) return [join(TRACES, real)];
	if (what === "compared")
		return [harness.simulate("ddp8-slow"), "--compare", harness.simulate("ddp8-healthy")];
	if (what === "slow" || what === "job") return [harness.simulate("ddp8-slow")];
	return null;
}

async function walk(harness, guide) {
	const links = new Map();
	let number = 0;
	for (const [of, name, what, most, run] of STEPS) {
		if (of !== guide) continue;
		number++;
		const paths = pathsOf(harness, what);
		if (!paths) continue;
		if (!links.has(what)) links.set(what, await harness.serve(...paths));
		const page = await harness.open(links.get(what).link);
		await quiet(page);
		const reader = new Reader(page);
		try {
			await run(reader);
		} catch (error) {
			check(false, `${name}: ${error.message.split("\n")[0]}`);
		}
		check(reader.clicks <= most, `${name}: ${reader.clicks} clicks, ${most} are enough`);
		if (PICTURES) {
			mkdirSync(PICTURES, { recursive: true });
			await page.waitForTimeout(800);
			const file = `guide-${guide}-${number}-${name.replaceAll(" ", "-")}.png`;
			await page.screenshot({ path: join(PICTURES, file) });
		}
		await harness.close(page);
	}
	check(number > 0, `no steps of ${guide}`);
	for (const { stop } of links.values()) stop();
}

/* Steps of the table in docs/viewer.md, in its order; null: one that no click performs. */
const LISTED = [
	"layout",
	"gap",
	"overlap",
	"straggler",
	"search",
	null,
	"one step",
	"longest gap",
	"small kernels",
	"copies",
	"input",
	"overview",
	"operators by line",
	"kernels",
	"memory",
	"distributed",
	"top operators",
	null,
	"stacks",
	"measure again",
	"GPU utilization",
	"top kernels",
	"arithmetic intensity",
	"modules",
	"peak of a snapshot",
];

/* Ours takes no more than theirs, and the table says what the steps take. */
function counted() {
	const text = readFileSync(TABLE, "utf8");
	const table = text.slice(text.indexOf("| guide says |")).split("\n\n")[0].trim();
	const cells = (line) => line.split("|").map((cell) => cell.trim());
	const rows = table.split("\n").slice(2).map(cells);
	equal(rows.length, LISTED.length, "rows of the table");
	for (const [i, [, says, , theirs, , ours]] of rows.entries()) {
		check(Number(ours) <= Number(theirs), `${says}: ${ours} here, ${theirs} there`);
		const step = STEPS.find(([, name]) => name === LISTED[i]);
		/* `stepscope serve`, the clicks, and for the search its text */
		const typed = LISTED[i] === "search" ? 1 : 0;
		if (step) equal(Number(ours), 1 + step[3] + typed, `the table says of ${LISTED[i]}`);
	}
}

const GUIDES = ["perfetto", "bottleneck", "tensorboard", "profiler", "course"];

export const guideTests = [
	{ name: "unit: guides: the table of docs/viewer.md", run: counted },
	...GUIDES.map((guide) => ({
		name: `guides: ${guide}`,
		run: (harness) => walk(harness, guide),
	})),
];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.mjs - the flame graph: host and device, by what, in both orders, search, keys, cut names.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { check, equal, quiet, TRACES } from "./harness.mjs";
import { load } from "./load.mjs";
import { verdictOf } from "./ways.mjs";

const STACKS = join(TRACES, "cuda/rtx3060_stacks.json.gz");

async function units() {
	const { clipFrame, foldStack, hitsOf, readTrack } = await load("tabs/flame/flame-model.ts");
	const stack = [
		"thread 7",
		"train.py(3): main",
		"nn.Module: Net_0",
		"aten::mm",
		"gemm<float>",
	];
	equal(foldStack(stack, "thread"), stack, "by thread");
	equal(foldStack(stack, "calls"), stack.slice(1), "by calls");
	equal(foldStack(stack, "module"), ["nn.Module: Net_0", "gemm<float>"], "by module");
	equal(foldStack(stack, "line"), ["train.py(3): main", "gemm<float>"], "by line");
	equal(
		foldStack(["aten::mm"], "module"),
		["(no module around it)", "aten::mm"],
		"no module",
	);
	equal(clipFrame("a/b/train.py(3): forward", 10), "…: forward", "a line is cut at its file");
	equal(clipFrame("void at::native::fill<int>(int*)", 40), "at::native::fill<…>", "a kernel");
	equal(clipFrame("at::native::fill", 6), "…:fill", "namespaces go first");
	/* two calls in the order of time, one of them with one inside */
	const sheet = {
		from: 100,
		to: 200,
		start: [110, 150, 155],
		dur: [20, 40, 10],
		count: [1, 1, 3],
		label: [0, 1, 0xffffffff],
		color: [3, 3, 0],
		labels: ["late", "early"],
		tracks: new Map([
			[
				4,
				[
					{ lane: 0, begin: 0, end: 2 },
					{ lane: 1, begin: 2, end: 3 },
				],
			],
		]),
	};
	const root = readTrack(sheet, 4);
	const shape = (frame) => [frame.name, frame.start, frame.total, frame.children.map(shape)];
	equal(
		shape(root),
		[
			"all",
			0,
			100,
			[
				["late", 10, 20, []],
				["early", 50, 40, [["3 short calls", 55, 10, []]]],
			],
		],
		"in the order of time",
	);
	equal(
		hitsOf(root, "SHORT").map((frame) => frame.name),
		["3 short calls"],
		"what is found",
	);
}

async function tab(harness) {
	if (!existsSync(STACKS)) return;
	const { link } = await harness.serve(STACKS);
	const page = await harness.open(link);
	await verdictOf(page);
	await page.getByRole("tab", { name: "Flame" }).click();
	const panel = page.getByRole("tabpanel", { name: "Flame" });
	const flame = panel.getByRole("application");
	const hint = panel.locator(".flame-hint");
	await flame.waitFor();
	/* each choice is in the address, and shows the time that the view sums */
	for (const [name, group] of [
		["GPU time", "device"],
		["host time", "host"],
	]) {
		await panel.getByRole("button", { name }).click();
		const table = JSON.parse(
			harness.command("ask", `view/stacks?group=${group}&top=4000`, STACKS),
		);
		const at = table.columns.findIndex((column) => column.name === "time_ns");
		const total = table.rows.reduce((sum, row) => sum + row[at], 0);
		await hint.getByText(`${(total / 1e6).toFixed(0)} ms in total`).waitFor();
	}
	for (const by of ["thread", "module", "line"]) {
		await panel.getByRole("button", { name: `${by}s`, exact: true }).click();
		await page.waitForURL(new RegExp(`by=${by}`));
		await flame.waitFor();
	}
	await panel.getByRole("searchbox", { name: "Find a frame" }).fill("wait");
	await hint.getByText(/frames? with “wait”/).waitFor();
	await page.keyboard.press("Enter");
	await hint.getByText(/wait.*of the total/).waitFor();
	await panel.getByRole("searchbox", { name: "Find a frame" }).fill("");
	await panel.getByRole("button", { name: "in time order" }).click();
	await panel.getByRole("combobox", { name: "Thread or stream" }).selectOption("thread 0");
	await page.waitForURL(/track=/);
	/* the graph of the other thread takes the place of the first */
	await quiet(page);
	for (let i = 0; i < 40 && !(await hint.getByText(/of the total/).isVisible()); i++) {
		await flame.focus();
		for (const key of ["ArrowDown", "ArrowRight", "Enter"]) await page.keyboard.press(key);
		await page.waitForTimeout(250);
	}
	await hint.getByText(/of the total/).waitFor();
	await page.keyboard.press("Escape");
	/* a link opens the same */
	await page.reload();
	await panel.getByRole("combobox", { name: "Thread or stream" }).waitFor();
	equal(
		await panel.locator("option:checked").first().innerText(),
		"thread 0",
		"the thread of a link",
	);
	check((await panel.getByRole("alert").count()) === 0, "the tab shows an error");
	await harness.close(page);
}

/* Rows of a tree stand below each other by their depth. */
async function indented(harness) {
	if (!existsSync(STACKS)) return;
	const { link } = await harness.serve(STACKS);
	const page = await harness.open(`${link.replace("#", "#/operators?view=stacks&g=tree&")}`);
	await page.getByRole("tab", { name: "Operators" }).waitFor();
	await page.getByRole("button", { name: "Stacks" }).click();
	await page.getByRole("button", { name: "tree" }).click();
	const cell = page
		.getByRole("grid")
		.getByRole("gridcell")
		.filter({ hasText: /^ {2,}\S/ })
		.first();
	await cell.waitFor();
	equal(await cell.evaluate((one) => getComputedStyle(one).whiteSpace), "pre", "white space");
	await harness.close(page);
}

export const flameTests = [
	{ name: "unit: flame: what is summed, cut and found", run: units },
	{ name: "flame: host and device, both orders, search, keys, links", run: tab },
	{ name: "flame: trees are indented", run: indented },
];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ways.mjs - the ways in: dropped files, the demo, the server, a report from disk.
 */
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { sentence } from "./figures.mjs";
import { check, equal, PAGE, TRACES } from "./harness.mjs";

const RESNET = join(TRACES, "cuda/resnet50_workers0.pt.trace.json.gz");

/* A report that is larger cannot be mailed. */
const REPORT_BYTES_MAX = 6e6;

export async function verdictOf(page) {
	const panel = page.getByRole("tabpanel", { name: "Verdict" });
	const heading = panel.getByRole("heading", { name: /A step takes/ }).first();
	await heading.waitFor({ timeout: 30_000 });
	return (await heading.innerText()).trim();
}

/* What a button copies, once it has: pages copy while tests go on. */
export async function copiedBy(page, button) {
	await page.evaluate(() => navigator.clipboard.writeText(""));
	await button.click();
	const text = await page.waitForFunction(() => navigator.clipboard.readText());
	return await text.jsonValue();
}

export function tracesOf(folder) {
	return readdirSync(folder)
		.filter((name) => name.startsWith("rank"))
		.map((name) => join(folder, name));
}

/* Drops files as a hand would: the page gets a drop event with them. */
export async function drop(page, paths) {
	const files = paths.map((path) => ({
		name: path.split("/").at(-1),
		base64: readFileSync(path).toString("base64"),
	}));
	const transfer = await page.evaluateHandle((all) => {
		const made = new DataTransfer();
		for (const { name, base64 } of all) {
			const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
			made.items.add(new File([bytes], name));
		}
		return made;
	}, files);
	const zone = page.getByRole("region", { name: "Open traces" });
	await zone.dispatchEvent("dragover", { dataTransfer: transfer });
	await zone.dispatchEvent("drop", { dataTransfer: transfer });
}

async function dropped(harness) {
	const folder = harness.simulate("ddp8-slow");
	const page = await harness.open(pathToFileURL(PAGE).href);
	await drop(page, tracesOf(folder));
	equal(await verdictOf(page), sentence(harness.json("diagnose", folder)), "the verdict");
	await harness.close(page);
}

async function droppedReal(harness) {
	if (!existsSync(RESNET)) return;
	const page = await harness.open(pathToFileURL(PAGE).href);
	await drop(page, [RESNET]);
	equal(await verdictOf(page), sentence(harness.json("diagnose", RESNET)), "the verdict");
	await harness.close(page);
}

async function chosen(harness) {
	const folder = harness.simulate("gpu1-fp32-matmul");
	const page = await harness.open(pathToFileURL(PAGE).href);
	await page.locator('input[type="file"]').first().setInputFiles(tracesOf(folder));
	equal(await verdictOf(page), sentence(harness.json("diagnose", folder)), "the verdict");
	await harness.close(page);
}

async function demo(harness) {
	const page = await harness.open(pathToFileURL(PAGE).href);
	const said = await page.getByRole("main").innerText();
	check(said.includes("torch.profiler"), "the welcome page does not say how to record");
	await page.getByRole("button", { name: /demo/ }).click();
	equal(
		await verdictOf(page),
		sentence(harness.json("diagnose", harness.simulate("ddp8-slow"))),
		"the verdict of the demo",
	);
	await harness.close(page);
}

async function broken(harness) {
	const folder = harness.simulate("ddp8-slow");
	const cut = join(harness.scratch, "rank9.json");
	const plain = join(harness.scratch, "notes.json");
	const whole = gunzipSync(readFileSync(join(folder, "rank1.json.gz")));
	writeFileSync(cut, whole.subarray(0, whole.length / 2));
	writeFileSync(plain, '{"hello": "world"');
	const page = await harness.open(pathToFileURL(PAGE).href);
	await drop(page, [join(folder, "rank0.json.gz"), cut, plain]);
	await verdictOf(page);
	await page.getByRole("tab", { name: /Quality/ }).click();
	await page.getByRole("tabpanel", { name: /Quality/ }).getByText("notes.json").first().waitFor();
	await harness.close(page);
}

async function noTrace(harness) {
	const path = join(harness.scratch, "list.json");
	writeFileSync(path, "[1, 2, 3]");
	const page = await harness.open(pathToFileURL(PAGE).href);
	await drop(page, [path]);
	await page.getByText(/list\.json/).first().waitFor();
	check(!(await page.getByRole("tab").count()), "a file that is no trace opens the tabs");
	await harness.close(page);
}

async function served(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link, server } = await harness.serveAlone(folder);
	const begin = performance.now();
	const page = await harness.open(link);
	const said = await verdictOf(page);
	console.log(`       first view ${(performance.now() - begin).toFixed(0)} ms after the link`);
	equal(said, sentence(harness.json("diagnose", folder)), "the verdict");
	check(!page.url().includes("token"), "the token stays in the address");
	server.kill("SIGINT");
	await new Promise((resolve) => server.on("exit", resolve));
	await page.getByRole("tab", { name: "Kernels" }).click();
	await page.getByText(/stepscope serve/).first().waitFor();
	page.problems.length = 0; /* the browser says that the server is gone, too */
	await harness.close(page);
}

/* A copied link, opened in a browser that has never seen the server. */
async function linked(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const permissions = ["clipboard-read", "clipboard-write"];
	const page = await harness.open(link, { permissions });
	await verdictOf(page);
	await page.getByRole("tab", { name: "Kernels" }).click();
	await page.getByRole("combobox", { name: /rank/ }).selectOption("3");
	await page.getByRole("grid").getByRole("row").nth(2).click();
	await page.waitForURL(/rank=3.*at=row/);
	const there = page.url();
	const copied = await copiedBy(page, page.getByRole("button", { name: "Copy link" }));
	check(copied.includes("token="), `'${copied}' has no token`);
	await harness.close(page);
	const other = await harness.open(copied);
	await other.getByRole("grid").getByRole("row").nth(1).waitFor();
	equal(other.url(), there, "the place of the link");
	equal(
		await other.getByRole("combobox", { name: /rank/ }).inputValue(),
		"3",
		"the rank of the link",
	);
	await harness.close(other);
}

async function reported(harness) {
	const path = existsSync(RESNET) ? RESNET : harness.simulate("gpu1-fp32-matmul");
	const report = join(harness.scratch, "report.html");
	harness.command("report", path, "-o", report);
	const bytes = statSync(report).size;
	console.log(`       report.html has ${(bytes / 1e6).toFixed(2)} MB`);
	check(bytes <= REPORT_BYTES_MAX, `report.html has ${bytes} bytes`);
	const page = await harness.open(pathToFileURL(report).href, { offline: true });
	equal(await verdictOf(page), sentence(harness.json("diagnose", path)), "the verdict");
	await page.getByRole("tab", { name: "Kernels" }).click();
	await page.getByRole("grid").getByRole("row").nth(1).waitFor();
	await harness.close(page);
}

export const wayTests = [
	{ name: "ways: eight ranks are dropped on the page", run: dropped },
	{ name: "ways: a real trace is dropped on the page", run: droppedReal },
	{ name: "ways: files are chosen", run: chosen },
	{ name: "ways: the demo", run: demo },
	{ name: "ways: a cut and a bad file among good ones", run: broken },
	{ name: "ways: a file that is no trace", run: noTrace },
	{ name: "ways: the server, and what the page says when it is gone", run: served },
	{ name: "ways: a copied link opens the same place elsewhere", run: linked },
	{ name: "ways: a report from disk, without network", run: reported },
];

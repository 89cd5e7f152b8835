/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drops.mjs - files and folders from the system's file manager, dropped through the browser's
 * own protocol: what a page may do with them depends on where it was opened from.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { sentence } from "./figures.mjs";
import { check, equal, PAGE } from "./harness.mjs";
import { tracesOf, verdictOf } from "./ways.mjs";

/* Drops paths in the middle of a place. */
export async function dropPaths(page, place, paths) {
	const browser = await page.context().newCDPSession(page);
	const box = await place.boundingBox();
	const event = {
		x: box.x + box.width / 2,
		y: box.y + Math.min(box.height / 2, 20),
		data: { items: [], files: paths, dragOperationsMask: 1 },
	};
	for (const type of ["dragEnter", "dragOver", "drop"])
		await browser.send("Input.dispatchDragEvent", { type, ...event });
	await browser.detach();
}

export function zone(page) {
	return page.getByRole("region", { name: "Open traces" });
}

async function files(harness) {
	const folder = harness.simulate("ddp8-slow");
	const page = await harness.open(pathToFileURL(PAGE).href);
	await dropPaths(page, zone(page), tracesOf(folder));
	equal(await verdictOf(page), sentence(harness.json("diagnose", folder)), "the verdict");
	await harness.close(page);
}

/* Ranks in folders of folders, beside what is no trace. */
async function folder(harness) {
	const top = join(harness.scratch, "dropped-run");
	for (const path of tracesOf(harness.simulate("ddp8-slow"))) {
		const name = path.split("/").at(-1);
		const host = join(top, `host${name.charCodeAt(4) % 2}`);
		mkdirSync(host, { recursive: true });
		cpSync(path, join(host, name));
	}
	writeFileSync(join(top, "model.bin"), "weights");
	const page = await harness.open(pathToFileURL(PAGE).href);
	await dropPaths(page, zone(page), [top]);
	equal(await verdictOf(page), sentence(harness.json("diagnose", top)), "the verdict");
	const name = await page.locator(".header .run").innerText();
	equal(name, "dropped-run", "the name of the run");
	await harness.close(page);
}

async function empty(harness) {
	const top = join(harness.scratch, "no-traces");
	mkdirSync(top);
	const page = await harness.open(pathToFileURL(PAGE).href);
	await dropPaths(page, zone(page), [top]);
	await page.getByText("No trace found there").waitFor();
	await harness.close(page);
}

/* A second run on Compare: of a page from disk, and of a report. */
async function compared(harness) {
	const before = harness.simulate("ddp8-slow");
	const after = join(harness.scratch, "after");
	mkdirSync(after);
	for (const path of tracesOf(harness.simulate("ddp8-healthy")))
		cpSync(path, join(after, path.split("/").at(-1)));
	const report = join(harness.scratch, "dropped-on.html");
	harness.command("report", before, "-o", report);
	for (const path of [PAGE, report]) {
		const page = await harness.open(pathToFileURL(path).href);
		if (path === PAGE) await dropPaths(page, zone(page), tracesOf(before));
		await verdictOf(page);
		await page.getByRole("tab", { name: "Compare" }).click();
		const place = page.locator(".compare-drop");
		await place.waitFor();
		await dropPaths(page, place, [after]);
		await page.getByRole("grid").first().waitFor();
		await harness.close(page);
	}
}

/* Anywhere on the page, not only in the middle of it. */
async function beside(harness) {
	const page = await harness.open(pathToFileURL(PAGE).href);
	const folder = harness.simulate("gpu1-fp32-matmul");
	await dropPaths(page, page.getByRole("heading", { name: "stepscope" }), tracesOf(folder));
	equal(await verdictOf(page), sentence(harness.json("diagnose", folder)), "the verdict");
	check(page.url().includes("index.html"), "the browser left the page for the file");
	await harness.close(page);
}

/* .zst and packs as `stepscope pack` writes them; a trace beside its pack is not read twice. */
async function compressed(harness) {
	const folder = harness.simulate("ddp8-slow");
	const zst = join(harness.scratch, "zst-run");
	const packs = join(harness.scratch, "pack-run");
	for (const top of [zst, packs]) mkdirSync(top, { recursive: true });
	for (const path of tracesOf(folder)) {
		const name = path.split("/").at(-1).replace(".gz", "");
		writeFileSync(join(zst, name), gunzipSync(readFileSync(path)));
		spawnSync("zstd", ["-q", "--rm", join(zst, name)]);
		cpSync(path, join(packs, `${name}.gz`));
	}
	harness.command("pack", packs);
	const said = sentence(harness.json("diagnose", folder));
	for (const top of [zst, packs]) {
		const page = await harness.open(pathToFileURL(PAGE).href);
		await dropPaths(page, zone(page), [top]);
		equal(await verdictOf(page), said, `the verdict of ${top.split("/").at(-1)}`);
		const words = await page.locator(".header .run-words").innerText();
		check(words.startsWith("8 ranks"), `${top}: the header says ${words}`);
		await harness.close(page);
	}
	/* what comes before damage is read, as the command reads it */
	const broken = join(harness.scratch, "broken.json.zst");
	const bytes = readFileSync(join(zst, "rank0.json.zst"));
	bytes.fill(0x5a, bytes.length >> 1, (bytes.length >> 1) + 64);
	writeFileSync(broken, bytes);
	const page = await harness.open(pathToFileURL(PAGE).href);
	await dropPaths(page, zone(page), [broken]);
	equal(
		await verdictOf(page),
		sentence(harness.json("diagnose", broken)),
		"of a broken file",
	);
	await harness.close(page);
}

/* On an open run it is asked what the files are. */
async function onOpenRun(harness) {
	const [first, ...rest] = tracesOf(harness.simulate("ddp8-slow"));
	const page = await harness.open(pathToFileURL(PAGE).href);
	await dropPaths(page, zone(page), [first]);
	await verdictOf(page);
	const words = page.locator(".header .run-words");
	check((await words.innerText()).startsWith("1 rank"), "one file is not one rank");
	const dialog = page.getByRole("dialog", { name: /dropped file/ });
	const middle = page.locator("#tab-body");
	await dropPaths(page, middle, rest);
	await dialog.getByRole("button", { name: "Cancel" }).click();
	check((await words.innerText()).startsWith("1 rank"), "Cancel opens the files");
	await dropPaths(page, middle, rest);
	await dialog.getByRole("button", { name: "Add to this run" }).click();
	equal(
		await verdictOf(page),
		sentence(harness.json("diagnose", harness.simulate("ddp8-slow"))),
		"the verdict of all ranks",
	);
	await dropPaths(page, middle, tracesOf(harness.simulate("ddp8-healthy")));
	await dialog.getByRole("button", { name: "Compare with this run" }).click();
	await page
		.getByRole("tabpanel", { name: "Compare" })
		.getByText(/B's step takes/)
		.waitFor();
	const other = tracesOf(harness.simulate("gpu1-fp32-matmul"));
	await dropPaths(page, page.locator("#tab-body"), other);
	await dialog.getByRole("button", { name: "Open instead" }).click();
	await page.getByRole("tab", { name: "Verdict" }).click();
	equal(
		await verdictOf(page),
		sentence(harness.json("diagnose", harness.simulate("gpu1-fp32-matmul"))),
		"the verdict of the files that replaced the run",
	);
	await harness.close(page);
}

/*
 * In the page: cancels as soon as it says how much it has read, and the memory for that. From
 * outside a busy machine would come too late: a small file is read by then.
 */
export function cancelAtFirst() {
	let [said, cancelledAt] = ["", 0];
	const watch = new MutationObserver(() => {
		const words = document.body.innerText;
		if (cancelledAt && document.querySelector(".welcome")) {
			watch.disconnect();
			const ms = performance.now() - cancelledAt;
			globalThis.cancelled = { words: said, ms };
		} else if (!cancelledAt && /[kM]B of [\d.]+ MB[\s\S]*of memory; a page/.test(words)) {
			[said, cancelledAt] = [words, performance.now()];
			const buttons = [...document.querySelectorAll("button")];
			buttons.find((one) => one.innerText === "Cancel").click();
		}
	});
	watch.observe(document.body, { subtree: true, childList: true, characterData: true });
}

/* What loads says how much memory it takes, and Cancel ends it at once. */
async function cancelled(harness) {
	const path = join(harness.scratch, "large.json");
	const [trace] = tracesOf(harness.simulate("gpu1-fp32-matmul"));
	const events = JSON.parse(gunzipSync(readFileSync(trace))).traceEvents;
	const text = JSON.stringify(events).slice(1, -1);
	const copies = Math.ceil(150e6 / text.length);
	writeFileSync(path, `{"traceEvents":[${Array(copies).fill(text).join(",")}]}`);
	const page = await harness.open(pathToFileURL(PAGE).href);
	await page.evaluate(cancelAtFirst);
	await dropPaths(page, zone(page), [path]);
	await page.waitForFunction(() => globalThis.cancelled, null, { timeout: 60_000 });
	const { words, ms } = await page.evaluate(() => globalThis.cancelled);
	check(/of memory; a page can use 4\.29 GB/.test(words), words);
	const [, done, all] = /([\d.]+) (?:kB|MB) of (\d+) MB/.exec(words) ?? [];
	check(Number(done) < Number(all) / 2, `it begins with ${words}`);
	check(ms < 2000, `Cancel takes ${ms} ms`);
	await harness.close(page);
}

/* The address of a server without its token. */
async function keyless(harness) {
	const { link } = await harness.serve(harness.simulate("gpu1-fp32-matmul"));
	const page = await harness.open(link.replace(/#.*$/, ""));
	await page
		.getByRole("alert")
		.getByText(/no token/)
		.waitFor();
	await harness.close(page);
	const disk = await harness.open(pathToFileURL(PAGE).href);
	await zone(disk).waitFor();
	equal(await disk.getByRole("alert").count(), 0, "alerts on a page from disk");
	await harness.close(disk);
}

export const dropTests = [
	{ name: "drops: files on a page from disk", run: files },
	{ name: "drops: a folder on a page from disk", run: folder },
	{ name: "drops: a folder without traces", run: empty },
	{ name: "drops: a second run on Compare, of a page and of a report", run: compared },
	{ name: "drops: anywhere on the page", run: beside },
	{ name: "drops: zstd and packs", run: compressed },
	{ name: "drops: on a run that is open", run: onOpenRun },
	{ name: "drops: memory is said, Cancel ends it", run: cancelled },
	{ name: "drops: an address without its token", run: keyless },
];

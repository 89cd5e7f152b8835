/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drops.mjs - files and folders from the system's file manager, dropped through the browser's
 * own protocol: what a page may do with them depends on where it was opened from.
 */
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { sentence } from "./figures.mjs";
import { check, equal, PAGE } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

/* Drops paths in the middle of a place. */
async function drop(page, place, paths) {
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

function tracesOf(folder) {
	return readdirSync(folder)
		.filter((name) => name.startsWith("rank"))
		.map((name) => join(folder, name));
}

function zone(page) {
	return page.getByRole("region", { name: "Open traces" });
}

async function files(harness) {
	const folder = harness.simulate("ddp8-slow");
	const page = await harness.open(pathToFileURL(PAGE).href);
	await drop(page, zone(page), tracesOf(folder));
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
	await drop(page, zone(page), [top]);
	equal(await verdictOf(page), sentence(harness.json("diagnose", top)), "the verdict");
	const name = await page.locator(".header .run").innerText();
	equal(name, "dropped-run", "the name of the run");
	await harness.close(page);
}

async function empty(harness) {
	const top = join(harness.scratch, "no-traces");
	mkdirSync(top);
	const page = await harness.open(pathToFileURL(PAGE).href);
	await drop(page, zone(page), [top]);
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
		if (path === PAGE) await drop(page, zone(page), tracesOf(before));
		await verdictOf(page);
		await page.getByRole("tab", { name: "Compare" }).click();
		const place = page.locator(".compare-drop");
		await place.waitFor();
		await drop(page, place, [after]);
		await page.getByRole("grid").first().waitFor();
		await harness.close(page);
	}
}

/* Beside the place for it a drop opens nothing, and the page stays. */
async function beside(harness) {
	const page = await harness.open(pathToFileURL(PAGE).href);
	const [path] = tracesOf(harness.simulate("gpu1-fp32-matmul"));
	await drop(page, page.getByRole("heading", { name: "Large traces" }), [path]);
	await page.waitForTimeout(300);
	check(page.url().endsWith("index.html"), "the browser left the page for the file");
	await zone(page).waitFor();
	await harness.close(page);
}

export const dropTests = [
	{ name: "drops: files on a page from disk", run: files },
	{ name: "drops: a folder on a page from disk", run: folder },
	{ name: "drops: a folder without traces", run: empty },
	{ name: "drops: a second run on Compare, of a page and of a report", run: compared },
	{ name: "drops: beside the place for them", run: beside },
];

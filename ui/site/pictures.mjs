/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pictures.mjs - the pictures of the tutorial, a memory snapshot, and what moves in the README.
 *
 *     node ui/site/pictures.mjs STEPSCOPE FOLDER
 *
 * All are taken from the command and the viewer in Chromium. Needs apngasm and pngquant, which
 * tools/setup leaves out: nothing else uses them. Those of the other pages: ui/tests/shots.mjs.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Harness, TRACES } from "../tests/harness.mjs";
import { verdictOf } from "../tests/ways.mjs";
import { escapeText } from "./render.mjs";

const SIZE = { width: 1100, height: 640 };
const SETTLE_MS = 900;
const COLORS = "96";

/* The jobs of docs/tutorial.md, and the tab that shows the cause. */
const TUTORIAL = [
	["1-input", "cnn1-input-in-process", "timeline"],
	["2-sync", "ddp8-sync-item", "gaps"],
	["3-launch", "small8-launch-bound", "gaps"],
	["4-straggler", "ddp8-straggler", "ranks"],
	["5-network", "fsdp8-exposed-comm", "communication"],
	["6-memory", "gpu1-memory-leak", "memory"],
];

/* Packages of Debian with a program of the same name. */
const PROGRAMS = ["apngasm", "pngquant"];

function missing() {
	return PROGRAMS.filter((name) => spawnSync(name, ["--version"]).error);
}

/* The same picture with fewer colours: a third of the bytes. */
function reduce(path) {
	execFileSync("pngquant", ["--force", "--output", path, "--speed", "1", COLORS, path]);
}

async function settle(page) {
	await page.waitForLoadState("networkidle");
	await page.waitForTimeout(SETTLE_MS);
}

async function tutorial(harness, folder) {
	for (const [name, preset, tab] of TUTORIAL) {
		const { link, stop } = await harness.serve(harness.simulate(preset));
		for (const colorScheme of ["light", "dark"]) {
			const page = await harness.open(link, { viewport: SIZE, colorScheme });
			await verdictOf(page);
			await page.locator(`[role=tab][href="#/${tab}"]`).click();
			await settle(page);
			const path = join(folder, `tutorial-${name}-${colorScheme}.png`);
			await page.screenshot({ path });
			reduce(path);
			await harness.close(page);
		}
		stop();
	}
}

/* A real snapshot, with what is held under the pointer. */
async function snapshot(harness, folder) {
	const file = join(TRACES, "memory/gpu/medium_512_training.pickle");
	if (!existsSync(file)) return;
	const { link, stop } = await harness.serve(file);
	const page = await harness.open(link, { viewport: { width: 1280, height: 800 } });
	await page.locator("canvas").first().waitFor();
	await settle(page);
	const box = await page.locator("canvas").first().boundingBox();
	await page.mouse.move(box.x + box.width * 0.25, box.y + box.height * 0.6);
	await settle(page);
	const path = join(folder, "memory-snapshot-light.png");
	await page.screenshot({ path });
	reduce(path);
	await harness.close(page);
	stop();
}

/* A terminal with the command and what it prints, as a page. */
function terminal(harness, lines) {
	const style = `body { margin: 0; padding: 22px 28px; background: #14171b; color: #e6e9ed;
		font: 14px/1.32 "DejaVu Sans Mono", monospace; white-space: pre; }
		b { color: #54c48a; }`;
	const head = '<!doctype html><meta charset="utf-8"><title>terminal</title>';
	const text = lines.map((line) =>
		line.startsWith("$ ") ? `<b>${escapeText(line)}</b>` : escapeText(line),
	);
	const path = join(harness.scratch, "terminal.html");
	writeFileSync(path, `${head}<style>${style}</style>${text.join("\n")}`);
	return pathToFileURL(path).href;
}

/* [frame, how long it is shown in ms]: the command, its verdict, then the viewer. */
async function scenes(harness) {
	const frames = [];
	const job = harness.simulate("ddp8-slow");
	const said = String(harness.command(job)).split("\n").slice(2, 33);
	const take = async (page, shown) => {
		const path = join(harness.scratch, `frame${frames.length + 10}.png`);
		await page.screenshot({ path });
		reduce(path);
		frames.push([path, shown]);
	};
	// who sees no motion sees the first frame alone: it has the verdict
	const text = terminal(harness, ["$ stepscope traces/", ...said]);
	const shell = await harness.open(text, { viewport: SIZE });
	await take(shell, 5500);
	await harness.close(shell);
	const { link, stop } = await harness.serve(job);
	const page = await harness.open(link, { viewport: SIZE, colorScheme: "dark" });
	await verdictOf(page);
	await settle(page);
	await take(page, 3500);
	await page.getByRole("checkbox").nth(1).click();
	await settle(page);
	await take(page, 2500);
	for (const tab of ["timeline", "gaps", "ranks"]) {
		await page.locator(`[role=tab][href="#/${tab}"]`).click();
		await settle(page);
		await take(page, 3000);
	}
	await harness.close(page);
	stop();
	return frames;
}

async function moving(harness, folder) {
	const frames = await scenes(harness);
	const times = frames.map(([path, shown]) => {
		// apngasm reads the time of a frame from a file beside it
		writeFileSync(path.replace(/png$/, "txt"), `delay=${shown}/1000\n`);
		return path;
	});
	execFileSync("apngasm", [join(folder, "stepscope.png"), times[0], "1", "1", "-z1"]);
}

const [stepscope, folder] = process.argv.slice(2);
if (!folder) {
	process.stderr.write("usage: node ui/site/pictures.mjs STEPSCOPE FOLDER\n");
	process.exit(2);
}
const lacking = missing().join(" ");
if (lacking) {
	process.stderr.write(`pictures.mjs: not installed: ${lacking}\n`);
	process.stderr.write(`On Debian: apt-get install ${lacking}\n`);
	process.exit(1);
}
const harness = new Harness(stepscope);
try {
	await harness.begin();
	await snapshot(harness, folder);
	await tutorial(harness, folder);
	await moving(harness, folder);
} finally {
	await harness.end();
}

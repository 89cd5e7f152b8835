/* SPDX-License-Identifier: Apache-2.0 */
/*
 * times.mjs - how long a reader waits: a large file dropped on the page, and what the server shows
 * of that file and of a job of many ranks. Measures, and tests nothing; the numbers are for quiet
 * machines, CPU seconds and ratios for busy ones.
 *
 *     node --no-warnings ui/tests/times.mjs STEPSCOPE BIG.json [RANKS]
 *
 * `build/bench/make_big` makes BIG.json; RANKS (1,024) are simulated, 22 thousand events each.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { cancelAtFirst, dropPaths, zone } from "./drops.mjs";
import { Harness, PAGE, quiet } from "./harness.mjs";

const [stepscope, big, ranks = "1024"] = process.argv.slice(2);

const TICKS = 100; /* a second, on all Linux machines */

/* Tabs that are opened after the verdict. */
const TABS = ["overview", "operators", "gaps", "kernels", "ranks", "timeline"];

const DONE_MS = 600_000;

function statOf(pid) {
	try {
		const text = readFileSync(`/proc/${pid}/stat`, "latin1");
		const words = text.slice(text.lastIndexOf(")") + 2).split(" ");
		return { parent: Number(words[1]), ticks: Number(words[11]) + Number(words[12]) };
	} catch {
		return null; /* it has ended */
	}
}

function peakOf(pid) {
	const status = readFileSync(`/proc/${pid}/status`, "latin1");
	return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

/* The processes of the browsers that this program has started. */
function browserProcesses() {
	const parents = new Map();
	for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one)))
		parents.set(Number(name), statOf(name)?.parent ?? 0);
	const below = (pid) => pid === process.pid || (pid > 1 && below(parents.get(pid) ?? 0));
	return [...parents.keys()].filter((pid) => pid !== process.pid && below(pid));
}

function cpuOf(pids) {
	return pids.reduce((sum, pid) => sum + (statOf(pid)?.ticks ?? 0), 0) / TICKS;
}

/* In the page: when it first shows words like these, in milliseconds since 1970. */
function watchWords(patterns) {
	globalThis.shown = {};
	const look = () => {
		const text = document.body?.innerText ?? "";
		for (const [name, pattern] of Object.entries(patterns))
			if (!globalThis.shown[name] && new RegExp(pattern).test(text))
				globalThis.shown[name] = performance.timeOrigin + performance.now();
	};
	/* each frame: a small file is read within some */
	const again = () => {
		look();
		requestAnimationFrame(again);
	};
	again();
}

/* A small file may be read before there is anything to say but the verdict. */
const WORDS = {
	"progress and memory": "of memory; a page can use|A recorded step takes|A step takes",
	"something true": "\\d trace(s)? read|\\d events|A recorded step takes|A step takes",
	"length of steps": "step(s)?, [\\d.]+ \\S+ on average|A recorded step takes|A step takes",
	verdict: "A step takes",
};

function tell(what, seconds, cpu, more = "") {
	const number = (one) => (one === null ? "" : one.toFixed(2));
	const line = [what.padEnd(44), number(seconds).padStart(8), number(cpu).padStart(8), more];
	console.log(line.join(" "));
}

async function until(page, name) {
	await page.waitForFunction((one) => globalThis.shown[one], name, {
		timeout: DONE_MS,
		polling: 50,
	});
	return (await page.evaluate((one) => globalThis.shown[one], name)) / 1000;
}

const now = () => (performance.timeOrigin + performance.now()) / 1000;

/* `stepscope info` on the same file: CPU seconds and peak memory. */
function measureInfo() {
	const code = `import resource, subprocess, sys, time
begin = time.time()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.time() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)`;
	const args = ["-c", code, stepscope, "info", big, "--threads", "1"];
	const [wall, cpu, bytes] = spawnSync("python3", args).stdout.toString().split(" ").map(Number);
	tell("stepscope info, one thread", wall, cpu, `${(bytes / 1e6).toFixed(0)} MB`);
	return { cpu, bytes };
}

async function openWatched(harness, url) {
	const page = await harness.open("about:blank");
	await page.addInitScript(watchWords, WORDS);
	await page.goto(url);
	return page;
}

/* From the first word of progress on; nothing where the file is read before there is one. */
async function measureCancel(harness) {
	const page = await openWatched(harness, pathToFileURL(PAGE).href);
	await zone(page).waitFor();
	const before = cpuOf(browserProcesses());
	await page.evaluate(cancelAtFirst);
	await dropPaths(page, zone(page), [big]);
	await page.waitForFunction(() => globalThis.cancelled ?? globalThis.shown.verdict, null, {
		timeout: DONE_MS,
	});
	const ms = await page.evaluate(() => globalThis.cancelled?.ms ?? null);
	const spent = cpuOf(browserProcesses()) - before;
	if (ms === null) tell("dropped: Cancel", null, null, "read before it could be clicked");
	else tell("dropped: Cancel, and the CPU until then", ms / 1000, spent);
	await page.context().close();
}

async function measureDrop(harness, info) {
	await measureCancel(harness);
	const page = await openWatched(harness, pathToFileURL(PAGE).href);
	await zone(page).waitFor();
	const spent = cpuOf(browserProcesses());
	const begin = now();
	await dropPaths(page, zone(page), [big]);
	for (const word of ["progress and memory", "something true"])
		tell(`dropped: ${word}`, (await until(page, word)) - begin, null);
	const verdict = (await until(page, "verdict")) - begin;
	const cpu = cpuOf(browserProcesses()) - spent;
	const bytes = Math.max(...browserProcesses().map(peakOf));
	const ratio = `${(cpu / info.cpu).toFixed(2)} x the CPU, ${(bytes / info.bytes).toFixed(2)} x`;
	const words = `${(bytes / 1e6).toFixed(0)} MB, ${ratio} the memory of info`;
	tell("dropped: verdict", verdict, cpu, words);
	await page.context().close();
}

async function measureServed(harness, name, path) {
	const begin = now();
	const { link, server, stop } = await harness.serveAlone(path);
	const page = await openWatched(harness, link);
	for (const word of ["something true", "length of steps", "verdict"])
		tell(`${name}: ${word}`, (await until(page, word)) - begin, cpuOf([server.pid]));
	for (const tab of TABS) {
		const [from, spent] = [performance.now(), cpuOf([server.pid])];
		await page.locator(`#tab-${tab}`).evaluate((one) => one.click());
		await page.locator(`#tab-${tab}[aria-selected=true]`).waitFor();
		/* the last answer, or none at all */
		await quiet(page);
		const last = Math.max(0, page.changedAt - from) / 1000;
		tell(`${name}: ${tab}`, last, cpuOf([server.pid]) - spent);
	}
	await page.context().close();
	stop();
}

const harness = new Harness(stepscope);
try {
	await harness.begin();
	console.log(`${"".padEnd(44)} ${"seconds".padStart(8)} ${"CPU s".padStart(8)}`);
	await measureDrop(harness, measureInfo());
	await measureServed(harness, "big file", big);
	const job = harness.simulate("ddp8-healthy", "--ranks", ranks, "--steps", "4");
	await measureServed(harness, `${ranks} ranks`, job);
} finally {
	await harness.end();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness.mjs - drives the page in a real Chromium, without a display.
 *
 * Every page that a test opens is watched: an error on its console, an exception, or a request
 * to another place than where it came from fails the test.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const HERE = dirname(fileURLToPath(import.meta.url));

export const PAGE = resolve(HERE, "../dist/index.html");

/* DuckDB as npm brings it, unless another one is asked for. */
const DUCKDB = resolve(HERE, "../node_modules/@duckdb/node-bindings-linux-x64");
if (existsSync(DUCKDB)) process.env.STEPSCOPE_DUCKDB ??= DUCKDB;

/* Real traces, where they are to be had. */
export const TRACES = process.env.STEPSCOPE_TRACES ?? resolve(HERE, "../../../shared/traces");

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/* STEPSCOPE_SLOW=8: pages are so many times slower, as on a busy machine; finds flaky tests. */
const SLOW = Number(process.env.STEPSCOPE_SLOW ?? 1);

export class Failed extends Error {}

export function check(holds, sentence) {
	if (!holds) throw new Failed(sentence);
}

export function equal(ours, theirs, what) {
	const [a, b] = [JSON.stringify(ours), JSON.stringify(theirs)];
	check(a === b, `${what}: the page has ${a}, the command ${b}`);
}

/* How many answers a page waits for, and when something last happened to it. */
function watchActivity(page) {
	page.pending = 0;
	const note = (change) => (what) => {
		/* the state is asked for often */
		if (change && what.url().endsWith("/api/state")) return;
		page.pending += change;
		page.changedAt = performance.now();
	};
	page.on("request", note(1));
	page.on("requestfinished", note(-1));
	page.on("requestfailed", note(-1));
	page.on("framenavigated", note(0));
	note(0)();
}

/* In the page: until it is drawn, says nowhere that it loads, and has not changed for a while. */
function settle(ms) {
	const MOST_MS = 10_000;
	return new Promise((resolve) => {
		const begin = performance.now();
		let last = begin;
		const watch = new MutationObserver(() => (last = performance.now()));
		watch.observe(document.body, {
			subtree: true,
			childList: true,
			attributes: true,
			characterData: true,
		});
		const look = () => {
			const now = performance.now();
			const loads = document.querySelector(".state-dot, .sentence-wait");
			const done = !loads && now - last > ms;
			if (!done && now - begin < MOST_MS) return setTimeout(look, 30);
			watch.disconnect();
			resolve(null);
		};
		requestAnimationFrame(() => requestAnimationFrame(look));
	});
}

/*
 * Until a page does nothing any more: no answer is on its way, and neither the address nor what it
 * shows has changed for this long.
 */
export async function quiet(page, ms = 90) {
	for (const begin = performance.now(); performance.now() - begin < 60_000; ) {
		await page.evaluate(settle, ms);
		const idle = performance.now() - page.changedAt;
		if (!page.pending && idle >= ms) return;
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
	throw new Failed(`the page does not come to rest: it waits for ${page.pending} answers`);
}

export class Harness {
	constructor(stepscope) {
		this.stepscope = resolve(stepscope);
		this.scratch = mkdtempSync(join(tmpdir(), "stepscope-page-"));
		this.servers = new Set();
		this.shared = new Map();
	}

	async begin() {
		const executablePath = BROWSERS.find(existsSync);
		if (!executablePath) throw new Error("no Chromium here: tools/setup installs it");
		this.browser = await chromium.launch({
			executablePath,
			/* one page at a time: the next one finds a process, and compiled scripts */
			args: [
				"--renderer-process-limit=1",
				...(process.getuid() === 0 ? ["--no-sandbox"] : []),
			],
		});
	}

	async end() {
		await this.browser?.close();
		for (const server of this.servers) server.kill("SIGTERM");
		rmSync(this.scratch, { recursive: true, force: true });
	}

	/* Runs the command; its output, or an error that fails the test. */
	command(...args) {
		const result = spawnSync(this.stepscope, args, { maxBuffer: 1 << 30 });
		if (result.status !== 0)
			throw new Failed(`stepscope ${args.join(" ")}: ${result.stderr}`);
		return result.stdout;
	}

	json(...args) {
		return JSON.parse(this.command(...args, "--format", "json"));
	}

	/* A simulated job in a folder, made once. */
	simulate(preset, ...options) {
		const folder = join(this.scratch, `${preset}${options.join("")}`);
		if (!existsSync(folder))
			this.command("sim", "--preset", preset, ...options, "-o", folder);
		return folder;
	}

	/* A server of these files, which tests share until one stops it. */
	serve(...args) {
		const key = args.join(" ");
		const shared = this.shared.get(key) ?? this.serveAlone(...args);
		this.shared.set(key, shared);
		const forget = () => this.shared.delete(key);
		shared.then(({ server }) => server.on("exit", forget), forget);
		return shared;
	}

	/* Starts a server and gives its link. */
	async serveAlone(...args) {
		const server = spawn(this.stepscope, ["serve", "--no-browser", ...args]);
		this.servers.add(server);
		server.on("exit", () => this.servers.delete(server));
		let said = "";
		const link = await new Promise((resolveLink, reject) => {
			const hear = (bytes) => {
				said += bytes;
				const found = /http:\/\/\S+/.exec(said);
				if (found) resolveLink(found[0]);
			};
			server.stdout.on("data", hear);
			server.stderr.on("data", hear);
			server.on("exit", () => reject(new Failed(`serve ended: ${said}`)));
		});
		const stop = () => {
			this.shared.delete(args.join(" "));
			server.kill("SIGINT");
		};
		return { link, stop, server };
	}

	/* A fresh page that is watched. Options as of a browser context. */
	async open(url, options = {}) {
		const context = await this.browser.newContext({
			viewport: { width: 1280, height: 800 },
			...options,
		});
		const page = await context.newPage();
		if (SLOW > 1) {
			const browser = await context.newCDPSession(page);
			await browser.send("Emulation.setCPUThrottlingRate", { rate: SLOW });
		}
		const problems = [];
		const origin = url.startsWith("file:") ? "file://" : new URL(url).origin;
		page.on("console", (message) => {
			if (message.type() === "error" || message.type() === "warning")
				problems.push(`console: ${message.text()}`);
		});
		page.on("pageerror", (error) => problems.push(`exception: ${error.stack ?? error}`));
		page.on("request", (request) => {
			const to = request.url();
			if (!to.startsWith(origin) && !/^(data|blob):/.test(to))
				problems.push(`request to ${to}`);
		});
		page.problems = problems;
		watchActivity(page);
		await page.goto(url);
		return page;
	}

	async close(page) {
		const problems = page.problems;
		await page.context().close();
		check(!problems.length, problems.slice(0, 5).join("\n       "));
	}
}

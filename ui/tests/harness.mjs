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

export class Failed extends Error {}

export function check(holds, sentence) {
	if (!holds) throw new Failed(sentence);
}

export function equal(ours, theirs, what) {
	const [a, b] = [JSON.stringify(ours), JSON.stringify(theirs)];
	check(a === b, `${what}: the page has ${a}, the command ${b}`);
}

export class Harness {
	constructor(stepscope) {
		this.stepscope = resolve(stepscope);
		this.scratch = mkdtempSync(join(tmpdir(), "stepscope-page-"));
		this.servers = new Set();
	}

	async begin() {
		const executablePath = BROWSERS.find(existsSync);
		if (!executablePath) throw new Error("no Chromium here: tools/setup installs it");
		this.browser = await chromium.launch({
			executablePath,
			args: process.getuid() === 0 ? ["--no-sandbox"] : [],
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

	/* Starts a server and gives its link. */
	async serve(...args) {
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
		return { link, stop: () => server.kill("SIGINT"), server };
	}

	/* A fresh page that is watched. Options as of a browser context. */
	async open(url, options = {}) {
		const context = await this.browser.newContext({
			viewport: { width: 1280, height: 800 },
			...options,
		});
		const page = await context.newPage();
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
		await page.goto(url);
		return page;
	}

	async close(page) {
		const problems = page.problems;
		await page.context().close();
		check(!problems.length, problems.slice(0, 5).join("\n       "));
	}
}

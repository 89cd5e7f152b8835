/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marionette.mjs - drives Debian's Firefox without a display, by its own protocol: lengths and JSON
 * on a local socket. (Playwright drives only builds of Firefox that are newer than ESR.)
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failed } from "./harness.mjs";

const FIREFOX = ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find(existsSync);
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

const PREFERENCES = {
	"marionette.port": 0, /* any that is free; a file in the profile says which */
	"browser.shell.checkDefaultBrowser": false,
	"browser.startup.homepage_override.mstone": "ignore",
	"datareporting.policy.dataSubmissionEnabled": false,
	"toolkit.telemetry.reportingpolicy.firstRun": false,
	"app.update.enabled": false,
	"dom.events.testing.asyncClipboard": true,
};

const WAIT_MS = 60_000;

function sleep(ms) {
	return new Promise((resolve) => setTimeout(resolve, ms));
}

export function hasFirefox() {
	return FIREFOX !== undefined;
}

export class Firefox {
	profile = "";
	/** @type {import("node:child_process").ChildProcess} */
	program;
	/** @type {import("node:net").Socket} */
	socket;
	waiting = new Map();
	next = 1;

	static async start() {
		const self = new Firefox();
		self.profile = mkdtempSync(join(tmpdir(), "stepscope-firefox-"));
		const lines = Object.entries(PREFERENCES).map(
			([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
		);
		writeFileSync(join(self.profile, "user.js"), lines.join("\n"));
		const words = ["--headless", "--marionette", "--no-remote", "--profile", self.profile];
		self.program = spawn(FIREFOX, words, { stdio: "ignore" });
		try {
			await self.connect(await self.port());
			await self.ask("WebDriver:NewSession", {});
		} catch (error) {
			await self.end();
			throw error;
		}
		return self;
	}

	async port() {
		const path = join(this.profile, "MarionetteActivePort");
		for (let waited = 0; waited < WAIT_MS; waited += 100) {
			if (existsSync(path)) {
				const port = Number(readFileSync(path, "utf8"));
				if (port) return port;
			}
			await sleep(100);
		}
		throw new Failed("Firefox does not start");
	}

	/* Answers come one after the other: "31:[1,1,null,{...}]". */
	async connect(port) {
		let held = Buffer.alloc(0);
		this.socket = connect(port, "127.0.0.1");
		this.socket.on("data", (bytes) => {
			held = Buffer.concat([held, bytes]);
			for (let at = held.indexOf(":"); at > 0; at = held.indexOf(":")) {
				const length = Number(held.subarray(0, at));
				if (held.length < at + 1 + length) return;
				this.hear(JSON.parse(held.subarray(at + 1, at + 1 + length)));
				held = held.subarray(at + 1 + length);
			}
		});
		await new Promise((resolve, reject) => {
			this.socket.once("connect", resolve);
			this.socket.once("error", reject);
		});
	}

	/* The first message is a greeting. */
	hear(message) {
		if (!Array.isArray(message)) return;
		const [, id, error, result] = message;
		const waiting = this.waiting.get(id);
		this.waiting.delete(id);
		if (error) waiting?.reject(new Failed(`Firefox: ${error.message}`));
		else waiting?.resolve(result);
	}

	ask(command, parameters) {
		const id = this.next++;
		const text = JSON.stringify([0, id, command, parameters]);
		return new Promise((resolve, reject) => {
			this.waiting.set(id, { resolve, reject });
			this.socket.write(`${Buffer.byteLength(text)}:${text}`);
		});
	}

	go(url) {
		return this.ask("WebDriver:Navigate", { url });
	}

	/* Runs the text of a function in the page. */
	async run(does, ...args) {
		const script = `return (${does}).apply(null, arguments)`;
		return (await this.ask("WebDriver:ExecuteScript", { script, args })).value;
	}

	/* Waits until the function gives something that is true, and returns it. */
	async until(what, does, ...args) {
		for (let waited = 0; waited < WAIT_MS; waited += 150) {
			const found = await this.run(does, ...args).catch(() => null);
			if (found) return found;
			await sleep(150);
		}
		throw new Failed(`Firefox shows no ${what}`);
	}

	async click(css) {
		const asked = { using: "css selector", value: css };
		const found = await this.ask("WebDriver:FindElement", asked);
		await this.ask("WebDriver:ElementClick", { id: found.value[ELEMENT] });
	}

	async press(...keys) {
		const actions = keys.flatMap((value) => [
			{ type: "keyDown", value },
			{ type: "keyUp", value },
		]);
		const source = { type: "key", id: "keys", actions };
		await this.ask("WebDriver:PerformActions", { actions: [source] });
	}

	async picture(path) {
		const { value } = await this.ask("WebDriver:TakeScreenshot", { full: false });
		writeFileSync(path, Buffer.from(value, "base64"));
	}

	async end() {
		await Promise.race([this.ask("Marionette:Quit", {}).catch(() => {}), sleep(3000)]).catch(
			() => {},
		);
		this.socket?.destroy();
		this.program.kill("SIGKILL");
		rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
	}
}

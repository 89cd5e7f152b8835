/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_clients.mjs - the clients that people have: the SDK in its three modes, and the inspector.
 *
 *     node tests/mcp/mcp_clients.mjs STEPSCOPE
 *
 * tools/setup puts the packages into build-mcp. Exits with 77 if they are not there. The skill is
 * checked by skills-ref.
 */
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const PACKAGES = join(ROOT, "build-mcp/node_modules");
const STEPSCOPE = process.argv[2];
const MODES = ["legacy", "auto", { pin: "2026-07-28" }];

if (!existsSync(join(PACKAGES, "@modelcontextprotocol/client"))) {
	console.log("skipped: tools/setup brings the clients");
	process.exit(77);
}
const sdk = (name) => import(join(PACKAGES, "@modelcontextprotocol/client/dist", name));
const { Client } = await sdk("index.mjs");
const { StdioClientTransport } = await sdk("stdio.mjs");

async function tryMode(mode, job) {
	const client = new Client(
		{ name: "test", version: "1" },
		{ versionNegotiation: { mode } },
	);
	await client.connect(new StdioClientTransport({ command: STEPSCOPE, args: ["mcp"] }));
	const { tools } = await client.listTools();
	assert.equal(tools.length, 8);
	const call = (name, args) => client.callTool({ name, arguments: { path: job, ...args } });
	const verdict = await call("verdict", {});
	assert(!verdict.isError && /saves/.test(verdict.content[0].text), verdict);
	const wrong = await call("view", { view: "kernel" });
	assert(wrong.isError && /kernels/.test(wrong.content[0].text), wrong);
	const stop = new AbortController();
	const stopped = client.callTool(
		{ name: "verdict", arguments: { path: job, rank: 1 } },
		{ signal: stop.signal },
	);
	stop.abort();
	await assert.rejects(stopped);
	const steps = await call("view", { view: "steps", rank: 0 });
	assert(/ProfilerStep/.test(steps.content[0].text), steps);
	await client.close();
	console.log("sdk, mode", JSON.stringify(mode), client.getNegotiatedProtocolVersion?.() ?? "");
}

function inspect(job) {
	const node = join(PACKAGES, "node/bin/node");
	const inspector = join(PACKAGES, ".bin/mcp-inspector");
	if (!existsSync(inspector) || !existsSync(node)) return false;
	const run = (...words) =>
		JSON.parse(
			execFileSync(node, [inspector, "--cli", STEPSCOPE, "mcp", ...words], {
				encoding: "utf8",
				env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` },
			}),
		);
	assert.equal(run("--method", "tools/list").tools.length, 8);
	const words = ["--method", "tools/call", "--tool-name", "verdict", "--tool-arg", `path=${job}`];
	assert.match(run(...words).content[0].text, /saves/);
	console.log("inspector: tools/list, tools/call");
	return true;
}

const folder = mkdtempSync(join(tmpdir(), "stepscope-mcp-"));
try {
	const job = join(folder, "job");
	const words = ["sim", "--preset", "ddp8-slow", "--ranks", "2", "--steps", "3"];
	execFileSync(STEPSCOPE, [...words, "-o", job, "--progress", "none"], { stdio: "ignore" });
	for (const mode of MODES) await tryMode(mode, job);
	if (!inspect(job)) console.log("inspector: not installed");
	const checker = join(PACKAGES, ".bin/skills-ref");
	execFileSync(checker, ["validate", join(ROOT, "skills/stepscope")], { stdio: "inherit" });
} finally {
	rmSync(folder, { recursive: true });
}

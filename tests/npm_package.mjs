/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npm_package.mjs - the npm package has what it should, installs, and answers as the command does.
 *
 *     node tests/npm_package.mjs FOLDER STEPSCOPE
 *
 * FOLDER is what tools/npm_package made. The package is packed, installed into a project of its
 * own without network, and opens a simulated trace there; its types are checked by TypeScript.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const CONTENTS = [
	"LICENSE",
	"README.md",
	"index.d.ts",
	"index.js",
	"package.json",
	"stepscope.wasm",
	"tables.d.ts",
	"third_party/CC0-1.0.txt",
	"third_party/compiler-rt.txt",
	"third_party/wasi-libc.txt",
];

const USER = `import { readFile } from "node:fs/promises";
import { open } from "@stepscope/core";

const [name, wrong] = process.argv.slice(2);
const job = await open([{ name, bytes: await readFile(name) }]);
const steps = job.table("steps").rows.map((row) => [row.name, row.dur_ns]);
const refused = await open([{ name: wrong, bytes: await readFile(wrong) }]).catch(String);
let unknown = "";
try {
	job.json("view/nothing");
} catch (error) {
	unknown = error.message;
}
const verdict = job.json("view/diagnose");
job.close();
console.log(JSON.stringify({ steps, step_ns: verdict.step_ns, refused, unknown }));
`;

const TYPED = `import { open } from "@stepscope/core";

const job = await open([]);
export const length: number | null | undefined = job.table("steps", { top: "1" }).rows[0]?.dur_ns;
// @ts-expect-error: there is no such view
job.table("nothing");
`;

function run(command, args, options = {}) {
	const done = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, ...options });
	if (done.error) throw done.error;
	assert.equal(done.status, 0, `${command} ${args.join(" ")}\n${done.stdout}${done.stderr}`);
	return done.stdout;
}

function checkContents(folder) {
	const [listed] = JSON.parse(run("npm", ["pack", "--dry-run", "--json"], { cwd: folder }));
	const found = listed.files.map((file) => file.path).sort();
	assert.deepEqual(found, [...CONTENTS].sort());
	console.log(`${found.length} files, ${listed.size} bytes packed`);
}

function install(folder, project) {
	run("npm", ["pack", folder, "--pack-destination", project], { cwd: project });
	const [archive] = readdirSync(project).filter((name) => name.endsWith(".tgz"));
	writeFileSync(join(project, "package.json"), '{"type": "module"}\n');
	run("npm", ["install", "--offline", "--no-audit", "--no-fund", archive], { cwd: project });
}

function checkAnswers(project, stepscope) {
	const job = ["--preset", "gpu1-healthy", "--steps", "3", "-o", "job"];
	run(stepscope, ["sim", ...job], { cwd: project });
	const [trace] = readdirSync(join(project, "job")).filter((name) => name.startsWith("rank"));
	const path = join(project, "job", trace);
	writeFileSync(join(project, "user.mjs"), USER);
	writeFileSync(join(project, "plot.png"), "\x89PNG\r\n\x1a\n", "latin1");
	const said = JSON.parse(run("node", ["user.mjs", path, "plot.png"], { cwd: project }));
	const native = JSON.parse(run(stepscope, ["steps", "--json", path]));
	const at = (name) => native.columns.findIndex((column) => column.name === name);
	const steps = native.rows.map((row) => [row[at("name")], row[at("dur_ns")]]);
	assert.ok(steps.length > 0);
	assert.deepEqual(said.steps, steps);
	assert.equal(said.step_ns, JSON.parse(run(stepscope, ["diagnose", "--json", path])).step_ns);
	assert.match(said.refused, /it is an image/);
	assert.match(said.unknown, /nothing/);
	console.log(`${steps.length} steps and the verdict as the command says them`);
}

function checkTypes(project) {
	const tsc = resolve(import.meta.dirname, "../ui/node_modules/.bin/tsc");
	const lib = ["--lib", "ES2023,DOM", "--target", "ES2022"];
	writeFileSync(join(project, "typed.ts"), TYPED);
	for (const modules of [["NodeNext", "NodeNext"], ["ESNext", "bundler"]])
		run(tsc, ["--noEmit", "--strict", "--types", "", ...lib, "--module", modules[0],
			"--moduleResolution", modules[1], "typed.ts"], { cwd: project });
	console.log("types: checked for Node and for bundlers");
}

const [folder, stepscope] = process.argv.slice(2).map((path) => resolve(path));
const project = mkdtempSync(join(tmpdir(), "npm-package-"));
try {
	mkdirSync(project, { recursive: true });
	checkContents(folder);
	install(folder, project);
	checkAnswers(project, stepscope);
	checkTypes(project);
} finally {
	rmSync(project, { recursive: true });
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.mjs - what the core answers is what its routes declare (src/core/types.ts): real answers
 * of `serve` and of the page's own core are written down as TypeScript, and the compiler says
 * which of them lacks a member, has one too many, or holds what it must not.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { check, PAGE, TRACES } from "./harness.mjs";
import { load } from "./load.mjs";
import { tracesOf } from "./ways.mjs";

const SNAPSHOT = "memory/synthetic_leak_oom.p4.pickle";

const UI = resolve(PAGE, "../..");

/* Asks `serve`; null where it refuses. */
async function served(harness, ...paths) {
	const { link } = await harness.serve(...paths);
	const { origin, hash } = new URL(link);
	const headers = { Authorization: `Bearer ${/token=([\w-]+)/.exec(hash)[1]}` };
	const get = (path) => fetch(`${origin}/api/${path}`, { headers });
	while ((await (await get("state")).json()).state !== "ready")
		await new Promise((resolveWait) => setTimeout(resolveWait, 50));
	return async (target) => {
		const answer = await get(`ask/${target}`);
		return answer.ok ? answer.text() : null;
	};
}

/* The same of the core in the page, with copies of the files in its memory. */
async function inPage(Core, ...paths) {
	const [, text] = /id="stepscope-core">([^<]+)</.exec(readFileSync(PAGE, "utf8"));
	const core = await Core.load(gunzipSync(Buffer.from(text, "base64")));
	core.begin();
	for (const path of paths) {
		let bytes = readFileSync(path);
		if (path.endsWith(".gz")) bytes = gunzipSync(bytes);
		const read = (room) => {
			const part = bytes.subarray(0, room);
			bytes = bytes.subarray(part.length);
			return part;
		};
		await core.add(basename(path).replace(/\.gz$/, ""), bytes.length, read, () => {});
	}
	core.end();
	return (target) => {
		try {
			return new TextDecoder().decode(core.ask(target, () => {}).bytes);
		} catch {
			return null;
		}
	};
}

/* Answers as [route, text], so many that each kind of slice, gap and event is among them. */
async function gather(ask) {
	const found = [];
	const take = async (target) => {
		const text = await ask(target);
		if (text !== null) found.push([target.split("?")[0], text]);
		return text === null ? null : JSON.parse(text);
	};
	const job = await take("job");
	await take("flags");
	for (const color of ["category", "phase", "module", "stream"])
		await take(`colors?color=${color}`);
	const range = `from=0&to=${Math.max(1, job.span_ns)}`;
	await take(`path?${range}&pixels=200`);
	await take(`range?${range}&limit=20`);
	await take(`search?q=&limit=5&from=0&pixels=9`);
	for (const { file } of job.files) await aboutFile(take, file);
	for (const { snapshot } of job.snapshots) await aboutSnapshot(take, snapshot);
	return found;
}

async function aboutFile(take, file) {
	const kinds = ["operator", "annotation", "python", "runtime", "kernel", "comm-kernel"];
	const tracks = await take(`tracks?file=${file}`);
	for (const kind of [...kinds, "memcpy", "sync", "overhead", "instant"]) {
		const hits = await take(`search?q=&files=${file}&kind=${kind}&limit=3`);
		for (const { row } of hits?.hits ?? []) {
			await take(`slice?file=${file}&row=${row}`);
			await take(`near?file=${file}&row=${row}&go=next`);
			await take(`near?file=${file}&row=${row}&go=previous`);
		}
	}
	for (const { track } of tracks?.tracks.filter((one) => one.kind === "idle") ?? [])
		for (let gap = 0; gap < 12; gap++) {
			await take(`gap?file=${file}&track=${track}&gap=${gap}`);
			await take(`near?file=${file}&track=${track}&gap=${gap}&go=next`);
		}
}

async function aboutSnapshot(take, snapshot) {
	await take(`snapshot?snapshot=${snapshot}`);
	await take(`blocks?snapshot=${snapshot}`);
	for (let event = -1; event < 40; event++) {
		await take(`event?snapshot=${snapshot}&event=${event}&go=next`);
		await take(`event?snapshot=${snapshot}&event=${event}&go=next-peak`);
	}
	for (const stack of [0, 1, 2]) await take(`stack?snapshot=${snapshot}&stack=${stack}`);
	await take(`stacks?snapshot=${snapshot}`);
	const held = await take(`view/snapshot-holders?snapshot=${snapshot}&group=line&top=3`);
	const line = held?.columns.findIndex((one) => one.name === "line") ?? -1;
	for (const row of line >= 0 ? held.rows : [])
		await take(`stacks?snapshot=${snapshot}&line=${encodeURIComponent(row[line])}`);
}

/* What the compiler says about answers; each is a constant of the type that its route declares. */
function compiled(harness, name, answers, more = "") {
	const folder = join(harness.scratch, name);
	mkdirSync(folder, { recursive: true });
	const lines = answers.map(([route, text], i) => {
		const type = route.startsWith("view/") ? "TableDocument" : `Answers["${route}"]`;
		return `export const a${i}: ${type} =\n${text};`;
	});
	const types = join(UI, "src/core/types");
	writeFileSync(
		join(folder, "answers.ts"),
		`import type { Answers, TableDocument } from "${types}";\n${lines.join("\n")}\n${more}`,
	);
	writeFileSync(
		join(folder, "tsconfig.json"),
		JSON.stringify({
			compilerOptions: {
				strict: true,
				noEmit: true,
				exactOptionalPropertyTypes: true,
				module: "ESNext",
				moduleResolution: "bundler",
				target: "ES2022",
				types: [],
			},
			files: ["answers.ts"],
		}),
	);
	const tsc = join(UI, "node_modules/.bin/tsc");
	const result = spawnSync(tsc, ["-p", folder], { encoding: "utf8", maxBuffer: 1 << 26 });
	return result.stdout.trim();
}

/* A member too few, one too many, one of another type: each must be an error. */
const WRONG = `
// @ts-expect-error
export const few: Answers["near"] = { row: 1, track: 2, lane: 0, start_ns: 3, name: "a" };
// @ts-expect-error
export const many: Answers["flags"] = { schema: "stepscope.flags/1", flags: [], more: 1 };
// @ts-expect-error
export const other: Answers["flags"] = { schema: "stepscope.flags/1", flags: 7 };
`;

async function answersFit(harness) {
	const { Core } = await load("worker/module.ts");
	const job = harness.simulate("ddp8-straggler", "--ranks", "2", "--steps", "2");
	const cut = join(harness.scratch, "cut");
	mkdirSync(cut, { recursive: true });
	cpSync(tracesOf(job)[0], join(cut, "rank0.json.gz"));
	writeFileSync(join(cut, "broken.json"), '{"traceEvents":[{"ph":');
	const whole = join(TRACES, SNAPSHOT);
	if (existsSync(whole))
		writeFileSync(join(cut, "cut.pickle"), readFileSync(whole).subarray(0, 9000));
	const digests = join(harness.scratch, "answer-digests");
	harness.command("digest", job, "-o", digests);
	const real = [
		"cuda/two_ranks",
		"cuda/rtx3060_stacks.json.gz",
		SNAPSHOT,
		"memory/cpu_leak.pt.trace.json.gz",
		"memory/cpu_normal.memory_timeline.json.gz",
	].map((path) => join(TRACES, path));
	const paths = [job, cut, digests, ...real.filter(existsSync)];
	const answers = JSON.parse(harness.command("ask", "offers", tracesOf(job)[0]).toString());
	const found = [["offers", JSON.stringify(answers)]];
	for (const path of paths) found.push(...(await gather(await served(harness, path))));
	const files = [tracesOf(job), ...real.slice(1, 4).filter(existsSync).map((path) => [path])];
	for (const some of files) found.push(...(await gather(await inPage(Core, ...some))));
	const declared = answers.routes.filter((one) => one.answer).map((one) => one.name);
	const seen = new Set(found.map(([route]) => route));
	if (existsSync(real[2]))
		check(
			declared.every((name) => seen.has(name)),
			`no answer of ${declared.filter((name) => !seen.has(name))}`,
		);
	const said = compiled(harness, "answers", found, WRONG);
	check(!said, `${found.length} answers: ${said.slice(0, 1500)}`);
	console.log(`       ${found.length} answers of ${seen.size} routes fit what they declare`);
}

export const answerTests = [
	{ name: "answers: of routes are what these declare", run: answersFit, seconds: 25 },
];

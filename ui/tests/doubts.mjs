/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubts.mjs - what stands above and beside the verdict: what files lack, several runs in one
 * folder, uneven steps, savings that are a range.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { range, time } from "./figures.mjs";
import { check, equal } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

const RECORDED = resolve(dirname(fileURLToPath(import.meta.url)), "../../tests/torch/recorded");

/* As of the command. */
const WIDE_RANGE = 1.5;

function banner(page) {
	return page.getByRole("tabpanel", { name: "Verdict" }).getByRole("status");
}

async function opened(harness, path) {
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	return { page, said: await verdictOf(page), verdict: harness.json("diagnose", path) };
}

async function cut(harness) {
	const folder = join(harness.scratch, "cut-short");
	const job = harness.simulate("ddp8-slow");
	mkdirSync(folder);
	for (const name of readdirSync(job).filter((one) => one.startsWith("rank"))) {
		const whole = gunzipSync(readFileSync(join(job, name)));
		const bytes = name.startsWith("rank3") ? (whole.length * 4) / 5 : whole.length;
		writeFileSync(join(folder, name.replace(".gz", "")), whole.subarray(0, bytes));
	}
	const { page, verdict } = await opened(harness, folder);
	equal(verdict.warnings.map((one) => one.what), ["cut"], "what the files lack");
	const said = await banner(page).innerText();
	check(said.includes(verdict.warnings[0].text), `the banner says '${said}'`);
	const [above, below] = [
		await banner(page).boundingBox(),
		await page.getByRole("heading", { name: /A step takes/ }).boundingBox(),
	];
	check(above.y + above.height <= below.y, "the banner is not above the verdict");
	await harness.close(page);
}

/* A trace of the host alone, although the file says that there was a GPU. */
async function noDevice(harness) {
	const folder = join(harness.scratch, "host-only");
	const job = harness.simulate("gpu1-fp32-matmul");
	const name = readdirSync(job).find((one) => one.startsWith("rank"));
	const trace = JSON.parse(gunzipSync(readFileSync(join(job, name))));
	const device = new Set(["kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"]);
	trace.traceEvents = trace.traceEvents.filter((event) => !device.has(event.cat));
	mkdirSync(folder);
	writeFileSync(join(folder, "rank0.json"), JSON.stringify(trace));
	const { page, said, verdict } = await opened(harness, folder);
	equal(verdict.warnings.map((one) => one.what), ["no-device-events"], "what the file lacks");
	check((await banner(page).innerText()).includes("ProfilerActivity.CUDA"), "no flag is named");
	check(!said.includes("No fix was found"), `'${said}' judges what nobody can tell`);
	await harness.close(page);
}

async function runs(harness) {
	const folder = join(harness.scratch, "two-runs");
	for (const [name, preset] of [
		["run_a", "ddp8-slow"],
		["run_b", "ddp8-healthy"],
	])
		cpSync(harness.simulate(preset), join(folder, name), { recursive: true });
	const { page, verdict } = await opened(harness, folder);
	equal(verdict.runs.length, 2, "runs in the folder");
	const said = await banner(page).innerText();
	for (const line of verdict.runs_text.split("\n"))
		check(said.includes(line.trim()), `'${line.trim()}' is not in '${said}'`);
	await harness.close(page);
}

async function spread(harness) {
	const { page, verdict } = await opened(harness, join(RECORDED, "worker_restart"));
	const { spread: steps } = verdict;
	check(steps.uneven && steps.outlier_count, "the recorded steps are even");
	const said = await page.locator(".sentence").innerText();
	const base = `(median ${time(steps.median_ns)}, from ${range(steps.min_ns, steps.max_ns)})`;
	for (const part of [base, steps.outliers_text])
		check(said.includes(part), `'${part}' is not in '${said}'`);
	check(!(await banner(page).count()), "a banner, and nothing is lacking");
	await harness.close(page);
}

/* Savings whose bounds are far apart: the finding, the waterfall and the first sentence. */
async function ranges(harness) {
	const { page, said, verdict } = await opened(harness, join(RECORDED, "validation_in_loop"));
	const wide = verdict.findings.filter(
		(one) => one.cost_ns !== null && one.cost_high_ns > WIDE_RANGE * one.cost_low_ns,
	);
	check(wide.length, "no recorded saving is a range");
	const panel = await page.getByRole("tabpanel", { name: "Verdict" }).innerText();
	for (const one of wide) {
		const saved = range(one.cost_low_ns, one.cost_high_ns);
		check(panel.includes(`saves ${saved}`), `'${saved}' is not on its card`);
		const fall = saved.replaceAll(/(?<![\d.])\d/g, "−$&");
		check(panel.includes(fall), `'${fall}' is not on its bar`);
	}
	const fixed = range(verdict.fixed_low_ns, verdict.fixed_high_ns);
	check(said.includes(`It could take ${fixed}: `), `'${said}' has no range`);
	const last = await page.getByRole("region", { name: /today's step/ }).innerText();
	check(last.includes(fixed), `the last bar has not ${fixed}: ${last}`);
	await harness.close(page);
}

export const doubtTests = [
	{ name: "doubts: a file that is cut", run: cut },
	{ name: "doubts: no device events", run: noDevice },
	{ name: "doubts: two runs in one folder", run: runs },
	{ name: "doubts: uneven steps", run: spread },
	{ name: "doubts: savings as ranges", run: ranges },
];

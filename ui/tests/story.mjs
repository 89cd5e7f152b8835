/* SPDX-License-Identifier: Apache-2.0 */
/*
 * story.mjs - verdict, Ranks, Gaps, timeline and panels of real jobs name the same culprit.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { check, equal, TRACES } from "./harness.mjs";
import { sentence, time } from "./figures.mjs";
import { verdictOf } from "./ways.mjs";

const STRAGGLER = join(TRACES, "jobs/torchrec_straggler");
const NANOGPT = join(TRACES, "jobs/h100x8_nanogpt");
const RESNET = join(TRACES, "cuda/resnet50_workers0.pt.trace.json.gz");

async function openTab(page, name) {
	await page.getByRole("tab", { name, exact: true }).click();
}

/* The text of the first row of the table of gaps. */
async function firstGap(page) {
	await openTab(page, "Gaps");
	const row = page.getByRole("grid").first().locator(".table-rows [role=row]").first();
	await row.waitFor();
	await row.click();
	await page.locator(".drawer h2").waitFor();
	return { row: await row.innerText(), drawer: await page.locator(".drawer").innerText() };
}

/* One rank is late: what its host was in is said everywhere. */
async function lateRank(harness) {
	if (!existsSync(STRAGGLER)) return;
	const place = "# running sparse arch";
	const { link } = await harness.serve(STRAGGLER);
	const page = await harness.open(link);
	await verdictOf(page);
	const title = await page.getByRole("article").first().innerText();
	check(title.includes(place), `the verdict does not name it: ${title}`);
	await openTab(page, "Ranks");
	const sentence = page.locator(".ranks-sentence", { hasText: place });
	await sentence.waitFor();
	const said = await sentence.innerText();
	check(said.startsWith("Rank 2 holds the others up"), "Ranks names another");
	const [finding] = harness.json("diagnose", STRAGGLER).findings;
	check(said.includes(`its fix saves ${time(finding.cost_ns)} per step.`), said);
	const gap = await firstGap(page);
	check(gap.row.includes(place), `Gaps: ${gap.row}`);
	check(gap.drawer.includes(place), `the drawer of the gap: ${gap.drawer}`);
	await openTab(page, "Verdict");
	await page
		.getByRole("article")
		.first()
		.getByRole("button", { name: "Show on timeline" })
		.click();
	await page.locator(".drawer", { hasText: place }).waitFor();
	await harness.close(page);
}

/* A late rank saves more when the fixes above it are in place: Ranks has both figures. */
async function bothSavings(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { findings } = harness.json("diagnose", folder);
	const late = findings.find((one) => one.rule === "straggler");
	check(late.cost_ns !== late.alone_ns, "the job tells nothing");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	await verdictOf(page);
	await openTab(page, "Ranks");
	const [all, alone] = [late.cost_ns, late.alone_ns].map(time);
	const words = `saves ${all} per step, with the fixes above it in place; on its own, ${alone}.`;
	await page.locator(".ranks-sentence", { hasText: words }).waitFor();
	await harness.close(page);
}

/* The function that the verdict names is what its jump selects, and not its caller. */
async function removedCall(harness) {
	const path = join(TRACES, "cpu_faults/item_each_microbatch");
	if (!existsSync(path)) return;
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	await verdictOf(page);
	const card = page.getByRole("article").first();
	check((await card.innerText()).includes("log_all"), "the verdict names another");
	await card.getByRole("button", { name: "Show on timeline" }).click();
	await page.locator(".drawer h2", { hasText: "plant.py(62): log_all" }).waitFor();
	await harness.close(page);
}

/* All hosts are slow, one is the last: Ranks says how both are true. */
async function allHosts(harness) {
	if (!existsSync(NANOGPT)) return;
	const { link } = await harness.serve(NANOGPT);
	const page = await harness.open(link);
	await verdictOf(page);
	const { findings } = harness.json("diagnose", NANOGPT);
	await openTab(page, "Ranks");
	const sentence = page.locator(".ranks-sentence", { hasText: "arrives last" });
	await sentence.waitFor();
	const said = await sentence.innerText();
	check(said.startsWith("Rank 1 arrives last"), said);
	check(said.includes(findings[0].title), `Ranks does not lead to the verdict: ${said}`);
	/* what the late rank alone costs is the replay's answer */
	const { step_ns, fixed_step_ns } = harness.json("what-if", "--fix", "straggler", NANOGPT);
	await sentence
		.getByText(`would take ${time(fixed_step_ns)} instead of ${time(step_ns)}`)
		.waitFor();
	await openTab(page, "Overview");
	const headline = page.locator(".headline", { hasText: "exposed communication" });
	await headline.waitFor();
	check(
		!(await headline.innerText()).includes("further savings"),
		"Overview leads to Kernels",
	);
	await harness.close(page);
}

/* Two ranks arrive last, each for its own reason. */
async function twoLate(harness) {
	const folder = join(TRACES, "jobs/megatron_tp8");
	if (!existsSync(folder)) return;
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	await verdictOf(page);
	await openTab(page, "Ranks");
	const sentence = page.locator(".ranks-sentence", { hasText: /^Ranks / });
	const said = await sentence.innerText();
	const { rows, columns } = harness.json("stragglers", folder);
	const at = (name) => columns.findIndex((one) => one.name === name);
	check(said.startsWith(`Ranks ${rows.map((row) => row[at("rank")]).join(", ")} `), said);
	for (const row of rows)
		check(said.includes(`rank ${row[at("rank")]}: ${row[at("cause")]}.`), said);
	await harness.close(page);
}

/* The line of the input is the same in the verdict, the table and the drawer. */
async function inputLine(harness) {
	if (!existsSync(RESNET)) return;
	const line = "resnet50_profiler_api.py";
	const { link } = await harness.serve(RESNET);
	const page = await harness.open(link);
	await verdictOf(page);
	const verdict = await page.getByRole("article").first().innerText();
	check(verdict.includes(`${line}:42`) || verdict.includes(`${line}(42)`), verdict);
	const gap = await firstGap(page);
	check(gap.row.includes(`${line}(42)`), `Gaps: ${gap.row}`);
	check(gap.drawer.includes(`${line}:42`), `the drawer of the gap: ${gap.drawer}`);
	const { rows, columns } = harness.json("gaps", RESNET, "--group", "gap", "--top", "1");
	const at = columns.findIndex((one) => one.name === "step_percent");
	check(rows[0][at] > 30, `a gap of ${rows[0][at]} % of its own step`);
	await harness.close(page);
}

/* What no steady step has is in the sentence and on its card, and no fix of the waterfall. */
async function startUp(harness) {
	const path = join(TRACES, "unseen/switch_cold.json.gz");
	if (!existsSync(path)) return;
	const told = harness.json("diagnose", path);
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	const said = await verdictOf(page);
	const start = time(told.start_up_ns);
	check(said.includes(`${start} of it is start-up, which a steady step does not have.`), said);
	check(said.endsWith(sentence(told).split(". ").at(-1)), said);
	await page.locator(".sentence-notes", { hasText: told.steps_text }).waitFor();
	const falls = await page.locator("label.fall").allInnerTexts();
	check(!falls.some((one) => /start-up/.test(one)), `start-up is a fix: ${falls}`);
	const card = await page.getByRole("article").first().innerText();
	check(card.includes("start-up") && !/saves/.test(card.slice(0, 120)), card.slice(0, 120));
	/* without the fixes the step is today's, start-up and all */
	for (const box of await page.getByRole("checkbox", { name: /^Fix/, checked: true }).all())
		await box.uncheck();
	await page.locator(".falls:not(.busy)").waitFor();
	const last = await page.locator(".fall.whole .fall-figure").last().innerText();
	equal(last, time(told.step_ns), "the step without fixes");
	await harness.close(page);
}

/* Idle time behind a sync, in which nothing is recorded: the verdict's words in both panels. */
async function unrecorded(harness) {
	const path = join(TRACES, "unseen/sam_amg.json.gz");
	if (!existsSync(path)) return;
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	await verdictOf(page);
	const words = "code that is not recorded, behind aten::to";
	const card = page.getByRole("article").first();
	check((await card.innerText()).includes(words), "the verdict does not say it");
	const gap = await firstGap(page);
	check(gap.drawer.includes(`CPU in ${words}`), `the drawer of the gap: ${gap.drawer}`);
	await openTab(page, "Verdict");
	await card.getByRole("button", { name: "Show on timeline" }).click();
	await page.locator(".drawer", { hasText: `CPU in ${words}` }).waitFor();
	await harness.close(page);
}

/* What the host was in while the GPU idled: verdict, Gaps, and the slice that the jump selects. */
async function inside(harness) {
	for (const [name, said, place] of [
		["dlrm_v100x2", "aten::split_with_sizes", "aten::split_with_sizes"],
		["t4_randn_cpu.json.gz", "aten::randn", "aten::normal_"],
		["nanogpt_h2dprefetch.json.gz", "CompiledFunction", "## Call CompiledFxGraph"],
	]) {
		const path = join(TRACES, "unseen", name);
		if (!existsSync(path)) return;
		const { link } = await harness.serve(path);
		const page = await harness.open(link);
		await verdictOf(page);
		const card = page.getByRole("article").first();
		check((await card.innerText()).includes(said), `${name}: the verdict names another`);
		await card.getByRole("button", { name: "Show on timeline" }).click();
		await page.locator(".drawer h2", { hasText: place }).waitFor();
		const gap = await firstGap(page);
		check(gap.row.includes(place) && gap.drawer.includes(place), `${name}: ${gap.row}`);
		/* how busy the GPUs are is one figure, or the sentence says why there are two */
		const { gpu } = harness.json("diagnose", path);
		await openTab(page, "Overview");
		const busy = `${gpu.busy_percent.toFixed(gpu.busy_percent < 9.995 ? 1 : 0)} %`;
		await page.locator(".headline", { hasText: busy }).waitFor();
		await harness.close(page);
	}
}

/* A place in which nothing is recorded is a stretch of time. */
async function noRow(harness) {
	const path = join(TRACES, "faults3/rotating_lengths/fault");
	if (!existsSync(path)) return;
	const { flags } = JSON.parse(harness.command("ask", "flags", path));
	equal(flags[0].places[0].row, null, "the row of the place");
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	await verdictOf(page);
	await page
		.getByRole("article")
		.first()
		.getByRole("button", { name: "Show on timeline" })
		.click();
	await page.waitForURL(/at=range\.\d+\.\d+/);
	await page.locator(".drawer h2", { hasText: "selected" }).waitFor();
	await openTab(page, "Ranks");
	await page.locator(".ranks-sentence", { hasText: /^A different rank is late/ }).waitFor();
	await harness.close(page);
}

/* On a CPU the place is a stretch of a step: the jump selects what the evidence names in it. */
async function namedInStretch(harness) {
	for (const [name, title, said] of [
		["faults3/growing_cat/fault", "collect_growing", "collect_growing"],
		["unseen/cpu_slow_conv.json.gz", "aten::conv2d", "aten::conv2d takes"],
	]) {
		const path = join(TRACES, name);
		if (!existsSync(path)) continue;
		const { flags } = JSON.parse(harness.command("ask", "flags", path));
		equal(flags[0].places[0].row, null, `${name}: the row of the place`);
		const { link } = await harness.serve(path);
		const page = await harness.open(link);
		await verdictOf(page);
		const card = page.getByRole("article").first();
		check((await card.innerText()).includes(said), `${name}: the verdict names another`);
		await card.getByRole("button", { name: "Show on timeline" }).click();
		await page.waitForURL(/at=slice/);
		await page.locator(".drawer h2", { hasText: title }).waitFor();
		await harness.close(page);
	}
}

/* What takes longer than it exceeds the normal: both figures, the first as tables have it. */
async function bothLengths(harness) {
	const path = join(TRACES, "unseen/cpu_slow_conv.json.gz");
	if (!existsSync(path)) return;
	const { findings } = harness.json("diagnose", path);
	const { rows, columns } = harness.json("operators", path, "--name", "aten::conv2d");
	const at = columns.findIndex((one) => one.name === "host_total_ns");
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	await verdictOf(page);
	const card = await page.getByRole("article").first().innerText();
	for (const one of [
		`aten::conv2d takes ${time(rows[0][at])} per step`,
		`${time(findings[0].cost_ns)} per step are more than normal`,
	])
		check(card.includes(one), `no '${one}': ${card}`);
	await harness.close(page);
}

/* Start-up names the first call, wherever it runs. */
async function firstCall(harness) {
	const path = join(TRACES, "unseen/moe_compile_before");
	if (!existsSync(path)) return;
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	await verdictOf(page);
	const card = page.getByRole("article").first();
	check((await card.innerText()).includes("aten::add_ takes"), await card.innerText());
	await card.getByRole("button", { name: "Show on timeline" }).click();
	await page.locator(".drawer", { hasText: "aten::add_" }).waitFor();
	await harness.close(page);
}

/* Utilization is the verdict's, not that of the rank in the middle. */
async function busyGpus(harness) {
	if (!existsSync(STRAGGLER)) return;
	const { gpu } = harness.json("diagnose", STRAGGLER);
	const { link } = await harness.serve(STRAGGLER);
	const page = await harness.open(link);
	await verdictOf(page);
	await openTab(page, "Overview");
	await page
		.locator(".headline", { hasText: `GPU utilization ${Math.round(gpu.busy_percent)} %` })
		.waitFor();
	await harness.close(page);
}

/* A fix that is unticked is a step of no height; the others stay where they are in the stairs. */
async function stairs(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	await verdictOf(page);
	const boxes = page.getByRole("checkbox", { name: /^Fix/ });
	await boxes.nth(1).uncheck();
	await page.locator(".fall.off .fall-none").first().waitFor({ state: "attached" });
	await page.locator(".falls:not(.busy)").waitFor();
	const edges = await page.locator(".fall-track").evaluateAll((tracks) =>
		tracks.map((track) => {
			const bars = [...track.children].map((bar) => bar.getBoundingClientRect());
			return [
				Math.min(...bars.map((one) => one.left)),
				Math.max(...bars.map((one) => one.right)),
			];
		}),
	);
	/* from today's step down: each bar ends where the one above begins */
	const falls = edges.slice(1, -1);
	let right = edges[0][1];
	for (const [from, to] of falls) {
		check(
			Math.abs(to - right) < 2,
			`a bar ends at ${to}, the one above begins at ${right}`,
		);
		right = from;
	}
	equal(falls.length >= 3, true, "fixes");
	await harness.close(page);
}

export const storyTests = [
	{ name: "story: what the host of a late rank did", run: lateRank },
	{ name: "story: what a late rank costs, and why twice", run: bothSavings },
	{ name: "story: the call that the fix removes", run: removedCall },
	{ name: "story: the last of many slow hosts", run: allHosts },
	{ name: "story: two late ranks, and why each", run: twoLate },
	{ name: "story: the line of the input", run: inputLine },
	{ name: "story: start-up is no fix", run: startUp },
	{ name: "story: idle time that nothing is recorded of", run: unrecorded },
	{ name: "story: what the host was in", run: inside },
	{ name: "story: places without a row", run: noRow },
	{ name: "story: what the evidence names in a stretch of a thread", run: namedInStretch },
	{ name: "story: how long, and how much too long", run: bothLengths },
	{ name: "story: the first call of start-up", run: firstCall },
	{ name: "story: utilization of all GPUs", run: busyGpus },
	{ name: "story: unticked fixes keep the stairs", run: stairs },
];

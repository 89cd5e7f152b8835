/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.mjs - the page of a store: its figures are those of the verdicts, its runs open.
 */
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sentence } from "./figures.mjs";
import { check, equal } from "./harness.mjs";
import { makeLive } from "./live.mjs";
import { verdictOf } from "./ways.mjs";

const SEEDS = [1, 2, 3];

const hasDuckDb = () => Boolean(process.env.STEPSCOPE_DUCKDB);

/* Three runs of a job, then three of it that are slower; the traces of one more are gone. */
export function makeStore(harness) {
	const store = join(harness.scratch, "fleet");
	const runs = ["ddp8-healthy", "ddp8-straggler"].flatMap((preset) =>
		SEEDS.map((seed) => harness.simulate(preset, "--seed", String(seed))),
	);
	const last = harness.simulate("gpu1-fp32-matmul");
	if (existsSync(store)) return { store, runs: [...runs, last] };
	runs.forEach((folder, i) => {
		const team = i % 2 ? "team=vision" : "team=speech";
		harness.command("store", "add", store, folder, "--job", "pretrain", "--label", team);
	});
	const gone = join(harness.scratch, "gone");
	cpSync(last, gone, { recursive: true });
	harness.command("store", "add", store, gone, "--job", "gone");
	rmSync(gone, { recursive: true });
	return { store, runs: [...runs, last] };
}

async function openFleet(harness) {
	const made = makeStore(harness);
	const { link } = await harness.serve("--store", made.store);
	const page = await harness.open(link);
	await page.getByRole("heading", { level: 1, name: /^\d+ runs lost/ }).waitFor();
	return { ...made, page };
}

/* GPU seconds that the findings of the runs cost, from the verdicts alone. */
function lostIn(harness, folders) {
	let lost = 0;
	for (const folder of folders) {
		const { rows, columns } = harness.json("sql", folder, "from findings");
		const cost = columns.findIndex(({ name }) => name === "cost_ns");
		const steps = harness.json("sql", folder, "select count(*) from steps");
		const files = harness.json("sql", folder, "select count(*) from files");
		const perRank = steps.rows[0][0] / files.rows[0][0];
		for (const row of rows) lost += ((row[cost] ?? 0) * perRank * files.rows[0][0]) / 1e9;
	}
	return lost;
}

async function figures(harness) {
	if (!hasDuckDb()) return;
	const { page, runs } = await openFleet(harness);
	const head = await page.getByRole("heading", { level: 1 }).innerText();
	check(head.startsWith(`${runs.length} runs lost`), head);
	const lost = Number(/lost ([\d.]+) GPU seconds/.exec(head)?.[1]);
	const theirs = lostIn(harness, runs);
	check(Math.abs(lost - theirs) < 0.01 * theirs, `${head}; the verdicts say ${theirs}`);
	const losses = page.getByRole("grid", { name: "losses" });
	const sum = async () => {
		const cells = losses.locator(".table-window [role=gridcell]:has(.bar)");
		return (await cells.allInnerTexts()).reduce((all, text) => all + Number(text), 0);
	};
	await losses.getByRole("gridcell", { name: "One rank holds up all others" }).first().waitFor();
	check(Math.abs((await sum()) - lost) < 0.2, `the causes add up to ${await sum()}, not ${lost}`);
	await page.getByRole("button", { name: "by team" }).click();
	await losses.getByRole("gridcell", { name: "vision" }).first().waitFor();
	check(Math.abs((await sum()) - lost) < 0.2, `the teams add up to ${await sum()}, not ${lost}`);
	await page.getByText(/^from .* ms to .* ms \(\d+ % slower\) since/).waitFor();
	equal(await page.locator(".level-change").count(), 1, "changes that are marked");
	await harness.close(page);
}

/* A run opens in the viewer, with all that it has; Fleet leads back. */
async function opens(harness) {
	if (!hasDuckDb()) return;
	const { page, runs } = await openFleet(harness);
	const list = page.getByRole("grid", { name: "runs" });
	await page.getByRole("searchbox", { name: /Filter runs/ }).fill("straggler");
	await list.getByRole("row").nth(3).waitFor();
	const id = await list.locator(".table-window [role=gridcell]").first().innerText();
	await list.locator(".table-window [role=row]").first().click();
	const said = await verdictOf(page);
	const verdicts = runs.slice(3, 6).map((run) => sentence(harness.json("diagnose", run)));
	check(verdicts.includes(said), `${said} is not among ${verdicts}`);
	check(page.url().includes(`?run=${id}`), page.url());
	await page.getByRole("tab", { name: "Timeline" }).click();
	await page.locator(".timeline canvas").first().waitFor();
	await page.getByRole("tab", { name: "SQL" }).click();
	await page.getByRole("textbox", { name: "SQL query" }).fill("select count(*) as n from files");
	await page.keyboard.press("Control+Enter");
	await page.getByRole("gridcell", { name: "8" }).waitFor();
	await page.reload();
	await page.getByRole("textbox", { name: "SQL query" }).waitFor();
	await page.getByRole("button", { name: "Fleet" }).click();
	await list.getByRole("row").nth(3).waitFor();
	await page.getByRole("searchbox", { name: /Filter runs/ }).fill("gone");
	await list.locator(".table-window [role=row]").first().click();
	await page.getByRole("alert").waitFor();
	const alert = await page.getByRole("alert").innerText();
	check(/the traces of this run are not on this machine.*gone'/.test(alert), alert);
	await page.getByRole("button", { name: "Back" }).click();
	await list.getByRole("row").nth(3).waitFor();
	await harness.close(page);
}

/* Changes of running jobs are those of the command. */
async function changes(harness) {
	if (!hasDuckDb()) return;
	const { store } = makeStore(harness);
	const { folder, ranks } = makeLive(harness, "live-fleet");
	for (const rank of ranks) for (const late of [0, 0, 60_000, 60_000]) rank.add(2000, late);
	harness.command("store", "add", store, folder);
	const { rows } = harness.json("store", "changes", store);
	equal(rows.length, 1, "changes of the command");
	const { link } = await harness.serve("--store", store);
	const page = await harness.open(link);
	await page.getByRole("button", { name: "Look through live numbers" }).click();
	const list = page.getByRole("grid", { name: "changes" });
	await list.getByRole("gridcell", { name: "nightly" }).waitFor();
	const cells = await list.locator(".table-window [role=gridcell]").allInnerTexts();
	const theirs = [rows[0][1], String(rows[0][2]), "data", "2"];
	equal([cells[1], cells[2], cells[6], cells[7]], theirs, "a change");
	await harness.close(page);
}

export const fleetTests = [
	{ name: "fleet: figures are those of the verdicts", run: figures, seconds: 30 },
	{ name: "fleet: changes of running jobs", run: changes, seconds: 20 },
	{ name: "fleet: runs open, and say where their traces were", run: opens, seconds: 30 },
];

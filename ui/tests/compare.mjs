/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.mjs - two runs side by side.
 */
import { time } from "./figures.mjs";
import { check, equal } from "./harness.mjs";
import { load } from "./load.mjs";
import { verdictOf } from "./ways.mjs";

async function compared(harness) {
	const before = harness.simulate("ddp8-straggler");
	const after = harness.simulate("ddp8-healthy");
	const { link } = await harness.serve(before, "--compare", after);
	const page = await harness.open(link);
	await verdictOf(page);
	await page.getByRole("tab", { name: "Compare" }).click();
	const panel = page.getByRole("tabpanel", { name: "Compare" });
	for (const folder of [before, after]) {
		const step = time(harness.json("diagnose", folder).step_ns);
		await panel.getByText(step).first().waitFor();
	}
	await panel.getByRole("grid").getByRole("row").nth(1).waitFor();
	check((await panel.getByRole("alert").count()) === 0, "the tab shows an error");
	/* a row leads to the page of the same row of the first run */
	const row = panel.getByRole("grid").first().locator(".table-rows [role=row]").first();
	const [name] = (await row.innerText()).split("\n");
	await row.click();
	await page.locator(".drawer h2", { hasText: name }).waitFor();
	await page.locator(".drawer .place-sql").waitFor();
	await page.waitForURL(/at=row\.operators/);
	await harness.close(page);
}

/* Findings come first, then both steps on one axis, with one cursor and what changed in it. */
async function aligned(harness) {
	const before = harness.simulate("ddp8-slow");
	const after = harness.simulate("ddp8-healthy");
	const { link } = await harness.serve(before, "--compare", after);
	const page = await harness.open(link.replace("#", "#/compare?"));
	const panel = page.getByRole("tabpanel", { name: "Compare" });
	const findings = panel.getByRole("table", { name: /Findings of both runs/ });
	await findings.waitFor({ timeout: 30_000 });
	for (const { title, level } of harness.json("diagnose", before).findings)
		if (level === "warning")
			await findings
				.getByRole("row")
				.filter({ hasText: title })
				.getByText("gone in B")
				.waitFor();
	/* the command's sentences, and a way to the finding */
	const { change } = harness.json("diff", before, after);
	for (const line of change.text.split("\n").filter(Boolean))
		await panel.getByText(line, { exact: true }).waitFor();
	equal(await findings.getByRole("link").count(), change.findings.rows.length, "links");
	const axis = panel.getByRole("application", { name: /Both runs on one axis/ });
	await axis.getByRole("img", { name: /Run B/ }).waitFor();
	const table = panel.getByRole("table", { name: /What changed most/ });
	await table.waitFor();
	/* one cursor: it stands at the same place on both */
	const box = await axis.getByRole("img", { name: /Run A/ }).boundingBox();
	await page.mouse.move(box.x + box.width / 3, box.y + 40);
	const cursors = axis.locator(".aligned-cursor");
	equal(await cursors.count(), 2, "cursors");
	const [x, y] = await cursors.evaluateAll((all) => all.map((one) => one.style.left));
	equal(x, y, "where the cursors stand");
	await panel.getByText(/· at \d/).waitFor();
	/* what is visible is summed: the route range says the same of it */
	const caption = () => table.locator("caption").innerText();
	const whole = await caption();
	await axis.focus();
	for (const key of ["w", "w", "w"]) await page.keyboard.press(key);
	await page.waitForFunction(
		(was) => document.querySelector(".aligned-table caption")?.innerText !== was,
		whole,
	);
	check((await table.getByRole("row").count()) > 1, "nothing is summed");
	/* a figure leads to the calls of its run, as the command counts them */
	const inBoth = table
		.getByRole("row")
		.filter({ has: page.locator("td:nth-child(2) button") })
		.filter({ has: page.locator("td:nth-child(3) button") });
	for (const [run, folder] of [before, after].entries()) {
		await inBoth.first().getByRole("button").nth(run).click();
		const drawer = page.getByRole("complementary", { name: "Name" });
		await drawer.getByText("Calls by duration").waitFor();
		const name = await drawer.getByRole("heading", { level: 2 }).innerText();
		/* no longer name that holds it */
		const q = encodeURIComponent(`${name.slice(0, -1)}?`);
		const { count } = JSON.parse(harness.command("ask", `search?q=${q}&limit=1`, folder));
		await drawer.getByText(`${count.toLocaleString("en-US")} calls:`).waitFor();
		equal(await drawer.getByText("in run B").count(), run, "run B");
		equal(await drawer.getByText("First on timeline").count(), 1 - run, "ways to A's rows");
	}
	await panel.getByRole("combobox", { name: "Rank of both runs" }).selectOption("rank 3");
	await page.waitForURL(/pair=rank/);
	await axis.waitFor();
	check((await panel.getByRole("alert").count()) === 0, "the tab shows an error");
	await harness.close(page);
}

/* One rank against eight: the page says that they differ. */
async function differ(harness) {
	const { link } = await harness.serve(
		harness.simulate("ddp8-healthy"),
		"--compare",
		harness.simulate("gpu1-fp32-matmul"),
	);
	const page = await harness.open(link.replace("#", "#/compare?"));
	const said = page.getByRole("list", { name: "In what the runs differ" });
	await said.getByText(/A has 8 ranks, B 1 rank/).waitFor({ timeout: 30_000 });
	/* and that it compares nothing: no factor, and the findings of each */
	await page.getByText(/^These runs cannot be compared/).waitFor();
	const headline = await page.locator(".compare-sentence").innerText();
	check(!/faster|slower/.test(headline), headline);
	await page
		.getByRole("table", { name: /Findings of both runs/ })
		.getByText("only in B")
		.first()
		.waitFor();
	await harness.close(page);
}

async function units() {
	const model = await load("tabs/compare/aligned-model.ts");
	const finding = (rule, cost_ns, title = rule) => ({ rule, cost_ns, title, level: "warning" });
	const columns = ["change", "rule", "cost_a_ns", "cost_b_ns", "finding"];
	const changed = {
		columns: columns.map((name) => ({ name })),
		rows: [
			["gone", "gone", 50, 0, "gone"],
			["more", "more", 10, 30, "now more"],
			["new", "new", 0, 5, "new"],
		],
	};
	equal(
		model
			.findingsOf(
				changed,
				[finding("gone", 50), finding("same", 100), finding("more", 10)],
				[finding("same", 101), finding("more", 30, "now more"), finding("new", 5)],
			)
			.map(({ change, titles, a, b, number }) => [change, titles, a, b, number]),
		[
			["gone", ["gone"], 50, null, 1],
			["more", ["more", "now more"], 10, 30, 3],
			["new", ["new"], null, 5, null],
			["both", ["same"], 100, 101, 2],
		],
		"findings by what changed",
	);
	equal(
		model
			.findingsOf({ columns: [], rows: [] }, [finding("mine", 5)], [finding("theirs", 7)])
			.map(({ change, titles, a, b }) => [change, titles, a, b]),
		[
			["onlyA", ["mine"], 5, null],
			["onlyB", ["theirs"], null, 7],
		],
		"findings of runs that cannot be compared",
	);
	const track = (number, kind, slices, stream = null) => ({
		...{ track: number, kind, slices, stream },
	});
	equal(
		model
			.rowsOf([
				track(0, "main", 900),
				track(1, "thread", 800),
				...[2, 3, 4, 5, 6].map((i) => track(i, "compute", 10 * i, i)),
				track(7, "communication", 1, 20),
				track(8, "other", 500, 7),
			])
			.map((one) => one.track),
		[0, 3, 4, 5, 6, 7],
		"the stream of the collectives stays, however little it has",
	);
	const name = (text, self_ns) => ({ where: "device", name: text, self_ns, count: 1 });
	equal(
		model
			.differencesOf([name("mm", 10), name("add", 7)], [name("mm", 30)])
			.map((one) => [one.name, one.a, one.b, one.change]),
		[
			["mm", 10, 30, 20],
			["add", 7, null, -7],
		],
		"operators by what changed",
	);
	const file = (rank, device) => ({
		rank,
		device,
		problem: null,
		steps: [{ dropped: null }],
	});
	const job = (...files) => ({ files });
	const said = model.unlike(job(file(0, "NVIDIA A100")), job(file(0, "NVIDIA H100")));
	equal(said, ["The machines differ: A ran on A100, B on H100."], "machines");
	const pairs = model.pairsOf(job(file(0), file(1)), job(file(1), file(2)));
	equal(
		pairs.map((one) => one.title),
		["rank 1"],
		"ranks of both",
	);
}

export const compareTests = [
	{ name: "unit: compare: findings, operators, machines", run: units },
	{ name: "compare: two runs of one job", run: compared },
	{ name: "compare: both steps on one axis, findings first", run: aligned },
	{ name: "compare: runs that differ", run: differ },
];

/*
 * snapshot.mjs - snapshots of memory on the page: dropped, served, in a report, beside traces.
 * Figures are those that the command prints.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, equal, PAGE, TRACES } from "./harness.mjs";
import { drop } from "./ways.mjs";

const MEMORY = join(TRACES, "memory");
const REAL = join(MEMORY, "gpu");

function picklesOf(folder) {
	if (!existsSync(folder)) return [];
	return readdirSync(folder)
		.filter((name) => name.endsWith(".pickle"))
		.map((name) => join(folder, name));
}

/* As format.ts writes it. */
function bytesText(bytes) {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let [value, unit] = [bytes, 0];
	while (Math.abs(value) >= 999.5 && unit < units.length - 1) {
		value /= 1000;
		unit++;
	}
	if (!unit) return `${Math.round(value)} B`;
	const size = Math.abs(value);
	const whole = size >= 99.95 || Number.isInteger(value);
	return `${value.toFixed(whole ? 0 : size >= 9.995 ? 1 : 2)} ${units[unit]}`;
}

function rowsOf(document) {
	const names = document.columns.map((column) => column.name);
	return document.rows.map((row) =>
		Object.fromEntries(names.map((name, i) => [name, row[i]])),
	);
}

/* The figures of the device that the page shows first: the first with events, or the first. */
function summaryOf(harness, path) {
	const rows = rowsOf(harness.json("snapshot", path, "summary"));
	return rows.find((row) => row.events > 0) ?? rows[0];
}

async function leadOf(page) {
	const lead = page.locator(".snapshot-lead");
	await lead.waitFor({ timeout: 30_000 });
	return (await lead.innerText()).trim();
}

async function compare(harness, page, path) {
	const said = await leadOf(page);
	const row = summaryOf(harness, path);
	if (row.reserved_bytes)
		check(
			said.includes(
				`At the end ${bytesText(row.allocated_bytes)} are allocated of ` +
					`${bytesText(row.reserved_bytes)} reserved`,
			),
			`${path}: the page says: ${said}`,
		);
	const peak = row.peak_active_bytes;
	const words = peak === null ? "the peak is not known" : `The peak was ${bytesText(peak)}`;
	check(said.includes(words), `${path}: the page says: ${said}, not ${words}`);
	const findings = rowsOf(harness.json("snapshot", path, "findings", "--device", row.device));
	const shown = await page.locator(".finding-box p:first-of-type").allInnerTexts();
	equal(
		shown,
		findings.map((finding) => finding.evidence),
		`${path}: findings`,
	);
}

async function droppedAll(harness) {
	const made = join(MEMORY, "synthetic_leak_oom.p4.pickle");
	const paths = [...picklesOf(REAL), ...(existsSync(made) ? [made] : [])];
	for (const path of paths) {
		const page = await harness.open(pathToFileURL(PAGE).href);
		await drop(page, [path]);
		await compare(harness, page, path);
		equal(await page.getByRole("tab").allInnerTexts(), ["Memory"], "tabs of a snapshot");
		await page.getByRole("grid").getByRole("row").nth(1).waitFor();
		await harness.close(page);
	}
}

/* What the legend says is what the core drew; zoom, search, moments and stacks. */
async function used(harness) {
	const path = join(MEMORY, "synthetic_leak_oom.p4.pickle");
	if (!existsSync(path)) return;
	const { link, stop } = await harness.serve(path);
	const page = await harness.open(link);
	await compare(harness, page, path);
	const legend = page.getByRole("list", { name: /Holders/ });
	await legend.getByRole("button", { name: /activation/ }).waitFor();
	await page.getByRole("button", { name: "by line", exact: true }).first().click();
	await legend.getByRole("button", { name: /train\.py:43/ }).click();
	const panel = page.getByRole("region", { name: "Stack" });
	await panel.getByText(/train_step/).first().waitFor();
	const top = rowsOf(harness.json("snapshot", path, "holders", "--group", "stack"))[0];
	await panel.getByText(bytesText(top.peak_bytes)).first().waitFor();
	await page.getByRole("button", { name: "Show the peak" }).click();
	await page.getByRole("heading", { name: /blocks after event/ }).waitFor();
	const reserved = summaryOf(harness, path).peak_reserved_bytes;
	await page.getByText(`of ${bytesText(reserved)}`).first().waitFor();
	const chart = page.getByRole("img", { name: /Active memory/ });
	await chart.press("+");
	await page.getByRole("button", { name: "Show all" }).click();
	await page.getByLabel("Find a holder").fill("train.py");
	check((await legend.locator("li.off").count()) > 0, "the search dims nothing");
	for (const name of ["Leaks", "Allocations", "Segments", "Out of memory", "Settings"]) {
		await page.getByRole("button", { name, exact: true }).click();
		await page.getByRole("grid").waitFor();
	}
	await harness.close(page);
	stop();
}

async function reported(harness) {
	const path = join(MEMORY, "synthetic_normal.p4.pickle");
	if (!existsSync(path)) return;
	const report = join(harness.scratch, "snapshot.html");
	harness.command("report", path, "-o", report);
	const page = await harness.open(pathToFileURL(report).href, { offline: true });
	await compare(harness, page, path);
	await harness.close(page);
}

/* A folder with ranks and a snapshot: both are on the tab Memory. */
async function beside(harness) {
	const path = join(MEMORY, "synthetic_fragmentation.p4.pickle");
	if (!existsSync(path)) return;
	const folder = join(harness.scratch, "beside");
	const ranks = harness.simulate("gpu1-fp32-matmul");
	mkdirSync(folder);
	for (const name of readdirSync(ranks).filter((one) => one.startsWith("rank")))
		copyFileSync(join(ranks, name), join(folder, name));
	copyFileSync(path, join(folder, "rank0_memory.pickle"));
	const { quality } = harness.json("files", folder);
	equal(quality.unreadable_files, 0, "snapshots that views of traces cannot read");
	const { link, stop } = await harness.serve(folder);
	const page = await harness.open(link);
	await page.getByRole("tab", { name: "Memory" }).click();
	await page.getByRole("button", { name: "Snapshot", exact: true }).click();
	await compare(harness, page, path);
	await page.getByRole("button", { name: "Recording", exact: true }).click();
	await page.locator(".snapshot-lead").waitFor({ state: "detached" });
	await harness.close(page);
	stop();
}

/* The first run is before, the second after. */
async function compared(harness) {
	const [before, after] = ["synthetic_normal", "synthetic_leak"].map((name) =>
		join(MEMORY, `${name}.p4.pickle`),
	);
	if (!existsSync(before)) return;
	const { link, stop } = await harness.serve(before, "--compare", after);
	const page = await harness.open(link);
	const reply = page.waitForResponse((one) => one.url().includes("view/snapshot-diff"));
	await leadOf(page);
	await page.getByRole("button", { name: "Compared", exact: true }).click();
	const shown = await (await reply).json();
	equal(shown.rows, harness.json("snapshot", before, after, "diff").rows, "the comparison");
	await page.getByRole("grid").getByText(rowsOf(shown)[0].line).first().waitFor();
	await harness.close(page);
	stop();
}

/* Every view of snapshots is on the page. */
async function everyView(harness) {
	const path = join(MEMORY, "synthetic_leak.p4.pickle");
	if (!existsSync(path)) return;
	const { views } = JSON.parse(harness.command("ask", "offers", path));
	const { link, stop } = await harness.serve(path);
	const page = await harness.open(link);
	const asked = new Set(["snapshot-diff"]); /* where there are two: above */
	page.on("request", (request) => {
		const found = /\/api\/ask\/view\/([a-z-]+)/.exec(request.url());
		if (found) asked.add(found[1]);
	});
	await leadOf(page);
	for (const part of await page.locator(".chips.strong").getByRole("button").all()) {
		await part.click();
		await page.waitForLoadState("networkidle");
	}
	const missing = views.filter((view) => view.of_snapshot && !asked.has(view.name));
	equal(missing, [], "views that the tab does not show");
	await harness.close(page);
	stop();
}

/* What a snapshot shows stands in the verdict, and leads to it. */
async function told(harness) {
	const files = ["cpu_leak.pt.trace.json.gz", "cpu_leak.p4.pickle"].map((name) =>
		join(MEMORY, name),
	);
	if (!existsSync(files[0])) return;
	const { link, stop } = await harness.serve(...files);
	const page = await harness.open(link);
	const card = page.locator(".finding", { hasText: "Memory grows with every step" });
	await card.getByText("13.0 MB").first().waitFor();
	equal(await card.getByText("−").count(), 0, "no cost in time");
	await card.getByText("Host memory grows").waitFor();
	await card.getByText("train.py:48 (forward)").waitFor();
	await card.getByRole("button", { name: "Open in Memory" }).click();
	await leadOf(page);
	await page.getByText("Memory leaks").waitFor();
	await harness.close(page);
	stop();
}

export const snapshotTests = [
	{ name: "snapshot: every real one is dropped on the page", run: droppedAll },
	{ name: "snapshot: the curve, stacks, moments and tables", run: used },
	{ name: "snapshot: a report from disk", run: reported },
	{ name: "snapshot: two runs", run: compared },
	{ name: "snapshot: every view can be reached", run: everyView },
	{ name: "snapshot: beside the traces of a folder", run: beside },
	{ name: "snapshot: in the verdict of the run", run: told },
];

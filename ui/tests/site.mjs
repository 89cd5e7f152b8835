/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.mjs - the documentation site, opened from disk as a reader does: search, themes, phones,
 * keys, the viewer inside it. The harness fails a page that asks another place for anything.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sentence } from "./figures.mjs";
import { check, equal, Failed } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { width: 390, height: 844 };
const SAMPLE = [
	"index.html",
	"tutorial.html",
	"demo.html",
	"faq.html",
	"limits.html",
	"coming-from/perfetto.html",
	"commands/index.html",
	"commands/check.html",
	"views/index.html",
	"views/gaps.html",
	"rules/straggler.html",
	"formats/json.html",
];
const DARK = ["index.html", "views/gaps.html", "rules/straggler.html"];
/* Too large for axe-core to look at in every run. */
const LARGE = ["sql.html", "presets.html"];

/* The site, built once per browser. */
function siteOf(harness) {
	const folder = join(harness.scratch, "site");
	if (!existsSync(join(folder, "index.html"))) {
		const result = spawnSync(join(ROOT, "tools/site"), [harness.stepscope, folder]);
		if (result.status !== 0) throw new Failed(`tools/site: ${result.stderr}`);
	}
	return (address) => pathToFileURL(join(folder, address)).href;
}

async function search(harness) {
	const site = siteOf(harness);
	const page = await harness.open(site("views/gaps.html"));
	for (const [query, title] of [
		["straggler", "straggler"],
		["num_workers", "input-stall"],
		["exit codes", "Exit codes"],
		["sync", "sync"],
		["docker", "containers"],
		["mac", "macOS"],
		["windows", "Windows"],
		["dataloder", "waits for data"],
		["mfu", "MFU"],
		["fastapi", "servers"],
		["oom", "oom"],
		["nccl timeout", "hang"],
		["nsys", "Nsight"],
		["slurm", "Several ranks"],
		["multi node", "many nodes"],
		["tensorboard", "TensorBoard"],
		["gpu idle", "GPU is idle"],
		["memory leak", "memory-leak"],
		["vllm", "vLLM"],
		["uninstall", "Install"],
	]) {
		await page.keyboard.press("/");
		await page.keyboard.type(query);
		const hit = page.locator("#site-hits a").filter({ hasText: title });
		await hit.first().waitFor();
		await page.keyboard.press("Escape");
		await page.locator("#site-search").fill("");
		await page.locator("h1").click();
	}
	await page.keyboard.press("/");
	await page.keyboard.type("straggler");
	await page.locator("#site-hits a").first().waitFor();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("Enter");
	await page.waitForURL(/straggler/);
	await page.locator("#site-search").fill("qqqxyz");
	await page.getByText("Nothing found").waitFor();
	await harness.close(page);
}

async function themes(harness) {
	const site = siteOf(harness);
	const page = await harness.open(site("index.html"), { colorScheme: "light" });
	const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	equal(await back(), "rgb(255, 255, 255)", "light");
	await page.getByRole("button", { name: "Dark" }).click();
	equal(await back(), "rgb(20, 23, 27)", "dark");
	await page.goto(site("views/gaps.html"));
	equal(await back(), "rgb(20, 23, 27)", "dark on the next page");
	await harness.close(page);
	const dark = await harness.open(site("index.html"), { colorScheme: "dark" });
	equal(
		await dark.evaluate(() => getComputedStyle(document.body).backgroundColor),
		"rgb(20, 23, 27)",
		"dark as the system has it",
	);
	await harness.close(dark);
}

/* Nothing is wider than the screen, and the menu is there. */
async function phones(harness) {
	const site = siteOf(harness);
	const page = await harness.open(site("index.html"), { viewport: PHONE });
	for (const address of [...SAMPLE, ...LARGE]) {
		await page.goto(site(address));
		const wide = await page.evaluate(() => document.documentElement.scrollWidth);
		check(wide <= PHONE.width, `${address}: ${wide} px on a screen of ${PHONE.width}`);
	}
	check(await page.locator("#site-menu").isHidden(), "the menu covers a phone");
	await page.getByRole("button", { name: "Menu" }).click();
	await page.locator("#site-menu").getByRole("link", { name: "Rules", exact: true }).click();
	await page.getByRole("heading", { name: "Rules", level: 1 }).waitFor();
	await harness.close(page);
}

/* Colours are all that a theme changes: a few pages show them all. */
async function access(harness) {
	const site = siteOf(harness);
	for (const [colorScheme, addresses] of [
		["light", SAMPLE],
		["dark", DARK],
	]) {
		const page = await harness.open(site("index.html"), { colorScheme });
		for (const address of addresses) {
			await page.goto(site(address));
			await page.evaluate(AXE);
			// the viewer has its own tests
			const { violations } = await page.evaluate(() =>
				window.axe.run({ exclude: ["iframe"] }, { iframes: false, preload: false }),
			);
			equal(
				violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`),
				[],
				`axe-core on ${address} in ${colorScheme}`,
			);
		}
		await harness.close(page);
	}
}

/* The first key leads to the text; then links of the head, in their order. */
async function keys(harness) {
	const page = await harness.open(siteOf(harness)("views/gaps.html"));
	const focus = () => page.evaluate(() => document.activeElement.textContent.trim());
	await page.keyboard.press("Tab");
	equal(await focus(), "Skip to the text", "the first stop");
	await page.keyboard.press("Enter");
	equal(await page.evaluate(() => document.activeElement.id), "site-main", "after skipping");
	await harness.close(page);
}

async function copies(harness) {
	const page = await harness.open(siteOf(harness)("views/gaps.html"), {
		permissions: ["clipboard-read", "clipboard-write"],
	});
	await page.locator(".code").first().hover();
	await page.getByRole("button", { name: "Copy" }).first().click();
	await page.getByRole("button", { name: "Copied" }).waitFor();
	const text = await page.evaluate(() => navigator.clipboard.readText());
	equal(text, "stepscope gaps resnet50_workers0.pt.trace.json.gz", "the copied command");
	await harness.close(page);
}

/* The viewer on the page of the demo has the verdict of the command. */
async function demo(harness) {
	const { step_ns: step } = harness.json("diagnose", harness.simulate("ddp8-slow"));
	const page = await harness.open(siteOf(harness)("demo.html"));
	const viewer = page.frameLocator("iframe");
	await viewer.locator(".finding").first().waitFor();
	const text = await viewer.locator("body").innerText();
	const shown = `${Math.round((step ?? 0) / 1e6)} ms`;
	check(text.includes(shown), `the viewer of the site does not say ${shown}`);
	await harness.close(page);
}

/* The first page: version, coloured code, a job in the viewer, and a place for the reader's own. */
async function firstScreen(harness) {
	const folder = harness.simulate("cnn1-input-in-process");
	const page = await harness.open(siteOf(harness)("index.html"));
	const version = String(harness.command("--version")).split(" ")[1].trim();
	equal(await page.locator("header .version").innerText(), version, "the version");
	check((await page.locator(".hero pre .comment").count()) === 3, "three lines to install");
	const viewer = page.frameLocator(".hero iframe");
	await viewer.locator(".finding").first().waitFor();
	const top = (await page.locator(".hero iframe").boundingBox()).y;
	check(top < 480, `the viewer begins at ${top} px`);
	await page.getByRole("link", { name: "drop your trace here" }).click();
	await viewer
		.locator("input[type=file]")
		.first()
		.setInputFiles(join(folder, "rank0.json.gz"));
	await viewer.locator(".finding").first().waitFor();
	await harness.close(page);
}

/* Behind the link below it: the viewer without traces opens those of a reader. */
async function ownTraces(harness) {
	const folder = harness.simulate("cnn1-input-in-process");
	const page = await harness.open(siteOf(harness)("demo.html"));
	await page.getByRole("link", { name: "open your own traces" }).click();
	await page.locator("input[type=file]").first().setInputFiles(join(folder, "rank0.json.gz"));
	equal(await verdictOf(page), sentence(harness.json("diagnose", folder)), "the verdict");
	await harness.close(page);
}

export const siteTests = [
	{ name: "site: search finds pages, by keys", run: search },
	{ name: "site: light and dark", run: themes },
	{ name: "site: fits a phone", run: phones },
	{ name: "site: axe-core has nothing to say", run: access },
	{ name: "site: keys skip to the text", run: keys },
	{ name: "site: copies commands without prompt and output", run: copies },
	{ name: "site: the first screen has a job and takes another", run: firstScreen },
	{ name: "site: the viewer opens a job", run: demo },
	{ name: "site: the viewer opens traces of the reader", run: ownTraces },
];

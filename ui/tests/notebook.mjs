/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notebook.mjs - the page in a frame of a notebook, as job.show() of the Python module writes it:
 * no server, no storage, and an address that belongs to the page around it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, equal } from "./harness.mjs";

const BASE = '<head><base href="about:srcdoc">';

/* What VS Code lets the outputs of notebooks do: no workers from blobs. */
const STRICT = `default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval';
	style-src 'unsafe-inline'; img-src https: http: data:; font-src https:; connect-src https:;
	child-src https: data:`;

function notebookWith(report, policy = "") {
	const text = report.replace("<head>", BASE).replaceAll("&", "&amp;").replaceAll('"', "&quot;");
	const rights = "allow-scripts allow-downloads allow-popups";
	const meta = policy && `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
	return `<!doctype html>${meta}<title>notebook</title><link rel="icon" href="data:,">
		<h1>notebook</h1>
		<iframe style="width:100%;height:720px" sandbox="${rights}" srcdoc="${text}"></iframe>`;
}

function openNotebook(harness, preset, policy) {
	const report = join(harness.scratch, `in-a-frame-${preset}.html`);
	harness.command("report", harness.simulate(preset), "-o", report);
	const notebook = join(harness.scratch, `notebook-${preset}.html`);
	writeFileSync(notebook, notebookWith(readFileSync(report, "utf8"), policy));
	return harness.open(pathToFileURL(notebook).href, { colorScheme: "dark" });
}

async function frame(harness) {
	const page = await openNotebook(harness, "ddp8-slow");
	const inner = page.frameLocator("iframe");
	await inner.locator(".finding").first().waitFor();
	equal(await inner.locator(".finding").count(), 3, "findings in the frame");
	equal(await inner.locator("html").getAttribute("data-theme"), "dark", "its theme");
	for (const tab of ["Timeline", "Overview"]) {
		await inner.locator(`[role=tab]:text-is("${tab}")`).click();
		await inner.locator(`[role=tab][aria-selected=true]:text-is("${tab}")`).waitFor();
	}
	await inner.locator('a[href*="#/gaps"]').first().click();
	await inner.locator('[role=tab][aria-selected=true]:text-is("Gaps")').waitFor();
	check((await page.title()) === "notebook", "a link of the frame left the notebook");
	equal(await page.locator("h1").innerText(), "notebook", "the page around the frame");
	await harness.close(page);
}

/* The browser reports the worker that it refuses; another one does the work. */
async function strict(harness) {
	const page = await openNotebook(harness, "gpu1-sync-print", STRICT);
	await page.frameLocator("iframe").locator(".finding").first().waitFor();
	equal(page.problems.length, 1, "refusals");
	check(page.problems.pop().includes("Creating a worker from 'blob:"), "refused is the blob");
	await harness.close(page);
}

export const notebookTests = [
	{ name: "notebook: the viewer in a frame", run: frame },
	{ name: "notebook: no workers from blobs", run: strict },
];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addresses.mjs - ?trace=: files beside the page on any web server, and files of `serve`.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, normalize } from "node:path";
import { pathToFileURL } from "node:url";
import { sentence } from "./figures.mjs";
import { check, equal, PAGE } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

/* A plain web server on loopback: files of a folder, nothing else. */
async function host(folder) {
	const asked = [];
	const server = createServer((request, response) => {
		const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
		asked.push(path);
		try {
			if (path === "/away") {
				response.writeHead(302, { Location: "http://127.0.0.1:9/rank0.json.gz" });
				return response.end();
			}
			const bytes = readFileSync(join(folder, normalize(path)));
			const type = path.endsWith(".html") ? "text/html" : "application/octet-stream";
			response.writeHead(200, { "Content-Type": type, "Content-Length": bytes.length });
			return response.end(bytes);
		} catch {
			response.writeHead(404, { "Content-Type": "text/html" });
			return response.end("<h1>not here</h1>");
		}
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", () => done(null)));
	const address = /** @type {import("node:net").AddressInfo} */ (server.address());
	const origin = `http://127.0.0.1:${address.port}`;
	return { origin, asked, stop: () => server.close() };
}

function site(harness) {
	const folder = join(harness.scratch, "web-server");
	const job = harness.simulate("ddp8-slow");
	mkdirSync(join(folder, "runs"), { recursive: true });
	copyFileSync(PAGE, join(folder, "index.html"));
	for (const rank of [0, 1, 2])
		copyFileSync(
			join(job, `rank${rank}.json.gz`),
			join(folder, "runs", `rank${rank}.json.gz`),
		);
	writeFileSync(join(folder, "readme.html"), "<h1>hello</h1>");
	return { folder, job };
}

async function refused(harness, url, words) {
	const page = await harness.open(url);
	await page.getByRole("heading", { name: "Could not open the traces" }).waitFor();
	const said = await page.getByRole("alert").innerText();
	check(words.test(said), `${url}: '${said}'`);
	page.problems.length = 0; /* the browser tells of the 404, too */
	await page.getByRole("button", { name: "Back" }).click();
	await page.getByRole("region", { name: "Open traces" }).waitFor();
	await harness.close(page);
}

async function hosted(harness) {
	const { folder, job } = site(harness);
	const web = await host(folder);
	const at = `${web.origin}/index.html`;
	const one = await harness.open(`${at}?trace=runs/rank0.json.gz`);
	equal(
		await verdictOf(one),
		sentence(harness.json("diagnose", join(job, "rank0.json.gz"))),
		"the verdict of one rank",
	);
	await one.getByRole("button", { name: "Open another" }).waitFor();
	await one.getByRole("button", { name: "Copy link" }).waitFor();
	await harness.close(one);
	/* several, by every form of the same origin, and a place */
	const three = ["runs/rank0.json.gz", "/runs/rank1.json.gz", `${web.origin}/runs/rank2.json.gz`];
	const query = three.map((path) => `trace=${encodeURIComponent(path)}`).join("&");
	const all = await harness.open(`${at}?${query}#/kernels?rank=2`);
	await all.getByRole("grid").getByRole("row").nth(1).waitFor();
	equal(await all.getByRole("combobox", { name: /rank/ }).inputValue(), "2", "the rank");
	equal(await all.getByRole("combobox", { name: /rank/ }).locator("option").count(), 4, "ranks");
	await harness.close(all);

	await refused(harness, `${at}?trace=runs/rank7.json.gz`, /no .*rank7\.json\.gz.* on 127/);
	await refused(harness, `${at}?trace=readme.html`, /readme\.html/);
	await refused(harness, `${at}?trace=away`, /did not send/);
	for (const other of [
		"http://example.com/rank0.json.gz",
		"//example.com/rank0.json.gz",
		"javascript:alert(1)",
		"data:application/json,[]",
		`blob:${web.origin}/x`,
		"file:///etc/passwd",
		"http://[",
	])
		await refused(harness, `${at}?trace=${encodeURIComponent(other)}`, /is not on 127/);
	check(!web.asked.some((path) => /passwd|example/.test(path)), "asked for another file");
	await refused(harness, `${pathToFileURL(PAGE).href}?trace=rank0.json.gz`, /opened from disk/);
	web.stop();
}

/* A report shows what it carries and asks nobody, also on a server. */
async function reports(harness) {
	const { folder, job } = site(harness);
	harness.command("report", join(job, "rank1.json.gz"), "-o", join(folder, "report.html"));
	const web = await host(folder);
	const page = await harness.open(`${web.origin}/report.html?trace=runs/rank0.json.gz`);
	equal(
		await verdictOf(page),
		sentence(harness.json("diagnose", join(job, "rank1.json.gz"))),
		"the verdict of the report",
	);
	equal(web.asked, ["/report.html"], "what the report asks for");
	await harness.close(page);
	web.stop();
}

async function served(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link.replace("/#", "/?trace=rank3.json.gz#"));
	await page.getByRole("application").waitFor();
	equal(await page.getByRole("combobox", { name: /^rank/ }).inputValue(), "3", "the rank");
	const open = page.locator(".head-fold[aria-expanded=true]");
	await open.first().waitFor();
	equal((await open.allInnerTexts()).map((text) => /rank \d/.exec(text)[0]), ["rank 3"], "open");
	await harness.close(page);
	const lost = await harness.open(link.replace("/#", "/?trace=rank99.json.gz#"));
	await lost.getByText(/rank99\.json\.gz.* is not among the 8 files/).waitFor();
	await harness.close(lost);
}

export const addressTests = [
	{ name: "address: ?trace= on a plain web server", run: hosted },
	{ name: "address: a report ignores ?trace= and asks nobody", run: reports },
	{ name: "address: ?trace= of a served folder", run: served },
];

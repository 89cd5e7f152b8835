/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.mjs - "Open in Perfetto": a window that stands for ui.perfetto.dev gets the packets that
 * the command writes; a page from disk saves them.
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { check, PAGE } from "./harness.mjs";
import { Line, settle, windowOf } from "./timeline.mjs";
import { drop, tracesOf, verdictOf } from "./ways.mjs";

const PLACE = "https://ui.perfetto.dev";

/* Answers late, as a page that loads does, and keeps what it gets. */
const STAND_IN = `<!doctype html><script>
setTimeout(() => addEventListener("message", (event) => {
	if (event.data === "PING") event.source.postMessage("PONG", event.origin);
	else window.got = { ...event.data.perfetto, origin: event.origin };
}), 400);
</script>`;

const SPAN = "from=100000000&to=300000000";

/* What the command writes for the window of the page. */
function packetsOf(harness, page, folder) {
	const [from, to] = windowOf(page);
	return harness.command("ask", `perfetto?files=0&from=${from}&to=${to}`, folder);
}

function standIn(page) {
	return page.context().route(`${PLACE}/**`, (route) =>
		route.fulfill({ contentType: "text/html", body: STAND_IN }),
	);
}

async function handsOver(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await Line.open(harness, folder, `?${SPAN}&open=0`);
	const { page } = line;
	await standIn(page);
	const button = page.getByRole("button", { name: "Open in Perfetto" });
	const title = await button.getAttribute("title");
	check(/needs the internet/.test(title) && /stay in this browser/.test(title), title);
	const [other] = await Promise.all([page.waitForEvent("popup"), button.click()]);
	await other.waitForFunction(() => window.got, null, { timeout: 30_000 });
	const got = await other.evaluate(() => {
		const { buffer, title: name, fileName, origin } = window.got;
		const bytes = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte));
		return { name, fileName, origin, base64: btoa(bytes.join("")) };
	});
	const asked = packetsOf(harness, page, folder);
	check(Buffer.from(got.base64, "base64").equals(asked), "other packets than the command's");
	check(got.origin === new URL(page.url()).origin && got.name === "ddp8-slow", got.name);
	await settle(page);
	check(!(await page.locator(".tool-words").count()), "something is said after it worked");
	await harness.close(page);
}

async function saysWhy(harness) {
	const line = await Line.open(harness, harness.simulate("ddp8-slow"), `?${SPAN}&open=0`);
	const { page } = line;
	await page.context().route(`${PLACE}/**`, (route) =>
		route.fulfill({ contentType: "text/html", body: "<!doctype html>silent" }),
	);
	const button = page.getByRole("button", { name: "Open in Perfetto" });
	const [other] = await Promise.all([page.waitForEvent("popup"), button.click()]);
	await other.waitForLoadState();
	await other.close();
	await page.getByText("The window was closed.").waitFor();
	await harness.close(page);
}

async function saves(harness) {
	const folder = harness.simulate("ddp8-slow");
	const page = await harness.open(pathToFileURL(PAGE).href);
	await drop(page, tracesOf(folder));
	await verdictOf(page);
	await page.evaluate((span) => (location.hash = `#/timeline?${span}&open=0`), SPAN);
	const button = page.getByRole("button", { name: "Save for Perfetto" });
	const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
	check(file.suggestedFilename().endsWith(".pftrace"), file.suggestedFilename());
	const asked = packetsOf(harness, page, folder);
	check(readFileSync(await file.path()).equals(asked), "other packets than the command's");
	await harness.close(page);
}

export const perfettoTests = [
	{ name: "in perfetto: its window gets the packets of the range", run: handsOver },
	{ name: "in perfetto: a closed window is told", run: saysWhy },
	{ name: "in perfetto: a page from disk saves the packets", run: saves },
];

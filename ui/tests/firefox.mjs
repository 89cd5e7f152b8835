/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox.mjs - the page in Firefox: dropped files, the timeline, links. Without Firefox there is
 * nothing to test; tools/setup installs it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { sentence } from "./figures.mjs";
import { check, equal, PAGE } from "./harness.mjs";
import { Firefox, hasFirefox } from "./marionette.mjs";

async function inFirefox(use) {
	if (!hasFirefox()) {
		console.log("       no Firefox here");
		return;
	}
	const firefox = await Firefox.start();
	try {
		await use(firefox);
	} finally {
		await firefox.end();
	}
}

function verdictIn(firefox) {
	return firefox.until("verdict", () => {
		const found = [...document.querySelectorAll("#tab-body h1, #tab-body h2")];
		return found.find((one) => /A step takes/.test(one.innerText))?.innerText.trim();
	});
}

/* What is painted: how many colours the canvas has. */
function paints() {
	const canvas = document.querySelector(".timeline canvas");
	if (!canvas?.width) return 0;
	const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
	const seen = new Set();
	for (let i = 0; i < data.length; i += 40)
		seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
	return seen.size > 8 ? seen.size : 0;
}

/* Files on the page from disk; then rows, zoom, a slice and the other tabs. */
async function dropped(harness) {
	const folder = harness.simulate("ddp8-slow");
	const files = readdirSync(folder)
		.filter((name) => name.startsWith("rank"))
		.map((name) => [name, readFileSync(join(folder, name)).toString("base64")]);
	await inFirefox(async (firefox) => {
		await firefox.go(pathToFileURL(PAGE).href);
		await firefox.until("place for files", () => document.querySelector(".drop") !== null);
		await firefox.run((all) => {
			const dataTransfer = new DataTransfer();
			for (const [name, base64] of all) {
				const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
				dataTransfer.items.add(new File([bytes], name));
			}
			const place = document.querySelector(".welcome");
			for (const type of ["dragover", "drop"])
				place.dispatchEvent(
					new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }),
				);
		}, files);
		equal(
			await verdictIn(firefox),
			sentence(harness.json("diagnose", folder)),
			"the verdict in Firefox",
		);
		await firefox.click("#tab-timeline");
		await firefox.until("rows on the timeline", paints);
		await firefox.run(() => document.querySelector(".timeline canvas").focus());
		await firefox.press("w", "w", "w");
		await firefox.until("window in the address", () => /from=\d+/.test(location.hash));
		await firefox.press(".");
		await firefox.until("slice in the details", () => /at=slice/.test(location.hash));
		if (process.env.STEPSCOPE_PICTURES)
			await firefox.picture(join(process.env.STEPSCOPE_PICTURES, "firefox-timeline.png"));
		const tabs = await firefox.run(() =>
			[...document.querySelectorAll('[role="tab"]')].map((tab) => tab.id),
		);
		check(tabs.length > 10, `${tabs.length} tabs`);
		for (const id of tabs) {
			await firefox.click(`#${id}`);
			await firefox.until(`text on ${id}`, () => {
				const body = document.getElementById("tab-body");
				return body.innerText.length > 20 && !body.querySelector('[role="progressbar"]');
			});
			const failed = await firefox.run(
				() => document.querySelector("#tab-body .state-failed")?.innerText ?? "",
			);
			equal(failed, "", `what ${id} says in Firefox`);
		}
	});
}

/* A link of the server, and one to a place, in another Firefox. */
async function linked(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const place = link.replace("#", "#/kernels?rank=3&");
	await inFirefox(async (firefox) => {
		await firefox.go(link);
		await verdictIn(firefox);
		equal(await firefox.run(() => location.href.includes("token")), false, "the token stays");
		await firefox.go("about:blank");
		await firefox.go(place);
		const rows = () => document.querySelectorAll('[role="grid"] [role="row"]').length > 2;
		await firefox.until("table of kernels", rows);
		equal(
			await firefox.run(() => location.hash.replace(/^#\//, "").split("?")[0]),
			"kernels",
			"the tab of a link",
		);
		equal(await firefox.run(() => /rank=3/.test(location.hash)), true, "the rank of a link");
		/* back leads to the verdict, forward to the kernels */
		await firefox.click("#tab-verdict");
		await verdictIn(firefox);
		await firefox.ask("WebDriver:Back", {});
		await firefox.until("kernels again", () => location.hash.startsWith("#/kernels"));
	});
	if (!hasFirefox()) return;
	await inFirefox(async (firefox) => {
		await firefox.go(link.replace(/#.*$/, ""));
		await firefox.until("word about the token", () =>
			/no token/.test(document.querySelector('[role="alert"]')?.innerText ?? ""),
		);
	});
}

export const firefoxTests = [
	{ name: "firefox: dropped files, the timeline, every tab", run: dropped },
	{ name: "firefox: links", run: linked },
];

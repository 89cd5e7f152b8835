/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shots.mjs - pictures of every tab, for docs/ and for people to look at.
 *
 *     node tests/shots.mjs STEPSCOPE FOLDER [WIDTH HEIGHT]
 *
 * A simulated job of eight ranks (job) and a real trace (trace), light and dark. The pictures of
 * docs/pictures have the default size.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Harness, quiet, TRACES } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

const RESNET = join(TRACES, "cuda/resnet50_workers0.pt.trace.json.gz");

async function shoot(harness, name, paths, folder, viewport) {
	const { link } = await harness.serve(...paths);
	for (const colorScheme of ["light", "dark"]) {
		const page = await harness.open(link, { viewport, colorScheme });
		await verdictOf(page);
		for (const tab of await page.getByRole("tab").all()) {
			await tab.click();
			await quiet(page);
			const id = (await tab.getAttribute("href")).replace("#/", "");
			const path = join(folder, `${id}-${name}-${colorScheme}.png`);
			await page.screenshot({ path });
		}
		await harness.close(page);
	}
}

async function main(stepscope, folder, width, height) {
	const harness = new Harness(stepscope);
	const viewport = { width, height };
	mkdirSync(folder, { recursive: true });
	try {
		await harness.begin();
		const job = [harness.simulate("ddp8-slow"), "--compare", harness.simulate("ddp8-healthy")];
		await shoot(harness, "job", job, folder, viewport);
		if (existsSync(RESNET)) await shoot(harness, "trace", [RESNET], folder, viewport);
	} finally {
		await harness.end();
	}
}

const [stepscope, folder, width = "1280", height = "800"] = process.argv.slice(2);
if (!folder) {
	console.error("usage: node tests/shots.mjs STEPSCOPE FOLDER [WIDTH HEIGHT]");
	process.exit(2);
}
await main(stepscope, folder, Number(width), Number(height));

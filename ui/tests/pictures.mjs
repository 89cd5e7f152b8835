/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pictures.mjs - charts saved as PNG and SVG: what is in the files is what the page shows.
 *
 * With STEPSCOPE_PICTURES=FOLDER the files are kept there, to be looked at.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { opened } from "./charts.mjs";
import { check, equal, quiet, TRACES } from "./harness.mjs";

const KEPT = process.env.STEPSCOPE_PICTURES;

/* The bytes of a picture, which its button saves. */
async function saved(page, within, name, as) {
	const button = within.getByRole("button", { name: `Save ${name} as ${as}`, exact: true });
	const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
	const bytes = readFileSync(await download.path());
	if (KEPT) {
		mkdirSync(KEPT, { recursive: true });
		writeFileSync(join(KEPT, download.suggestedFilename()), bytes);
	}
	return bytes;
}

/* In the page: what the SVG holds, and how much of it is as its canvas has it. */
async function readPicture([svg, place]) {
	const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
	const image = new Image();
	image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
	await image.decode();
	const shown = document.querySelector(`${place} canvas`);
	const { width, height } = shown;
	const canvas = Object.assign(document.createElement("canvas"), { width, height });
	const context = canvas.getContext("2d", { willReadFrequently: true });
	/* canvases are clear where the file has its ground */
	context.fillStyle = getComputedStyle(document.body).backgroundColor;
	context.fillRect(0, 0, width, height);
	context.drawImage(shown, 0, 0);
	const pixels = () => context.getImageData(0, 0, width, height).data;
	const a = pixels();
	context.drawImage(image, width - image.width, 0);
	const b = pixels();
	let same = 0;
	for (let i = 0; i < a.length; i += 4)
		if (Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) < 60) same++;
	return {
		words: [...parsed.querySelectorAll("text")].map((text) => text.textContent),
		shapes: parsed.querySelectorAll("path").length,
		same: (4 * same) / a.length,
	};
}

/* Letters are not the same to the pixel where a canvas and an image draw them. */
const SAME = 0.94;

/* Both files of the chart in `place`; what the SVG holds, which must look as the page does. */
async function picture(page, place, name) {
	await quiet(page);
	const within = page.locator(place).first();
	const png = await saved(page, within, name, "PNG");
	equal(png.subarray(1, 4).toString(), "PNG", `${name}: the format`);
	const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
	const svg = (await saved(page, within, name, "SVG")).toString();
	check(!svg.includes("var("), `${name}: colours that only the page knows`);
	const size = /<svg [^>]*width="(\d+)" height="(\d+)"/.exec(svg);
	const twice = [2 * Number(size?.[1]), 2 * Number(size?.[2])];
	equal([width, height], twice, `${name}: pixels of the PNG`);
	const told = await page.evaluate(readPicture, [svg, place]);
	check(told.same > SAME, `${name}: ${told.same} of the picture is as on the page`);
	check(told.shapes > 0, `${name}: no shapes`);
	return told;
}

function holds(told, wanted, name) {
	for (const word of wanted)
		check(
			told.words.some((one) => one.includes(word)),
			`${name}: "${word}" is not in ${told.words.slice(0, 20).join(", ")}`,
		);
}

async function timeline(harness) {
	const page = await opened(harness, [harness.simulate("ddp8-slow")], "#/timeline");
	await page.getByRole("application").waitFor();
	const told = await picture(page, ".timeline", "timeline");
	check(told.words.length > 3 && told.shapes > 20, JSON.stringify(told));
	await harness.close(page);
}

/* Each cell of a small map is a shape with its figure; of a large one a pixel of an image. */
async function maps(harness) {
	const page = await opened(harness, [harness.simulate("ddp8-slow")], "#/ranks?view=pairs");
	await page.locator(".ranks-part .heat canvas").waitFor();
	const label = await page.locator(".heat canvas").first().getAttribute("aria-label");
	const steps = await picture(page, ".heat", label.split(".")[0]);
	holds(steps, ["0", "7", "ms"], "map of steps");
	const pairs = await picture(page, ".ranks-part .heat", "Who waits for whom");
	check(pairs.words.length >= 16, `names of 8 ranks twice: ${pairs.words.join(", ")}`);
	check(pairs.shapes >= 8, `${pairs.shapes} shapes`);
	await harness.close(page);
}

async function memory(harness) {
	const page = await opened(harness, [harness.simulate("ddp8-healthy")], "#/memory");
	await page.locator(".memory-plot canvas").waitFor();
	const told = await picture(page, ".memory-plot", "memory curve");
	holds(told, ["step 1", "GB", "ms"], "memory curve");
	check(told.shapes >= 8, `${told.shapes} shapes`);
	await harness.close(page);
}

async function snapshots(harness) {
	const path = join(TRACES, "memory/synthetic_normal.p4.pickle");
	if (!existsSync(path)) return;
	const { link } = await harness.serve(path);
	const page = await harness.open(link);
	await page.locator(".map canvas").waitFor();
	const curve = await picture(page, ".area", "Active memory, stacked by category");
	holds(curve, ["peak", "MB"], "holders over time");
	/* the words below the map have the button */
	await quiet(page);
	const svg = await saved(page, page.locator(".map-words"), "map of blocks", "SVG");
	const told = await page.evaluate(readPicture, [svg.toString(), ".map"]);
	check(told.shapes > 3 && told.same > SAME, JSON.stringify(told));
	await harness.close(page);
}

async function flame(harness) {
	const trace = join(TRACES, "cuda/rtx3060_stacks.json.gz");
	if (!existsSync(trace)) return;
	const page = await opened(harness, [trace], "#/flame?time=host");
	await page.locator(".flame canvas").waitFor();
	const told = await picture(page, ".flame", "flame graph");
	holds(told, ["all", "cudaDeviceSynchronize"], "flame graph");
	check(told.words.length > 10 && told.shapes > 3, JSON.stringify(told));
	await harness.close(page);
}

export const pictureTests = [
	{ name: "pictures: timeline", run: timeline },
	{ name: "pictures: maps of ranks", run: maps },
	{ name: "pictures: memory", run: memory },
	{ name: "pictures: snapshots", run: snapshots },
	{ name: "pictures: flame graph", run: flame },
];

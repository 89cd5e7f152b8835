/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colors.mjs - what gives slices their colour, and all arguments of a slice.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { check, equal, TRACES } from "./harness.mjs";
import { load } from "./load.mjs";
import { openTimeline } from "./notes.mjs";
import { copiedBy } from "./ways.mjs";

const MODULES = join(TRACES, "cuda/rtx3060_stacks.json.gz");

/* The canvas as the fill colours that are on it, most pixels first. */
function paints(page) {
	return page.evaluate(() => {
		const canvas = document.querySelector(".timeline canvas");
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		const counts = new Map();
		for (let i = 0; i < data.length; i += 4) {
			const key = `${data[i]},${data[i + 1]},${data[i + 2]}`;
			counts.set(key, (counts.get(key) ?? 0) + 1);
		}
		return Object.fromEntries(counts);
	});
}

/* Red, green and blue of the tokens. */
function tokens(page, names) {
	return page.evaluate((all) => {
		const style = getComputedStyle(document.documentElement);
		const probe = document.createElement("span");
		document.body.append(probe);
		const found = all.map((name) => {
			probe.style.color = style.getPropertyValue(name);
			return getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
		});
		probe.remove();
		return found;
	}, names);
}

function luminance([r, g, b]) {
	const part = (value) => {
		const one = value / 255;
		return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}

function contrast(a, b) {
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
}

async function phases(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const asked = [];
	const page = await openTimeline(harness, link, "?from=100000000&to=300000000");
	page.on("request", (request) => asked.push(request.url()));
	const choice = page.getByRole("combobox", { name: "colour by" });
	equal(await choice.inputValue(), "category", "the default");
	const legend = page.getByRole("list", { name: "Colours" });
	await legend.getByText("compute kernel").waitFor();
	const [backward] = await tokens(page, ["--c-hue-2"]);
	await choice.selectOption("phase");
	for (const name of ["input", "forward", "backward", "optimizer"])
		await legend.getByText(name, { exact: true }).waitFor();
	await page.waitForURL(/color=phase/);
	asked.length = 0;
	await page.getByRole("application").focus();
	await page.keyboard.press("w");
	await page.keyboard.press("w");
	await page.keyboard.press("w");
	await page.waitForTimeout(900);
	const tiles = asked.filter((url) => url.includes("/tiles?"));
	check(tiles.length > 0, "zooming asks for no tiles");
	check(
		tiles.every((url) => url.includes("color=phase")),
		"tiles are asked for without the colour",
	);
	const seen = await paints(page);
	check((seen[backward.join(",")] ?? 0) > 500, "nothing is painted as backward");
	/* a link has it; the default is not in the address */
	await page.reload();
	await legend.getByText("backward", { exact: true }).waitFor();
	equal(await choice.inputValue(), "phase", "the choice of a link");
	await choice.selectOption("category");
	await page.waitForFunction(() => !location.hash.includes("color="));
	await legend.getByText("compute kernel").waitFor();
	/* an address may say anything */
	await page.evaluate(() => {
		location.hash = "#/timeline?color=rainbow";
	});
	await page.waitForTimeout(700);
	equal(await choice.inputValue(), "category", "an unknown colour");
	await harness.close(page);
}

async function modules(harness) {
	if (!existsSync(MODULES)) return;
	const { link } = await harness.serve(MODULES);
	const told = JSON.parse(harness.command("ask", "colors?color=module", MODULES));
	const page = await openTimeline(harness, link, "?color=module");
	const legend = page.getByRole("list", { name: "Colours" });
	await legend.getByText(told.colors[0].name, { exact: true }).waitFor();
	const said = await legend.innerText();
	for (const { name } of told.colors) check(said.includes(name), `the legend lacks ${name}`);
	const [first] = await tokens(page, ["--c-hue-1"]);
	await page.waitForTimeout(900);
	check(((await paints(page))[first.join(",")] ?? 0) > 100, "the first module has no colour");
	await harness.close(page);
	const other = join(TRACES, "cuda/resnet50_workers0.pt.trace.json.gz");
	const bare = await openTimeline(harness, (await harness.serve(other)).link, "?color=module");
	const without = JSON.parse(harness.command("ask", "colors?color=module", other));
	check(without.missing !== null, "the trace has modules");
	check(!/with_stack/.test(without.missing), `stacks are recorded: ${without.missing}`);
	await bare.getByText(without.missing).waitFor();
	await harness.close(bare);
}

async function readable(harness) {
	const { link } = await harness.serve(harness.simulate("gpu1-fp32-matmul"));
	const names = [1, 2, 3, 4, 5, 6, 7, 8, "rest"].map((name) => `--c-hue-${name}`);
	for (const colorScheme of ["light", "dark"]) {
		const page = await openTimeline(harness, link, "", { colorScheme });
		const [back, note, ...hues] = await tokens(page, ["--back", "--note", ...names]);
		check(contrast(note, back) >= 4.5, `${colorScheme}: notes have too little contrast`);
		for (const [i, hue] of hues.entries())
			check(
				contrast(hue, back) >= 3,
				`${colorScheme}: ${names[i]} has ${contrast(hue, back).toFixed(2)}:1`,
			);
		equal(new Set(hues.map(String)).size, names.length, `${colorScheme}: colours that differ`);
		await harness.close(page);
	}
}

/*
 * What people with protanopia and deuteranopia see: the matrices of Machado, Oliveira and Fernandes
 * (A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009), severity 1.0, on
 * linear red, green and blue.
 */
const SEEN = {
	"normal sight": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
	protanopia: [
		[0.152286, 1.052583, -0.204868],
		[0.114503, 0.786281, 0.099216],
		[-0.003882, -0.048116, 1.051998],
	],
	deuteranopia: [
		[0.367322, 0.860646, -0.227968],
		[0.280085, 0.672501, 0.047413],
		[-0.01182, 0.04294, 0.968881],
	],
};

function times(matrix, vector) {
	return matrix.map((row) => row.reduce((sum, value, i) => sum + value * vector[i], 0));
}

/* CIELAB, D65. */
function labOf(rgb, matrix) {
	const linear = rgb.map((value) => {
		const one = value / 255;
		return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
	});
	const seen = times(matrix, linear).map((value) => Math.min(1, Math.max(0, value)));
	const xyz = times(
		[
			[0.4124564, 0.3575761, 0.1804375],
			[0.2126729, 0.7151522, 0.072175],
			[0.0193339, 0.119192, 0.9503041],
		],
		seen,
	);
	const white = [0.95047, 1, 1.08883];
	const [x, y, z] = xyz.map((value, i) => {
		const part = value / white[i];
		return part > 216 / 24389 ? Math.cbrt(part) : ((24389 / 27) * part + 16) / 116;
	});
	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/* CIE76: any two categories can be neighbours on the timeline and in a bar. */
const APART = 12;

async function apart(harness) {
	const { link } = await harness.serve(harness.simulate("gpu1-fp32-matmul"));
	const { COLORS } = await load("core/colors.ts");
	const names = COLORS.map((name) => `--c-${name}`);
	for (const colorScheme of ["light", "dark"]) {
		const page = await openTimeline(harness, link, "", { colorScheme });
		const [back, ...colors] = await tokens(page, ["--back", ...names]);
		for (const [i, color] of colors.entries())
			check(
				contrast(color, back) >= 3,
				`${colorScheme}: ${names[i]} has ${contrast(color, back).toFixed(2)}:1`,
			);
		for (const [sight, matrix] of Object.entries(SEEN)) {
			const labs = colors.map((color) => labOf(color, matrix));
			for (const [i, a] of labs.entries())
				for (const [j, b] of labs.slice(0, i).entries()) {
					const far = Math.hypot(...a.map((value, k) => value - b[k]));
					check(
						far >= APART,
						`${colorScheme}, ${sight}: ${names[i]} and ${names[j]} are ` +
							`${far.toFixed(1)} apart`,
					);
				}
		}
		await harness.close(page);
	}
}

/* The copy has what the route tells, as JSON. */
async function args(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const hit = JSON.parse(
		harness.command("ask", "search?q=ncclDevKernel&limit=1&files=0", folder),
	).hits[0];
	const slice = JSON.parse(
		harness.command("ask", `slice?file=${hit.file}&row=${hit.row}`, folder),
	);
	check(slice.args.length > 4, "the collective has few arguments");
	const page = await openTimeline(harness, link, `?at=slice.${hit.file}.${hit.row}`, {
		permissions: ["clipboard-read", "clipboard-write"],
	});
	const section = page.getByRole("region", { name: "Arguments" });
	await section.waitFor();
	const said = await section.innerText();
	for (const { name, value } of slice.args)
		check(said.includes(name) && said.includes(value), `the drawer lacks ${name}: ${value}`);
	const json = page.locator(".drawer").getByRole("button", { name: "JSON", exact: true });
	const copied = JSON.parse(await copiedBy(page, json));
	check([copied.name].flat().includes(slice.name), "the name that was copied");
	equal(copied.dur_ns, slice.dur_ns, "the duration that was copied");
	for (const { name, value } of slice.args)
		check([copied[name]].flat().includes(value), `the copy lacks ${name}`);
	await harness.close(page);
}

export const colorTests = [
	{ name: "colours: by phase, in the address and in the legend", run: phases },
	{ name: "colours: by module, and what is not recorded", run: modules },
	{ name: "colours: 3:1 in both themes", run: readable },
	{ name: "colours: apart for protan and deutan readers", run: apart },
	{ name: "slice: copies all arguments", run: args },
];

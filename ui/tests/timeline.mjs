/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.mjs - the timeline: keys, mouse, search, ranges, gaps, flows, the address.
 */
import { check, equal, quiet } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

/* The part of the address behind the tab. */
export function address(page) {
	return new URLSearchParams(page.url().split("?")[1] ?? "");
}

export function selected(page) {
	return address(page).get("at");
}

export function windowOf(page) {
	const words = address(page);
	return [Number(words.get("from")), Number(words.get("to"))];
}

export async function settle(page) {
	/* the address follows a view that rests by half a second */
	await quiet(page, 600);
}

/* Waits until the address has a selection, or has none. */
export async function selectionIs(page, there) {
	for (let tries = 0; (selected(page) !== null) !== there; tries++) {
		if (tries === 100) throw new Error(`a selection is ${there ? "not " : ""}there`);
		await page.waitForTimeout(100);
	}
}

export class Line {
	/** @type {import("./harness.mjs").Harness} */
	harness;
	folder = "";
	link = "";
	/** @type {import("playwright-core").Page} */
	page;
	/** @type {import("playwright-core").Locator} */
	canvas;

	static async open(harness, folder, query = "", options = {}) {
		const line = new Line();
		line.harness = harness;
		line.folder = folder;
		const { link } = await harness.serve(folder);
		line.link = link;
		line.page = await harness.open(link, options);
		await verdictOf(line.page);
		await line.page.evaluate((to) => {
			location.hash = to;
		}, `#/timeline${query}`);
		line.canvas = line.page.getByRole("application", { name: /^Timeline/ });
		await line.canvas.waitFor();
		await line.canvas.focus();
		await settle(line.page);
		return line;
	}

	ask(target) {
		return JSON.parse(this.harness.command("ask", target, this.folder));
	}

	async press(...keys) {
		for (const key of keys) {
			await this.page.keyboard.press(key);
			await this.page.waitForTimeout(150);
		}
		await settle(this.page);
	}

	/* Searches and leaves the first hit selected. */
	async search(text) {
		await this.page.keyboard.press("/");
		await this.page.keyboard.type(text);
		await this.page.keyboard.press("Enter");
		await this.page.waitForURL(/at=slice/);
		await settle(this.page);
	}

	drawer() {
		return this.page.getByRole("complementary").or(this.page.locator(".drawer")).first();
	}

	close() {
		return this.harness.close(this.page);
	}
}

async function zoom(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await Line.open(harness, folder, "?from=100000000&to=300000000");
	const width = () => windowOf(line.page)[1] - windowOf(line.page)[0];
	const at = () => windowOf(line.page)[0];
	const whole = width();

	await line.press("w", "w", "w");
	check(width() < whole, "W does not zoom in");
	const near = width();
	await line.press("s", "s");
	check(width() > near, "S does not zoom out");
	const before = at();
	await line.press("d", "d");
	check(at() > before, "D does not pan to the right");
	const right = at();
	await line.press("a", "a");
	check(at() < right, "A does not pan to the left");
	const left = at();
	await line.press("ArrowRight");
	check(at() > left, "the arrow does not pan");
	const box = await line.canvas.boundingBox();
	await line.page.mouse.move(box.x + box.width / 2, box.y + 150);
	const wide = width();
	await line.page.mouse.wheel(0, -240);
	await settle(line.page);
	check(width() < wide, "the wheel does not zoom");
	const start = at();
	await line.page.keyboard.down("Shift");
	await line.page.mouse.wheel(0, 200);
	await settle(line.page); /* a busy browser gets the wheel later than the key */
	await line.page.keyboard.up("Shift");
	check(at() !== start, "Shift and wheel do not pan");
	const held = at();
	await line.page.mouse.down();
	await line.page.mouse.move(box.x + box.width / 2 - 200, box.y + 150, { steps: 5 });
	await line.page.mouse.up();
	await settle(line.page);
	check(at() > held, "dragging does not pan");
	await line.press("r");
	const words = address(line.page);
	check(!words.get("from") || Number(words.get("from")) <= 0, "R does not show the whole run");
	await line.close();
}

async function searches(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await Line.open(harness, folder);
	const hits = line.ask("search?q=aten::item&limit=3");
	const name = ({ file, row }) => `slice.${file}.${row}`;

	await line.search("aten::item");
	equal(selected(line.page), name(hits.hits[0]), "the first hit");
	await line.page.getByText(hits.count.toLocaleString("en-US")).first().waitFor();
	await line.press("Enter");
	equal(selected(line.page), name(hits.hits[1]), "the second hit");
	await line.press("Shift+Enter");
	equal(selected(line.page), name(hits.hits[0]), "the first hit again");
	check(address(line.page).get("q") === "aten::item", "the search is not in the address");
	await line.close();
}

async function walks(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await Line.open(harness, folder);

	await line.search("cudaLaunchKernel");
	await line.canvas.focus();
	const [, file, row] = selected(line.page).split(".");
	const call = line.ask(`slice?file=${file}&row=${row}`);
	const said = await line.drawer().innerText();
	check(said.includes(call.name), `the drawer does not name ${call.name}`);
	for (const parent of call.parents.slice(0, 2))
		check(said.includes(parent.name), `the drawer does not name the parent ${parent.name}`);
	const next = line.ask(`near?file=${file}&row=${row}&go=next`);
	await line.press(".");
	equal(selected(line.page), `slice.${file}.${next.row}`, "what is next on the track");
	await line.press(",");
	equal(selected(line.page), `slice.${file}.${row}`, "what is before on the track");
	const flow = call.flows.find((one) => one.kind === "launch" && one.way === "to");
	await line.press("]");
	equal(selected(line.page), `slice.${flow.file}.${flow.row}`, "the kernel of the launch");
	await line.press("[");
	equal(selected(line.page), `slice.${file}.${row}`, "the launch of the kernel");
	await line.press("f");
	const [from, to] = windowOf(line.page);
	check(from <= call.start_ns && to >= call.start_ns + call.dur_ns, "F does not fit it");
	check(to - from < 200 * call.dur_ns, `F shows ${to - from} ns for ${call.dur_ns}`);
	await line.press("m", "Shift+M", "c", "c");
	await line.press("Escape");
	equal(selected(line.page), null, "the selection after Esc");
	await line.close();
}

async function gaps(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await Line.open(harness, folder);
	const { tracks } = line.ask("tracks?file=0");
	const idle = tracks.find((track) => track.kind === "idle");
	const gap = line.ask(`gap?file=0&track=${idle.track}&gap=0`);
	const head = line.page.getByText("idle of device 0").first();
	const row = await head.boundingBox();
	await line.page.evaluate(
		([from, to]) => {
			location.hash = `#/timeline?from=${from}&to=${to}`;
		},
		[gap.start_ns - gap.dur_ns, gap.start_ns + 2 * gap.dur_ns],
	);
	await settle(line.page);
	const box = await line.canvas.boundingBox();
	const left = row.x + row.width; /* where the rows' names end */
	const x = Math.max(box.x, left) + (box.x + box.width - Math.max(box.x, left)) / 2;
	await line.page.mouse.move(x, row.y + 8);
	await line.page.getByText(gap.says.split(":")[0]).first().waitFor();
	await line.page.mouse.click(x, row.y + 8);
	await settle(line.page);
	equal(selected(line.page), `gap.0.${idle.track}.0`, "the gap that was clicked");
	const said = await line.drawer().innerText();
	for (const cause of gap.causes)
		if (cause.name) check(said.includes(cause.name), `the gap does not name ${cause.name}`);
	await line.close();
}

async function linked(harness) {
	const folder = harness.simulate("ddp8-slow");
	const line = await Line.open(harness, folder, "?from=100000000&to=200000000&at=slice.0.5");
	const slice = line.ask("slice?file=0&row=5");
	const said = await line.drawer().innerText();
	check(said.includes(slice.name), "a link does not open what it names");
	await line.page.keyboard.press("?");
	const help = line.page.getByRole("dialog");
	await help.waitFor();
	const words = await help.innerText();
	for (const word of ["Zoom in", "Pan left", "earch", "flow"])
		check(words.includes(word), `help does not say '${word}'`);
	await line.page.keyboard.press("Escape");
	await help.waitFor({ state: "hidden" });
	await line.close();
}

export const timelineTests = [
	{ name: "timeline: W S A D, arrows, wheel, drag, R", run: zoom },
	{ name: "timeline: search with Enter and Shift+Enter", run: searches },
	{ name: "timeline: . , [ ] F M C Esc and the drawer", run: walks },
	{ name: "timeline: a gap says why", run: gaps },
	{ name: "timeline: links and help", run: linked },
];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.mjs - notes on stretches of time: written, found again, sent with a link and in a report.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, equal, quiet } from "./harness.mjs";
import { copiedBy, verdictOf } from "./ways.mjs";

const permissions = ["clipboard-read", "clipboard-write"];

/* What the address says of notes. */
function notesOf(page) {
	return new URLSearchParams(page.url().split("?").slice(1).join("?")).getAll("note");
}

export async function openTimeline(harness, link, query, options = {}) {
	const page = await harness.open(link, options);
	await verdictOf(page);
	await page.evaluate((to) => {
		location.hash = to;
	}, `#/timeline${query}`);
	await page.getByRole("application").waitFor();
	await quiet(page);
	return page;
}

function lane(page) {
	return page.getByRole("group", { name: "Notes" });
}

async function written(harness) {
	const { link } = await harness.serve(harness.simulate("ddp8-slow"));
	const range = "?from=100000000&to=300000000&at=range.150000000.200000000";
	const page = await openTimeline(harness, link, range, { permissions });
	await page.getByRole("application").focus();
	await page.keyboard.press("n");
	const field = page.getByRole("textbox", { name: "Text of the note" });
	await field.waitFor();
	await page.keyboard.type("Input stalls & <b>waits</b>");
	/* on a busy machine the address is written between two letters, too */
	await page.waitForURL(/note=.*waits%3C%2Fb%3E/);
	equal(notesOf(page), ["150000000_200000000_Input stalls & <b>waits</b>"], "the address");
	const shown = lane(page).getByRole("button", { name: "Input stalls & <b>waits</b>" });
	await shown.waitFor();
	/* the drawer takes its place, and the rows go below the note */
	await quiet(page);
	/* below the axis, as long as its time, above the first row */
	const canvas = await page.getByRole("application").boundingBox();
	const box = await shown.boundingBox();
	check(box.y >= canvas.y + 54, `the note covers the axis: ${box.y - canvas.y}`);
	const [from, to] = [0.25, 0.5].map((part) => canvas.x + part * canvas.width);
	check(Math.abs(box.x - from) < 3, `the note begins at ${box.x}, not at ${from}`);
	check(box.width > to - from - 3, `the note is ${box.width} wide, not ${to - from}`);
	const head = await page.locator(".head.group").first().boundingBox();
	check(head.y >= box.y + box.height - 1, "the first row covers the note");
	/* a second one at a moment, without a selection */
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "Note", exact: true }).click();
	await field.waitFor();
	await field.fill("here");
	await page.waitForURL(/note=.*note=/);
	check(/^(\d+)_\1_here$/.test(notesOf(page)[1]), `${notesOf(page)[1]} is no moment`);
	const copied = await copiedBy(page, page.getByRole("button", { name: "Copy link" }));
	/* other tabs keep them */
	await page.getByRole("tab", { name: "Kernels" }).click();
	await page.getByRole("button", { name: "2 notes" }).waitFor();
	equal(notesOf(page).length, 2, "notes in the address of another tab");
	await harness.close(page);
	return copied;
}

async function sent(harness) {
	const copied = await written(harness);
	const page = await harness.open(copied);
	await lane(page).getByRole("button", { name: /Input stalls/ }).waitFor();
	equal(notesOf(page).length, 2, "notes of the link");
	/* the list leads to a note, changes it and deletes it */
	await page.getByRole("button", { name: "2 notes" }).click();
	const drawer = page.getByRole("complementary", { name: "Note" });
	await drawer.getByRole("button", { name: "here", exact: true }).click();
	await page.waitForURL(/at=note\./);
	const field = drawer.getByRole("textbox");
	equal(await field.inputValue(), "here", "the text of the note");
	await field.fill("there");
	await lane(page).getByRole("button", { name: "there" }).waitFor();
	await drawer.getByRole("button", { name: /Delete the note Input/ }).click();
	await page.getByRole("button", { name: "1 note", exact: true }).waitFor();
	await drawer.getByRole("button", { name: "Delete", exact: true }).click();
	await lane(page).waitFor({ state: "detached" });
	await page.waitForFunction(() => !location.hash.includes("note="));
	/* what was deleted does not come back with Back */
	await page.getByRole("tab", { name: "Kernels" }).click();
	await page.waitForURL(/#\/kernels/);
	await page.goBack();
	await page.getByRole("application").waitFor();
	await page.waitForFunction(() => /^#.timeline(?!.*note=)/.test(location.hash));
	await harness.close(page);
}

async function reported(harness) {
	const folder = harness.simulate("ddp8-slow");
	const report = join(harness.scratch, "noted.html");
	const note = "note=150000000_200000000_late+batch+%3Cimg%20src%3Dx%3E";
	const place = `#/timeline?from=100000000&to=300000000&${note}&at=slice.0.5`;
	const link = `http://127.0.0.1:4040/${place}&token=verysecret`;
	harness.command("report", folder, "--link", link, "-o", report);
	const page = await harness.open(pathToFileURL(report).href, { offline: true });
	await lane(page).getByRole("button", { name: "late batch <img src=x>" }).waitFor();
	check(!(await page.content()).includes("verysecret"), "the report has the key of the server");
	check(!(await page.locator("img").count()), "a note became HTML");
	await page.getByRole("complementary", { name: "Slice" }).waitFor();
	/* its own address wins, and its link has the notes */
	await harness.close(page);
	const other = await harness.open(`${pathToFileURL(report).href}#/kernels`, { offline: true });
	await other.getByRole("grid").getByRole("row").nth(1).waitFor();
	await harness.close(other);
	const plain = join(harness.scratch, "plain.html");
	harness.command("report", folder, "-o", plain);
	const hashed = await harness.open(`${pathToFileURL(plain).href}${place}`, { offline: true });
	await lane(hashed).getByRole("button", { name: /late batch/ }).waitFor();
	await harness.close(hashed);
}

/* Addresses that nobody wrote by hand do no harm. */
async function hostile(harness) {
	const { link } = await harness.serve(harness.simulate("gpu1-fp32-matmul"));
	const words = [
		"1_2_%3Cscript%3Ealert(1)%3C/script%3E",
		"5_4_backwards",
		"-5_4_negative",
		"1e3_2e3_floats",
		`7_9_${"x".repeat(5000)}`,
		"10_20_%E2%80%AEturned%00%0Around",
		"99999999999999999999_99999999999999999999_far",
		"30_40_",
		"__",
		...Array.from({ length: 300 }, (_, i) => `${100 + i}_${1000 + i}_many`),
	];
	const page = await openTimeline(
		harness,
		link,
		`?${words.map((word) => `note=${word}`).join("&")}`,
	);
	const kept = notesOf(page);
	equal(kept.length, 40, "notes that are kept");
	check(kept.some((note) => note === "1_2_<script>alert(1)</script>"), "a text is not kept");
	check(kept.some((note) => note === "10_20_turned round"), "a text is not cleaned");
	check(
		kept.every((note) => note.length < 320 && !/backwards|negative|floats|far/.test(note)),
		"a bad note is kept",
	);
	check(page.url().length < 20_000, `the address has ${page.url().length} letters`);
	await page.getByRole("button", { name: "40 notes" }).click();
	const drawer = page.getByRole("complementary", { name: "Note" });
	await drawer.getByText("All notes").waitFor();
	equal(await drawer.locator("script").count(), 0, "scripts in the drawer");
	await page.evaluate(() => {
		location.hash = "#/timeline?at=note.5000000.6000000";
	});
	await drawer.getByRole("heading", { name: /Note on/ }).waitFor();
	await drawer.getByRole("textbox").fill("one too many");
	await drawer.getByText(/no room for more notes/).waitFor();
	await harness.close(page);
}

export const noteTests = [
	{ name: "notes: written on a range and at a moment, sent, changed, deleted", run: sent },
	{ name: "notes: in a report", run: reported },
	{ name: "notes: hostile addresses", run: hostile },
];

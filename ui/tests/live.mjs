/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.mjs - a running job: the page says what the command says, also of steps that come later.
 */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, equal, PAGE } from "./harness.mjs";

const ROW = 52;
const HEAD = 136;
const ROOM = 40_000;
const RANKS = 4;
const BEGIN_US = 1_790_000_000_000_000;

/* A rank's file as stepscope.torch.live() writes it. */
class Rows {
	constructor(folder, rank) {
		const head = Buffer.alloc(HEAD);
		this.path = join(folder, `live.rank0000${rank}.node1.77.rows`);
		this.rank = rank;
		this.count = 0;
		this.now = BEGIN_US;
		head.write("STEPLIVE");
		const numbers = [1, HEAD, ROW, ROOM, rank, RANKS, 77, 0];
		for (const [i, n] of numbers.entries()) head.writeUInt32LE(n, 8 + 4 * i);
		head.writeBigUInt64LE(BigInt(BEGIN_US) * 1000n, 40);
		head.write("node1", 48);
		head.write("nightly", 88);
		this.file = openSync(this.path, "w");
		writeSync(this.file, head);
	}

	/* Steps of 0.5 s, `late` µs longer; rank 2 waits for data as long. */
	add(steps, late) {
		const rows = Buffer.alloc(steps * ROW);
		for (let i = 0; i < steps; i++) {
			const us = 500_000 + ((this.count + i) % 7) * 500 + late;
			const waits = 900 + (this.rank === 2 ? late : 0);
			this.now += us;
			rows.writeBigUInt64LE(BigInt(this.now), i * ROW);
			const cells = [this.count + i + 1, us, waits, 0, 3000, 0xffffffff];
			for (const [k, n] of cells.entries()) rows.writeUInt32LE(n, i * ROW + 8 + 4 * k);
		}
		writeSync(this.file, rows, 0, rows.length, HEAD + this.count * ROW);
		this.count += steps;
		this.tell(this.count, 128);
	}

	tell(number, at) {
		const bytes = Buffer.alloc(4);
		bytes.writeUInt32LE(number);
		writeSync(this.file, bytes, 0, 4, at);
	}

	end() {
		this.tell(1, 36);
		closeSync(this.file);
	}
}

export function makeLive(harness, name) {
	const folder = join(harness.scratch, name);
	mkdirSync(folder);
	const ranks = Array.from({ length: RANKS }, (_, rank) => new Rows(folder, rank));
	for (const rank of ranks) rank.add(2000, 0);
	return { folder, ranks };
}

/* The sentences of the page are those of the report. */
async function compare(harness, page, folder) {
	const { text, tables } = harness.json("live", folder);
	const [first, ...more] = text.trim().split("\n");
	await page.getByRole("heading", { level: 2, name: first }).waitFor();
	for (const line of more) await page.getByText(line).waitFor();
	const minutes = tables.find(({ schema }) => schema === "stepscope.live-steps/1");
	equal(await page.locator(".level-chart circle").count(), minutes.rows.length, "minutes");
	return text;
}

async function grows(harness) {
	const { folder, ranks } = makeLive(harness, "live");
	const { link } = await harness.serve(folder);
	const page = await harness.open(link);
	await page.getByRole("tab").first().waitFor();
	equal(await page.getByRole("tab").allInnerTexts(), ["Live"], "tabs without traces");
	const before = await compare(harness, page, folder);
	check(!before.includes("From step"), before);
	equal(await page.locator(".level-change").count(), 0, "changes");
	for (const rank of ranks) rank.add(2000, 60_000);
	const after = await compare(harness, page, folder);
	check(/From step 2\d\d\d on .* on rank 2\./.test(after), after);
	equal(await page.locator(".level-change").count(), 1, "changes");
	await page.getByRole("button", { name: "Changes" }).click();
	await page.getByRole("grid", { name: "live-changes" }).waitFor();
	for (const rank of ranks) rank.end();
	check((await compare(harness, page, folder)).includes("have ended"), "it does not end");
	await harness.close(page);
}

async function fromDisk(harness) {
	const { folder, ranks } = makeLive(harness, "live-disk");
	const page = await harness.open(pathToFileURL(PAGE).href);
	const files = ranks.map((rank) => rank.path);
	await page.locator('input[type="file"]').first().setInputFiles(files);
	await compare(harness, page, folder);
	await page.getByText("As it was when the files were opened.").waitFor();
	await harness.close(page);
}

export const liveTests = [
	{ name: "live: the page follows a running job", run: grows, seconds: 12 },
	{ name: "live: live numbers are opened from disk", run: fromDisk },
];

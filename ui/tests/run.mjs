/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.mjs - all tests of the page.
 *
 *     node tests/run.mjs STEPSCOPE [NAME...]
 *
 * Needs the page (tools/viewer) in dist/ and in the command. With names only the tests whose
 * name holds one of them. Two browsers share the tests, because a test waits for most of its time;
 * STEPSCOPE_BROWSERS=1 runs one after the other. On a busy machine a test can miss its time: one
 * that fails runs once more, alone, after all others. The last lines name those that needed the
 * second try, and say how many passed and failed.
 */
import { Failed, Harness } from "./harness.mjs";
import { TESTS } from "./tests.mjs";

/* What went wrong, or null. */
async function attempt(harness, test, isLast) {
	const begin = performance.now();
	let problem = null;
	try {
		await test.run(harness);
	} catch (error) {
		problem = error instanceof Failed ? error.message : (error.stack ?? String(error));
	}
	const seconds = ((performance.now() - begin) / 1000).toFixed(1);
	const verdict = !problem ? "ok" : isLast ? "FAILED" : "again";
	const shown = isLast && !problem ? "ok  (second try)" : verdict.padEnd(6);
	console.log(`${shown} ${seconds.padStart(5)} s  ${test.name}`);
	if (problem) console.log(`       ${problem}`);
	return problem;
}

/* Takes tests from the front of the queue until it is empty; those that failed, with the reason. */
async function work(stepscope, queue) {
	const harness = new Harness(stepscope);
	const failed = [];
	try {
		await harness.begin();
		for (let test = queue.shift(); test; test = queue.shift()) {
			const problem = await attempt(harness, test, false);
			if (problem) failed.push({ test, problem });
		}
	} finally {
		await harness.end();
	}
	return failed;
}

/* Each failed test once more, in a browser of its own; how many failed again. */
async function retry(stepscope, failed) {
	let again = 0;
	for (const { test, problem } of failed) {
		const harness = new Harness(stepscope);
		try {
			await harness.begin();
			console.log(`first try of ${test.name}:\n       ${problem}`);
			if (await attempt(harness, test, true)) again++;
		} finally {
			await harness.end();
		}
	}
	return again;
}

async function main(stepscope, names) {
	const chosen = TESTS.filter(
		(test) => !names.length || names.some((name) => test.name.includes(name)),
	);
	/* the longest first, so that both browsers end at the same time */
	const queue = chosen.toSorted((a, b) => (b.seconds ?? 0) - (a.seconds ?? 0));
	const browsers = Math.max(1, Number(process.env.STEPSCOPE_BROWSERS ?? 2));
	const works = Array.from({ length: browsers }, () => work(stepscope, queue));
	const missed = (await Promise.all(works)).flat();
	const failed = await retry(stepscope, missed);
	for (const { test } of missed) console.log(`needed a second try: ${test.name}`);
	console.log(`page: ${chosen.length - failed} passed, ${failed} failed`);
	return failed === 0 && chosen.length > 0;
}

const [stepscope, ...names] = process.argv.slice(2);
if (!stepscope) {
	console.error("usage: node tests/run.mjs STEPSCOPE [NAME...]");
	process.exit(2);
}
process.exitCode = (await main(stepscope, names)) ? 0 : 1;

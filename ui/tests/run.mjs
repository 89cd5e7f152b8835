/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.mjs - all tests of the page.
 *
 *     node tests/run.mjs STEPSCOPE [NAME...]
 *
 * Needs the page (tools/viewer) in dist/ and in the command. With names only the tests whose
 * name holds one of them. Two browsers share the tests, because a test waits for most of its time;
 * STEPSCOPE_BROWSERS=1 runs one after the other. The last line says how many passed and failed.
 */
import { Failed, Harness } from "./harness.mjs";
import { TESTS } from "./tests.mjs";

async function attempt(harness, test) {
	const begin = performance.now();
	let problem = null;
	try {
		await test.run(harness);
	} catch (error) {
		problem = error instanceof Failed ? error.message : (error.stack ?? String(error));
	}
	const seconds = ((performance.now() - begin) / 1000).toFixed(1);
	console.log(`${problem ? "FAILED" : "ok    "} ${seconds.padStart(5)} s  ${test.name}`);
	if (problem) console.log(`       ${problem}`);
	return !problem;
}

/* Takes tests from the front of the queue until it is empty; how many failed. */
async function work(stepscope, queue) {
	const harness = new Harness(stepscope);
	let failed = 0;
	try {
		await harness.begin();
		for (let test = queue.shift(); test; test = queue.shift())
			if (!(await attempt(harness, test))) failed++;
	} finally {
		await harness.end();
	}
	return failed;
}

async function main(stepscope, names) {
	const chosen = TESTS.filter(
		(test) => !names.length || names.some((name) => test.name.includes(name)),
	);
	const queue = [...chosen];
	const browsers = Math.max(1, Number(process.env.STEPSCOPE_BROWSERS ?? 2));
	const works = Array.from({ length: browsers }, () => work(stepscope, queue));
	const failed = (await Promise.all(works)).reduce((sum, one) => sum + one, 0);
	console.log(`page: ${chosen.length - failed} passed, ${failed} failed`);
	return failed === 0 && chosen.length > 0;
}

const [stepscope, ...names] = process.argv.slice(2);
if (!stepscope) {
	console.error("usage: node tests/run.mjs STEPSCOPE [NAME...]");
	process.exit(2);
}
process.exitCode = (await main(stepscope, names)) ? 0 : 1;

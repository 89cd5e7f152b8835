/*
 * run.mjs - all tests of the page.
 *
 *     node tests/run.mjs STEPSCOPE [NAME...]
 *
 * Needs the page (tools/viewer) in dist/ and in the command. With names only the tests whose
 * name holds one of them. The last line says how many passed and failed.
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

async function main(stepscope, names) {
	const harness = new Harness(stepscope);
	const chosen = TESTS.filter(
		(test) => !names.length || names.some((name) => test.name.includes(name)),
	);
	let failed = 0;
	try {
		await harness.begin();
		for (const test of chosen) if (!(await attempt(harness, test))) failed++;
	} finally {
		await harness.end();
	}
	console.log(`page: ${chosen.length - failed} passed, ${failed} failed`);
	return failed === 0 && chosen.length > 0;
}

const [stepscope, ...names] = process.argv.slice(2);
if (!stepscope) {
	console.error("usage: node tests/run.mjs STEPSCOPE [NAME...]");
	process.exit(2);
}
process.exitCode = (await main(stepscope, names)) ? 0 : 1;

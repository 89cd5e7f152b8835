/*
 * tests.mjs - all tests, in the order in which they run.
 */
import { chartTests } from "./charts.mjs";
import { compareTests } from "./compare.mjs";
import { doubtTests } from "./doubts.mjs";
import { dropTests } from "./drops.mjs";
import { lookTests } from "./looks.mjs";
import { matrixTests } from "./matrix.mjs";
import { partUnits } from "./parts.mjs";
import { snapshotTests } from "./snapshot.mjs";
import { snapshotUnits } from "./snapshot-units.mjs";
import { tabTests } from "./tabs.mjs";
import { timelineUnits } from "./timeline-units.mjs";
import { timelineTests } from "./timeline.mjs";
import { tracedTests } from "./traced.mjs";
import { unitTests } from "./units.mjs";
import { verdictTests } from "./verdict.mjs";
import { wayTests } from "./ways.mjs";

export const TESTS = [
	...partUnits,
	...unitTests,
	...timelineUnits,
	...snapshotUnits,
	...wayTests,
	...dropTests,
	...verdictTests,
	...doubtTests,
	...tabTests,
	...chartTests,
	...timelineTests,
	...lookTests,
	...matrixTests,
	...compareTests,
	...snapshotTests,
	...tracedTests,
];

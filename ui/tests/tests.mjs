/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests.mjs - all tests, in the order in which they run.
 */
import { addressTests } from "./addresses.mjs";
import { answerTests } from "./answers.mjs";
import { bandTests } from "./bands.mjs";
import { chartTests } from "./charts.mjs";
import { communicationTests } from "./communication.mjs";
import { digestTests } from "./digests.mjs";
import { perfettoTests } from "./perfetto.mjs";
import { pictureTests } from "./pictures.mjs";
import { placeTests } from "./places.mjs";
import { storyTests } from "./story.mjs";
import { colorTests } from "./colors.mjs";
import { compareTests } from "./compare.mjs";
import { defaultTests } from "./defaults.mjs";
import { doubtTests } from "./doubts.mjs";
import { dropTests } from "./drops.mjs";
import { noteTests } from "./notes.mjs";
import { notebookTests } from "./notebook.mjs";
import { factTests } from "./facts.mjs";
import { firefoxTests } from "./firefox.mjs";
import { flameTests } from "./flame.mjs";
import { fleetTests } from "./fleet.mjs";
import { guideTests } from "./guides.mjs";
import { hangTests } from "./hang.mjs";
import { jumpTests } from "./jumps.mjs";
import { licenceTests } from "./licences.mjs";
import { liveTests } from "./live.mjs";
import { lookTests } from "./looks.mjs";
import { matrixTests } from "./matrix.mjs";
import { partUnits } from "./parts.mjs";
import { rangeTests } from "./ranges.mjs";
import { scaleTests } from "./scale.mjs";
import { searchTests } from "./search.mjs";
import { siteTests } from "./site.mjs";
import { snapshotTests } from "./snapshot.mjs";
import { snapshotUnits } from "./snapshot-units.mjs";
import { sqlTests } from "./sql.mjs";
import { tabTests } from "./tabs.mjs";
import { timelineUnits } from "./timeline-units.mjs";
import { timelineTests } from "./timeline.mjs";
import { tipTests } from "./tips.mjs";
import { totalTests } from "./totals.mjs";
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
	...addressTests,
	...answerTests,
	...verdictTests,
	...doubtTests,
	...tabTests,
	...factTests,
	...searchTests,
	...tipTests,
	...totalTests,
	...chartTests,
	...flameTests,
	...defaultTests,
	...timelineTests,
	...noteTests,
	...colorTests,
	...rangeTests,
	...perfettoTests,
	...hangTests,
	...liveTests,
	...jumpTests,
	...scaleTests,
	...licenceTests,
	...lookTests,
	...matrixTests,
	...notebookTests,
	...guideTests,
	...compareTests,
	...sqlTests,
	...fleetTests,
	...snapshotTests,
	...tracedTests,
	...bandTests,
	...communicationTests,
	...digestTests,
	...pictureTests,
	...placeTests,
	...storyTests,
	...firefoxTests,
	...siteTests,
];

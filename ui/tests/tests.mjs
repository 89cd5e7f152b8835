/*
 * tests.mjs - all tests, in the order in which they run.
 */
import { compareTests } from "./compare.mjs";
import { tabTests } from "./tabs.mjs";
import { timelineTests } from "./timeline.mjs";
import { verdictTests } from "./verdict.mjs";
import { wayTests } from "./ways.mjs";

export const TESTS = [...wayTests, ...verdictTests, ...tabTests, ...timelineTests, ...compareTests];

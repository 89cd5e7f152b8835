/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.mjs - what the tabs compute, without a browser. Expected values are worked out by hand.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { check, equal } from "./harness.mjs";
import { load } from "./load.mjs";

const RULES = resolve(dirname(fileURLToPath(import.meta.url)), "../../docs/rules");

function table(names, rows) {
	const columns = names.map((name) => ({
		name,
		unit: /_ns$/.test(name) ? "ns" : "",
		about: "",
	}));
	return { schema: "", columns, rows, row_count: rows.length, notes: [], quality: {} };
}

function finding(rule, cost, more = {}) {
	const usual = {
		rank: null,
		ranks: [0],
		title: rule,
		level: "warning",
		share_percent: null,
	};
	return { ...usual, rule, cost_ns: cost, cost_low_ns: cost, cost_high_ns: cost, ...more };
}

async function markdown() {
	const { readMarkdown, isSafe } = await load("parts/markdown.tsx");
	const cases = [
		["", []],
		["\n\n", []],
		["# A", [{ kind: "heading", level: 1, text: "A" }]],
		[
			"a\nb\n\nc",
			[
				{ kind: "paragraph", text: "a b" },
				{ kind: "paragraph", text: "c" },
			],
		],
		["- a\n  b\n- c", [{ kind: "list", ordered: false, items: ["a b", "c"] }]],
		["1. a\n2. b", [{ kind: "list", ordered: true, items: ["a", "b"] }]],
		[
			"```py\n# x\n```\nz",
			[
				{ kind: "code", text: "# x" },
				{ kind: "paragraph", text: "z" },
			],
		],
		["```\nnever closed", [{ kind: "code", text: "never closed" }]],
		["|a|b|\n|-|-|\n|1|2|", [{ kind: "table", head: ["a", "b"], rows: [["1", "2"]] }]],
		["a | b", [{ kind: "paragraph", text: "a | b" }]],
		["<!-- x -->\n<script>", [{ kind: "paragraph", text: "<script>" }]],
	];
	for (const [text, blocks] of cases) equal(readMarkdown(text), blocks, text);
	const links = {
		"https://pytorch.org/docs": true,
		"https://pytorch.org": true,
		"http://pytorch.org/": false,
		"javascript:alert(1)": false,
		"data:text/html,x": false,
		"//evil.example/": false,
		"https:evil": false,
		"sync-stall.md": false,
	};
	for (const [to, safe] of Object.entries(links)) equal(isSafe(to), safe, to);
}

async function pagesOfRules() {
	const { readMarkdown } = await load("parts/markdown.tsx");
	const { partsOf } = await load("tabs/verdict/reasons.tsx");
	const pages = readdirSync(RULES).filter((name) => name !== "README.md");
	check(pages.length > 20, "there are pages of rules");
	for (const name of pages) {
		const parts = partsOf(readMarkdown(readFileSync(join(RULES, name), "utf8")));
		check(
			parts.why.length || name === "periodic-pause.md",
			`${name} says what it looks at`,
		);
	}
	const parts = partsOf(
		readMarkdown(
			"# r\n\n**T.** x\n\nWhat it looks at: a\n\n- b\n\n" +
				"What to do:\n\n```\nc\n```\n\nWhen this rule stays quiet: d",
		),
	);
	equal(parts.why.length, 2, "a list belongs to the paragraph before it");
	equal([parts.fix.length, parts.surer.length, parts.not.length], [0, 0, 1], "other parts");
}

async function waterfall() {
	const { boundsOf, fallsOf, fixOf, warnedFixes, healthyLimit, ranksOf } =
		await load("tabs/verdict/model.ts");
	const a = finding("a", 30);
	const b = finding("b", 20, { rank: 3 });
	const c = finding("c", 5, { level: "info" });
	const d = finding("d", null);
	const told = { step_ns: 100, fixed_step_ns: 50, findings: [a, b, c, d], ranks: 8 };
	const on = warnedFixes(told);
	const edges = (falls) =>
		falls.map((fall) => [fall.number, fall.on, fall.from_ns, fall.to_ns]);

	equal(fixOf(b), "b=3", "a fix of one rank");
	equal([...on], ["a", "b=3"], "warnings with a time are fixed");
	equal(
		edges(fallsOf(told, told, on)),
		[
			[1, true, 100, 70],
			[2, true, 70, 50],
			[3, false, 50, 50],
		],
		"bars follow each other; what is off is a step of no height",
	);
	/* the core puts b first now; the stairs stay in the order of the rows */
	const turned = {
		...told,
		findings: [
			{ ...b, cost_ns: 40 },
			{ ...a, cost_ns: 10 },
		],
	};
	equal(
		edges(fallsOf(told, turned, on)).slice(0, 2),
		[
			[1, true, 100, 90],
			[2, true, 90, 50],
		],
		"rows and stairs stay",
	);
	equal(
		edges(fallsOf(told, { ...told, findings: [] }, new Set())),
		[
			[1, false, 100, 100],
			[2, false, 100, 100],
			[3, false, 100, 100],
		],
		"nothing is fixed",
	);
	equal(healthyLimit({ findings: [] }), "3 %", "healthy");
	equal(
		healthyLimit({ findings: [finding("a", 1, { share_percent: 3.7 })] }),
		"4 %",
		"rounded up",
	);
	const { figureOf } = await load("tabs/verdict/waterfall.tsx");
	const saves = (low, high) => {
		const cost = { ...a, cost_ns: 7e6, cost_low_ns: low, cost_high_ns: high };
		return [figureOf({ on: true, cost }, false), boundsOf(cost)];
	};
	equal(saves(6.99e6, 7.02e6), ["−7 ms", null], "ends that are near are one figure");
	equal(saves(6e6, 8e6), ["−7 ms", "between 6 ms and 8 ms"], "ends that are apart");
	equal(saves(4.78e6, 9.53e6)[0], "−4.78 to −9.53 ms", "a wide range, as the others");
	equal(ranksOf(b, 8), "rank 3", "the guilty rank");
	equal(ranksOf(finding("x", 1, { ranks: [0, 1] }), 2), "all ranks", "all");
	equal(ranksOf(finding("x", 1, { ranks: [0, 2] }), 8), "ranks 0, 2", "some");
	equal(ranksOf(finding("x", 1, { ranks: [null] }), 1), null, "a file without a rank");
	equal(ranksOf(finding("x", 1, { ranks: [...Array(7).keys()] }), 8), "7 of 8 ranks", "many");
}

async function budgets() {
	const { budgetOf } = await load("tabs/verdict/model.ts");
	const { changesOf, barsOf, partOf } = await load("tabs/compare/model.ts");
	const names = ["rank", "device", "part", "mean_ns"];
	const a = budgetOf(
		table(names, [
			[0, 0, "compute", 60],
			[0, 0, "idle: sync", 40],
			[1, 1, "compute", 80],
			[1, 1, "exposed copies", 20],
		]),
	);
	equal(a.devices, 2, "devices");
	equal(
		a.parts.map((part) => [part.name, part.value]),
		[
			["compute", 140],
			["idle: sync", 40],
			["exposed copies", 20],
		],
		"sums",
	);
	equal(
		a.parts.map((part) => part.color),
		["compute", "idle", "copy"],
		"colours",
	);
	equal(budgetOf(table(names, [])).parts, [], "no device");
	const b = budgetOf(
		table(names, [
			[0, 0, "compute", 90],
			[0, 0, "idle: gc", 5],
		]),
	);
	const { start, bars, end } = barsOf(changesOf(a, b));
	/* a: compute 70, sync 20, copies 10; b: compute 90, gc 5 */
	equal([start, end], [100, 95], "both steps");
	equal(
		bars.map((bar) => [bar.change.name, bar.from, bar.to]),
		[
			["idle: sync", 100, 80],
			["exposed copies", 80, 70],
			["idle: gc", 70, 75],
			["compute", 75, 95],
		],
		"gains first, and the last bar ends at b",
	);
	equal(partOf("total_change_ns"), { stem: "total_ns", side: "change" }, "a joined column");
	equal(partOf("calls_a"), { stem: "calls", side: "a" }, "a joined count");
	equal(partOf("name"), null, "not a joined column");
}

async function trees() {
	const { readStacks, colorOf, foundIn } = await load("tabs/flame/flame-model.ts");
	const { readTree, seen, firstOpen } = await load("tabs/modules/tree-model.ts");
	const root = readStacks(
		table(
			["stack", "time_ns", "calls"],
			[
				["t;a;k", 5, 1],
				["t;b", 7, 2],
				["t;a", 1, 1],
			],
		),
	);
	const shape = (frame) => [frame.name, frame.start, frame.total, frame.children.map(shape)];
	equal(
		shape(root),
		[
			"all",
			0,
			13,
			[
				[
					"t",
					0,
					13,
					[
						["b", 0, 7, []],
						["a", 7, 6, [["k", 7, 5, []]]],
					],
				],
			],
		],
		"longest first",
	);
	equal(readStacks(table(["stack", "time_ns"], [])).total, 0, "no stacks");
	const twice = readStacks(
		table(
			["stack", "time_ns"],
			[
				["mm;MM;k", 5],
				["x;mm", 2],
			],
		),
	);
	equal(foundIn(twice, "mm"), { count: 2, total: 7 }, "one inside of another counts once");
	equal(foundIn(twice, "none"), { count: 0, total: 0 }, "not there");
	const deep = readStacks(
		table(["stack", "time_ns"], [[Array(20000).fill("f").join(";"), 1]]),
	);
	equal(deep.total, 1, "deep stacks");
	equal(
		["aten::mm", "ncclKernel", "Memcpy HtoD", "a.py(3): f", "k<float>"].map((name) =>
			colorOf({ name, children: [] }),
		),
		["operator", "communication", "copy", "python", "compute"],
		"colours",
	);

	const rows = [
		["A", 0, 90],
		["  B", 1, 50],
		["    C", 2, 40],
		["  D", 1, 60],
		["E", 0, 5],
	];
	const roots = readTree(table(["module", "depth", "share_percent"], rows));
	const names = (branches) => branches.map((branch) => branch.name).join("");
	equal(names(seen(roots, new Set(), -1, false, "")), "AE", "closed");
	equal(
		names(seen(roots, new Set([0, 1]), -1, false, "")),
		"ABCDE",
		"open, the core's order",
	);
	equal(names(seen(roots, new Set([0, 1]), 2, false, "")), "ADBCE", "siblings by a column");
	equal(names(seen(roots, new Set([0, 1]), 2, true, "")), "EABCD", "turned");
	equal(names(seen(roots, new Set(), -1, false, "c")), "ABC", "found, with what is above");
	equal(
		names(seen(roots, new Set([0]), -1, false, "")),
		"ABDE",
		"nothing was changed by that",
	);
	equal([...firstOpen(roots, 2)], [0, 1], "what costs a tenth is open");
	equal(
		readTree(
			table(
				["module", "depth"],
				[
					["x", 5],
					["y", 2],
				],
			),
		).length,
		2,
		"depths that jump",
	);
}

async function maps() {
	const { readSteps, valuesOf, readPairs } = await load("tabs/ranks/model.ts");
	const { readPixels, deviceNumber } = await load("tabs/memory/model.ts");
	const map = readSteps(
		table(
			["rank", "step", "lateness_ns"],
			[
				[0, 0, 5],
				[0, 2, null],
				[7, 0, 1],
				[7, 1, 2],
			],
		),
	);
	equal(map.steps, [0, 1, 2], "all steps of all ranks");
	equal(
		valuesOf(map, "lateness_ns"),
		[5, null, null, 1, 2, null],
		"what is missing is not 0",
	);
	const unknown = readSteps(
		table(
			["rank", "step"],
			[
				[null, 0],
				[null, 1],
				[null, 0],
			],
		),
	);
	equal(unknown.ranks.length, 2, "files without a rank are told apart by their steps");
	const pairs = readPairs(
		table(
			["rank", "for", "wait_ns", "of"],
			[
				[4, 9, 3, 2],
				[9, null, 1, 1],
			],
		),
		[4, 9],
	);
	equal([pairs.values, pairs.untold], [[0, 3, 0, 0], true], "who waits for whom");
	const bytes = new ArrayBuffer(24 + 16);
	const view = new DataView(bytes);
	view.setUint32(0, 0x31435353, true);
	view.setUint32(4, 2, true);
	view.setFloat64(16, 100, true);
	for (const [i, value] of [1, NaN, 3, NaN].entries()) view.setFloat32(24 + 4 * i, value, true);
	const curve = readPixels(bytes);
	equal([curve.at, curve.low[0], curve.high[0]], [[25, 75], 1, 3], "middles of pixels");
	equal(readPixels(bytes.slice(0, 30)), null, "cut short");
	equal(readPixels(new ArrayBuffer(40)), null, "something else");
	equal(["CUDA:1", "CPU", "HIP:10"].map(deviceNumber), [1, null, 10], "numbers of devices");
}

export const unitTests = [
	{ name: "unit: markdown", run: markdown },
	{ name: "unit: pages of rules", run: pagesOfRules },
	{ name: "unit: waterfall of the verdict", run: waterfall },
	{ name: "unit: budgets and their change", run: budgets },
	{ name: "unit: trees", run: trees },
	{ name: "unit: maps and curves", run: maps },
];

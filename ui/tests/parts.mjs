/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.mjs - the page's own reckoning without a browser: names, order, units, scope, address.
 * Expected values are written by hand.
 */
import { check, equal } from "./harness.mjs";
import { load } from "./load.mjs";

function column(name, type, index, more = {}) {
	return { name, type, index, about: "", detail: false, bar: false, ...more };
}

function offer(name, columns, more = {}) {
	return {
		name,
		summary: "",
		empty: "",
		of_job: false,
		groups: [],
		order: [],
		own_order: [],
		events: [],
		zero: "file",
		columns: columns.map(([one, type, bar = false, detail = false]) => ({
			name: one,
			type,
			about: "",
			bar,
			detail,
		})),
		...more,
	};
}

function document_(columns, rows) {
	return { columns: columns.map(([name, unit]) => ({ name, unit, about: "" })), rows };
}

async function names() {
	const { shortName } = await load("parts/names.ts");
	const long = "x".repeat(90);
	const cases = [
		["aten::add_", "aten::add_"],
		["", ""],
		["void f<int>(int)", "void f<int>(int)"] /* short enough */,
		[`void at::${long}<float, 4, Foo<2> >(int, float*)`, `at::${long}<…>`],
		[`(anonymous namespace)::${long}<1>`, `{anonymous}::${long}<…>`],
		[`a::${long}<unclosed`, `a::${long}<unclosed`],
		[`${long}_plain_kernel_name`, `${long}_plain_kernel_name`],
	];
	const cpp = "void at::native::vectorized_elementwise_kernel<4, at::native::F<float>>(int)";
	const python = "/home/me/venv/lib/python3.11/site-packages/torch/nn/modules/module.py(1751): f";
	const kept = [
		"(launch not recorded)",
		"<string>(1): <module>",
		"<frozen importlib._bootstrap>(1176): _find_and_load",
		"<built-in method run_backward of torch._C._EngineBase object at 0x7f2a00000000>",
		"nn.Module: Linear_3",
		"aten::mm",
		python,
	];
	const stack = [...kept, cpp].join(";");
	const short = [...kept, "at::native::vectorized_elementwise_kernel<…>"].join(";");
	equal(shortName(stack), short, "frames of a stack, each on its own");
	for (const frame of kept) {
		const long = `${frame};${"x".repeat(100)}`;
		equal(shortName(long), long, frame);
	}
	equal(shortName(`${python} ${cpp}`), `${python} ${cpp}`, "a place in a program stays");
	for (const [name, wanted] of cases) equal(shortName(name), wanted, name);
}

async function order() {
	const { arrange, matcher, nextOrder } = await load("parts/rows.ts");
	const rows = [
		["b", 2],
		["a", null],
		["C", 9],
		["ab", 2],
	];
	const cases = [
		["", "", [0, 1, 2, 3]],
		[
			"n",
			"",
			[2, 0, 3, 1],
		] /* numbers from the most, equal ones as they stood, unknown last */,
		["-n", "", [0, 3, 2, 1]],
		["name", "", [2, 1, 3, 0]],
		["", "A", [1, 3]],
		["", "a?", [3]],
		["", "*b", [0, 3]],
		["", "nothing", []],
		["n", " b ", [0, 3]],
		["no such column", "", [0, 1, 2, 3]],
	];
	for (const [by, filter, wanted] of cases)
		equal(
			arrange(rows, ["name", "n"], by, filter),
			wanted,
			`order ${by}, filter ${filter}`,
		);
	equal(
		[nextOrder("", "n"), nextOrder("n", "n"), nextOrder("-n", "n")],
		["n", "-n", ""],
		"clicks",
	);
	equal(matcher("a.b*")("a.b<x>"), true, "a dot is a dot");
	equal(matcher("a.b*")("axb<x>"), false, "a dot is no wildcard");
}

async function units() {
	const { drawColumn, exactly, formatChange, formatIn } = await load("parts/columns.ts");
	const ns = drawColumn(column("total_ns", "ns", 0), [
		[151_427_702],
		[3_000_000],
		[2_000_000],
		[null],
	]);
	equal([ns.heading, ns.unit], ["total", "ms"], "one unit a column");
	equal(formatIn(ns, 151_427_702), "151.43", "digits of a usual value");
	equal(formatIn(ns, 400), "< 0.01", "less than can be shown is not 0");
	equal(formatIn(ns, 0), "0.00", "0 is 0");
	equal(formatIn(ns, null), "–", "not known");
	equal(exactly(ns, 151_427_702), "151,427,702 ns", "as measured");
	equal(
		drawColumn(column("x_ns", "ns", 0), [[null], [null]]),
		null,
		"nothing known: no column",
	);
	equal(drawColumn(column("x_ns", "ns", 0), []), null, "no rows: no column");
	equal(formatChange(ns, 400), "< +0.01", "a small change has its sign behind the <");
	equal(formatChange(ns, -3_000_000), "−3.00", "a change");
	const mixed = drawColumn(column("total_ns", "ns", 0), [[151_427_702], [3_000_000], [400]]);
	equal([mixed.heading, mixed.unit], ["total", ""], "far apart: no unit in the head");
	equal(
		[151_427_702, 3_000_000, 400].map((value) => formatIn(mixed, value)),
		["151 ms", "3 ms", "400 ns"],
		"more than three decades: a unit in each cell",
	);
	const bytes = drawColumn(column("size_bytes", "bytes", 0), [[-2_000_000]]);
	equal([bytes.unit, formatIn(bytes, -2_000_000)], ["MB", "-2.00"], "below zero");
	const count = drawColumn(column("calls", "count", 0), [[12_345]]);
	equal(formatIn(count, 12_345), "12,345", "counts");
	const id = drawColumn(column("rank", "id", 0), [[1000]]);
	equal(formatIn(id, 1000), "1000", "numbers of ranks have no commas");
}

/* 1,024 bars on 500 pixels: bands of neighbours, each with its median and its reach. */
async function bands() {
	const { bandsOf } = await load("parts/bands.ts");
	const bars = Array.from({ length: 1024 }, (_, i) => ({
		id: String(i),
		label: String(i),
		title: `rank ${i}`,
		parts: [i % 10, 5],
	}));
	const found = bandsOf(bars, 500);
	check(found.length <= 125, `${found.length} bands on 500 pixels`);
	equal(found[0].reach, { low: 5, high: 13 }, "the reach of the first nine");
	equal(found[0].parts, [4, 5], "the median of the first nine");
	equal(found.at(-1).title.includes("to 1023:"), true, "the last band ends with the last bar");
	equal(bandsOf(bars.slice(0, 100), 500).length, 100, "bars that have room stay");
}

async function spread() {
	const { columnsOf, scopeOf, usualOrder } = await load("parts/scope.ts");
	const launches = offer("launches", [
		["rank", "id"],
		["call", "text"],
		["call_ns", "ns"],
		["call_max_ns", "ns", false, true],
		["share_percent", "percent", true],
	]);
	const over = document_(
		[
			["call", ""],
			["ranks", "count"],
			["call_min_ns", "ns"],
			["call_median_ns", "ns"],
			["call_max_ns", "ns"],
			["call_worst", ""],
			["call_max_median_ns", "ns"],
			["share_median_percent", "percent"],
		],
		[],
	);
	const drawn = columnsOf(over, launches);
	const shown = drawn.filter((one) => !one.detail).map((one) => one.title ?? one.name);
	equal(shown, ["call", "ranks", "call", "share"], "medians stand for their columns");
	equal(drawn[4].spread, { stem: "call_ns", part: "max" }, "the most of call_ns");
	equal(drawn[5].spread, { stem: "call_ns", part: "worst" }, "the rank that has it");
	equal(
		drawn.filter((one) => one.bar).map((one) => one.index),
		[7],
		"the bar",
	);
	const file = (rank) => ({ file: rank, rank, problem: null, path: "" });
	const view = { rank: null, step: 3, own: {} };
	const two = { files: [file(0), file(1)] };
	equal(scopeOf(two, view, launches, "", false).rank, "all", "several ranks: over all");
	equal(scopeOf(two, view, launches, "", true).rank, null, "each rank");
	equal(scopeOf({ files: [file(0)] }, view, launches, "", false).rank, null, "one rank");
	equal(scopeOf(two, { ...view, rank: 1 }, launches, "", false).rank, 1, "a chosen rank");
	const gaps = offer("gaps", [["rank", "id"]], { groups: ["cause", "gap"], events: ["gap"] });
	equal(scopeOf(two, view, gaps, "gap", false).rank, null, "single gaps have no median");
	equal(scopeOf(two, view, gaps, "cause", false).rank, "all", "causes have");
	const ordered = offer("operators", [["name", "text"], ["host_ns", "ns"], ["device_ns", "ns"]], {
		order: ["device_ns", "host_ns"],
		own_order: ["step"],
	});
	const table = (group, row) => ({
		...document_([["name", ""], ["host_median_ns", "ns"], ["device_median_ns", "ns"]], [row]),
		group,
	});
	const usual = (group, row) => usualOrder(table(group, row), ordered);
	equal(usual("name", ["a", 1, 2]), "device_median_ns", "device time where there is any");
	equal(usual("name", ["a", 1, 0]), "host_median_ns", "else that of the host");
	equal(usual("step", ["a", 1, 2]), "", "a group with an order of its own");
	const barred = columnsOf(table("name", ["a", 1, 0]), ordered).find((one) => one.bar);
	equal(barred?.name, "host_median_ns", "the bar is of what rows are ordered by");
	const job = offer("ranks", [["rank", "id"]], { of_job: true });
	equal(scopeOf(two, view, job, "", false).step, null, "views of the job take no step");
}

async function address() {
	const { readAddress, writeAddress } = await load("core/store.ts");
	const links = [
		"#/kernels",
		"#/timeline?from=-5&to=10&at=slice.0.7",
		"#/timeline?at=gap.1.10.2",
		"#/gaps?rank=3&step=1&at=row.gaps.gap.12&filter=sync",
		"#/memory?at=held.17.5",
		"#/memory?at=block.0x7f2a.end",
		"#/kernels?at=row.memory-ops..0",
		"#/timeline?at=range.5.10&q=all+reduce",
		"#/compare?at=other.aten%3A%3Amm",
		"#/verdict?at=finding.2",
	];
	for (const link of links) equal(writeAddress(readAddress(link)), link, link);
	const broken = ["#/x?at=slice.0", "#/x?at=row.A.b.1", "#/x?at=gap.1.2.x", "#/x?rank=1e3"];
	for (const link of broken) equal(writeAddress(readAddress(link)), "#/x", link);
	equal(readAddress("").tab, "verdict", "nothing is the verdict");
}

async function sums() {
	const { causeParts } = await load("tabs/gaps/causes.tsx");
	const parts = causeParts([
		{ cause: "input", idle_ns: 5 },
		{ cause: "sync", idle_ns: 7 },
		{ cause: "input", idle_ns: 4 },
	]);
	equal(
		parts.map((part) => [part.name, part.ns]),
		[
			["input", 9],
			["sync", 7],
		],
		"causes",
	);
	const { barsOf } = await load("tabs/overview/steps.tsx");
	const row = (step, kernel_ns, cpu_ns) => ({ step, kernel_ns, cpu_ns });
	const bars = barsOf([row(1, 10, 2), row(0, 4, 0), row(1, 20, 4), row(null, 9, 9)]);
	const whole = (bar) => bar.parts.reduce((all, part) => all + part, 0);
	equal(
		bars.map((bar) => [bar.id, whole(bar)]),
		[
			["0", 4],
			["1", 18],
		],
		"mean of the ranks",
	);
	const { exposedBars } = await load("tabs/communication/exposed.tsx");
	const budget = (rank, step, comm_ns, exposed_comm_ns) => ({
		rank,
		step,
		comm_ns,
		exposed_comm_ns,
	});
	const exposed = exposedBars([budget(1, 0, 10, 4), budget(1, 1, 20, 2), budget(0, 0, 0, 0)]);
	equal(
		exposed.map((bar) => bar.parts),
		[
			[0, 0],
			[3, 12],
		],
		"exposed and hidden a step",
	);
	const { oddsOf } = await load("tabs/quality/odd.ts");
	const odd = (rank, oddity, severity) => ({ rank, oddity, severity, files: 1, count: 2 });
	const odds = oddsOf([odd(0, "a", "absent"), odd(1, "b", "lost"), odd(2, "a", "absent")]);
	equal(
		odds.map((one) => [one.oddity, one.count, one.ranks]),
		[
			["b", 2, [1]],
			["a", 4, [0, 2]],
		],
		"odd",
	);
}

async function words() {
	const { runName, runWords, shortDevice } = await load("core/words.ts");
	const devices = [
		["NVIDIA H100 80GB HBM3", "H100"],
		["Tesla V100-DGXS-32GB", "V100-DGXS-32GB"],
		["AMD Instinct MI300X", "MI300X"],
		["GPU", "GPU"],
	];
	for (const [name, wanted] of devices) equal(shortDevice(name), wanted, name);
	const file = (path, more = {}) => ({ path, rank: null, problem: null, ...more });
	const job = (...files) => ({ files, snapshots: [] });
	equal(runName(job(file("/a/b/run.pt.trace.json.gz"))), "run", "one file");
	equal(runName(job(file("/a/b/r0.json"), file("/a/b/r1.json"))), "b", "a folder");
	equal(runName(job(file("r0.json"), file("r1.json"))), "r0 and 1 more", "no folder");
	equal(runName(job(file("./r0.json"), file("./r1.json"))), "r0 and 1 more", "this folder");
	equal(runName(job()), "no files", "nothing");
	const snapshots = [{ path: "/a/memory.pickle.gz", events: 1040, points: 0 }];
	equal(runName({ files: [], snapshots }), "memory", "a snapshot");
	equal(runWords({ files: [], snapshots }), "1 memory snapshot · 1,040 events", "its words");
	const broken = job(file("a", { rank: 0 }), file("b", { problem: "x" }));
	equal(
		runWords(broken),
		"1 rank · no steps · no GPU · 1 file unreadable",
		"broken among good",
	);
	const nameless = job(file("a", { device_slices: 5 }));
	equal(runWords(nameless), "1 file · no steps · unknown GPU", "a device worked");
	const { nextStep } = await load("shell/status.tsx");
	const steps = [{ number: 0 }, { number: 1 }];
	const walk = [
		[null, 1, 0],
		[null, -1, 1],
		[0, 1, 1],
		[1, 1, null],
		[0, -1, null],
	];
	for (const [now, way, wanted] of walk)
		equal(nextStep(steps, now, way), wanted, `${now} ${way}`);
	equal(nextStep([], null, 1), null, "no steps");
}

async function written() {
	const { formatNs, formatPercent, isNear } = await load("core/format.ts");
	const times = [
		[119e9, "119 s"],
		[120e9, "2 min"],
		[90 * 60e9, "90 min"],
		[2.5 * 3600e9, "2.50 h"],
		[73.2 * 86_400e9, "73.2 days"],
		[1_700_000_000e9, "2023-11-14 22:13:20.000 UTC"],
	];
	for (const [value, wanted] of times) equal(formatNs(value), wanted, `${value} ns`);
	const near = [[87.1e6, 87.2e6], [5, 5], [1e6, 1.2e6], [0, 3]].map((ends) => isNear(...ends));
	equal(near, [true, true, false, false], "ends of a range that are one figure");
	const percents = [
		[0, "0.0 %"],
		[0.04, "< 0.1 %"],
		[-0.04, "> −0.1 %"],
		[0.05, "0.1 %"],
		[9.94, "9.9 %"],
		[12.3, "12 %"],
		[null, "–"],
	];
	for (const [value, wanted] of percents) equal(formatPercent(value), wanted, `${value} %`);
	const { parseColor } = await load("core/colors.ts");
	equal(parseColor("#fff"), [255, 255, 255], "the short form of a built page");
	equal(parseColor("#0072b2"), [0, 114, 178], "the long form");
	equal(parseColor("red"), [128, 128, 128], "neither");
	const { clocksWithin } = await load("core/words.ts");
	equal(clocksWithin(0), "all ranks share one clock", "one host");
	equal(clocksWithin(2000), "clocks ±2 µs", "several hosts");
	const { hasPlaces } = await load("parts/place.ts");
	const begins = offer("steps", [["start_ns", "ns"], ["part", "text"]]);
	begins.columns[0].place = "moment";
	const places = (name, cell) => hasPlaces({ columns: [{ name }], rows: [[cell]] }, begins);
	equal(places("start_ns", 0), true, "a moment");
	equal(places("start_ns", null), false, "a moment that is not known");
	equal(places("part", "compute"), false, "a sum");
	const { speedUp } = await load("tabs/verdict/model.ts");
	equal([speedUp(2, 1), speedUp(21, 2), speedUp(1, 0)], ["2.00 ×", "10.5 ×", ""], "times");
}

export const partUnits = [
	{ name: "unit: short names", run: names },
	{ name: "unit: order and filter of rows", run: order },
	{ name: "unit: units of columns", run: units },
	{ name: "unit: bands of bars", run: bands },
	{ name: "unit: tables over all ranks", run: spread },
	{ name: "unit: address of the page", run: address },
	{ name: "unit: parts sum to their whole", run: sums },
	{ name: "unit: words about a run", run: words },
	{ name: "unit: figures, colours and places as written", run: written },
];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline-units.mjs - what the timeline computes, without a browser. Expected values are worked
 * out by hand.
 */
import { check, equal } from "./harness.mjs";
import { load } from "./load.mjs";

const PYTHON = 5;
const OPERATOR = 3;

/* An answer of `tiles` as the core writes it: entries are [start, dur, lane, color]. */
function tiles(track, entries, names) {
	const n = entries.length;
	const texts = names.map((name) => new TextEncoder().encode(name));
	const size = 40 + n * (8 + 8 + 4 + 4 + 4 + 2 + 4) + 16 + (names.length + 1) * 4;
	const bytes = new ArrayBuffer(size + texts.reduce((sum, text) => sum + text.length, 0));
	const view = new DataView(bytes);
	let at = 0;
	const align = (to) => {
		at = Math.ceil(at / to) * to;
	};
	const u32 = (value) => {
		view.setUint32(at, value, true);
		at += 4;
	};
	const f64 = (value) => {
		view.setFloat64(at, value, true);
		at += 8;
	};
	for (const word of [0x31545353, 1, n, names.length]) u32(word);
	f64(0);
	f64(1000);
	u32(track);
	u32(n);
	for (const [start] of entries) f64(start);
	for (const [, dur] of entries) f64(dur);
	for (const i of entries.keys()) u32(100 + i);
	for (const _ of entries) u32(1);
	for (const i of entries.keys()) u32(i < names.length ? i : 0xffffffff);
	for (const [, , lane] of entries) {
		view.setUint16(at, lane, true);
		at += 2;
	}
	for (const [, , , color] of entries) view.setUint8(at++, color);
	for (const value of [255, 0, 255]) for (let i = 0; i < n; i++) view.setUint8(at++, value);
	align(4);
	let offset = 0;
	for (const text of texts) {
		u32(offset);
		offset += text.length;
	}
	u32(offset);
	for (const text of texts) {
		new Uint8Array(bytes, at).set(text);
		at += text.length;
	}
	return bytes.slice(0, at);
}

function fails(run) {
	try {
		run();
		return false;
	} catch {
		return true;
	}
}

async function decodes() {
	const { decodeTiles } = await load("timeline/decode.ts");
	const entries = [
		[0, 10, 0, OPERATOR],
		[20, 5, 0, OPERATOR],
		[1, 2, 2, OPERATOR],
	];
	const bytes = tiles(7, entries, ["aten::mm", "é"]);
	const sheet = decodeTiles(bytes);
	equal([...sheet.start], [0, 20, 1], "starts");
	equal([...sheet.dur], [10, 5, 2], "durations");
	equal([...sheet.row], [100, 101, 102], "rows");
	equal(sheet.labels, ["aten::mm", "é"], "labels");
	equal([...sheet.cause], [255, 255, 255], "causes");
	const lanes = [
		{ lane: 0, begin: 0, end: 2 },
		{ lane: 2, begin: 2, end: 3 },
	];
	equal(sheet.tracks.get(7), lanes, "lanes");
	equal(sheet.tracks.get(8), undefined, "a track that was not asked for");
	check(sheet.start.buffer === bytes, "columns are copied");
	for (const length of [0, 8, 40, bytes.byteLength - 1])
		check(
			fails(() => decodeTiles(bytes.slice(0, length))),
			`${length} bytes are taken for an answer`,
		);
	new DataView(bytes).setUint32(0, 1, true);
	check(
		fails(() => decodeTiles(bytes)),
		"another form is taken for tiles",
	);
	equal(decodeTiles(tiles(0, [], [])).tracks.get(0), [], "an empty track");
}

async function frames() {
	const { decodeTiles, plainOf } = await load("timeline/decode.ts");
	const plain = (entries) => {
		const sheet = decodeTiles(tiles(1, entries, []));
		return plainOf(sheet, sheet.tracks.get(1));
	};
	/* frame > operator > frame > operator, and an operator right in the first frame */
	const nested = plain([
		[0, 100, 0, PYTHON],
		[10, 40, 1, OPERATOR],
		[60, 10, 1, OPERATOR],
		[12, 28, 2, PYTHON],
		[15, 5, 3, OPERATOR],
	]);
	equal([...nested.depths], [0, 0, 0, 1, 1], "operators around each entry");
	equal([...nested.order], [1, 2, 4], "entries without frames, by lane and start");
	const lanes = [
		{ lane: 0, begin: 0, end: 2 },
		{ lane: 1, begin: 2, end: 3 },
	];
	equal(nested.lanes, lanes, "lanes that are left");
	/* the range on lane 2 begins when the one on lane 1 is over: it is not inside of it */
	const beside = plain([
		[0, 100, 0, PYTHON],
		[0, 10, 1, OPERATOR],
		[10, 50, 2, OPERATOR],
	]);
	equal([...beside.depths], [0, 0, 0], "what is over is around nothing");
	equal(plain([[0, 9, 0, OPERATOR]]), null, "a track without frames");
	equal(plain([[0, 9, 0, PYTHON]]), null, "a track of frames alone");
}

async function spans() {
	const { bounded, fitted, formatMoment, formatSpan, panned, roundStep, zoomed } =
		await load("timeline/span.ts");
	const whole = { from: -10, to: 1010 };
	/* the moment under the pointer stays: 200 is a quarter of the window before and after */
	equal(zoomed({ from: 100, to: 500 }, 200, 0.5, whole), { from: 150, to: 350 }, "zoom in");
	equal(zoomed({ from: 100, to: 500 }, 200, 100, whole), whole, "zoom out of the run");
	equal(panned({ from: 0, to: 100 }, -500, whole), { from: -10, to: 90 }, "pan to the start");
	equal(panned({ from: 0, to: 100 }, 5000, whole), { from: 910, to: 1010 }, "pan to the end");
	equal(bounded({ from: 500, to: 500 }, whole), { from: 475, to: 525 }, "the least window");
	equal(fitted(300, 370, whole), { from: 290, to: 380 }, "a seventh on each side");
	const steps = [
		[1, 1],
		[1.1, 2],
		[2, 2],
		[2.1, 5],
		[60, 100],
		[0.03, 0.05],
	];
	for (const [least, step] of steps)
		check(
			Math.abs(roundStep(least) - step) < 1e-9 * step,
			`${least}: ${roundStep(least)}`,
		);
	equal(formatMoment(0, 1e6), "0", "nothing");
	equal(formatMoment(1500000, 1e5), "1.5 ms", "tenths of a millisecond");
	equal(formatMoment(20000000, 1e7), "20 ms", "tens of milliseconds");
	equal(formatMoment(1234567, 1), "1.234567 ms", "single nanoseconds");
	equal(formatMoment(-2000, 1000), "-2 µs", "before the start");
	equal(formatSpan(9_165_000, 664_953_000), "from 9.16 ms to 665 ms", "a range");
	equal(formatSpan(127_744_932, 128_133_066), "from 127.74 ms to 128.13 ms", "a short one");
}

const LOOK = {
	open: new Set([0]),
	pins: [],
	deep: new Set(),
	allDeep: false,
	filter: "",
	mark: null,
	kept: [],
	path: false,
	fromStart: false,
	jump: "",
};

function track(number, kind, lanes, device) {
	const about = { name: `${kind} ${number}`, about: null, slices: 10, stream: null };
	return { track: number, kind, lanes, device, start_ns: 0, end_ns: 1, ...about };
}

async function rows() {
	const { layOut, rowAt, rowsBetween } = await load("timeline/model.ts");
	const files = [0, 1, 2].map((file) => ({ file, rank: file, path: "", problem: null }));
	files[2].problem = "it is cut short";
	const tracks = new Map([
		[
			0,
			{
				file: 0,
				tracks: [
					track(0, "main", 30, null),
					track(9, "idle", 1, 0),
					track(3, "compute", 1, 0),
					track(4, "other", 1, null),
				],
				curves: [],
			},
		],
	]);
	const lay = (look, viewport = 600) =>
		layOut({ files }, tracks, { ...LOOK, ...look }, new Map(), viewport);
	const keys = (layout) => layout.rows.map((row) => row.key);
	equal(keys(lay({})), ["0", "0.0", "0.9", "0.3", "0.others", "1", "2", "2.note"], "rows");
	const layout = lay({});
	equal(layout.find.get("0.0").lanes, 8, "lanes of a deep stack at first");
	equal(lay({ allDeep: true }).find.get("0.0").lanes, 30, "all lanes");
	equal(lay({ deep: new Set(["0.0"]) }).find.get("0.0").lanes, 30, "all lanes of one row");
	equal(keys(lay({ open: new Set() })), ["0", "1", "2", "2.note"], "folded ranks");
	equal(lay({ open: new Set() }, 3).find.get("1").height, 1, "ranks in little room");
	equal(
		keys(lay({ filter: "compute" })),
		["0", "0.3", "1", "2", "2.note"],
		"a filter of rows",
	);
	equal(keys(lay({ filter: "rank 1" })), ["1"], "a filter of ranks");
	const pinned = lay({ pins: ["0.3", "0.77"] }).pinned.map((row) => [row.title, row.y]);
	equal(pinned, [["rank 0: compute 3", 0]], "pins");
	let y = 0;
	for (const row of layout.rows) {
		equal(row.y, y, `where ${row.key} is`);
		equal(rowAt(layout.rows, y + row.height / 2).key, row.key, "what is at a height");
		y += row.height;
	}
	equal(layout.height, y, "the height of all");
	equal(rowAt(layout.rows, y + 1), null, "below all");
	equal(rowsBetween(layout.rows, 0, 1).length, 1, "the first pixel");
}

/* What a jump led to fits in the window: rows between are folded, ranks are strips. */
async function folds() {
	const { layOut } = await load("timeline/model.ts");
	const files = [0, 1, 2, 3].map((file) => ({ file, rank: file, path: "", problem: null }));
	const own = (file) => ({
		file,
		tracks: [
			track(0, "main", 30, null),
			track(1, "autograd", 8, null),
			track(9, "idle", 1, 0),
			track(3, "communication", 1, 0),
		],
		curves: [],
	});
	const tracks = new Map(files.map(({ file }) => [file, own(file)]));
	const lay = (jumped, look = {}, viewport = 250) =>
		layOut({ files }, tracks, { ...LOOK, ...look }, new Map(), viewport, jumped);
	const keys = (layout) => layout.rows.map((row) => row.key);
	const spot = (file, number, lane = 0) => ({
		...{ file, track: number, lane, start_ns: 0, dur_ns: 1 },
	});

	const call = { files: new Map([[1, [spot(1, 0, 2), spot(1, 9)]]]), order: null };
	const none = { open: new Set() };
	equal(
		keys(lay(call, none)),
		["0", "1", "1.0", "1.fold", "1.9", "1.3", "2", "3"],
		"a call and a gap that are far apart",
	);
	equal(
		keys(lay(call, none, 900)).slice(2, 5),
		["1.0", "1.1", "1.9"],
		"a call and a gap that fit",
	);
	equal(
		keys(lay(call, { ...none, deep: new Set(["1.fold"]) })).slice(2, 6),
		["1.0", "1.fold", "1.1", "1.9"],
		"rows between that were opened",
	);
	const deep = lay(call, { ...none, deep: new Set(["1.0"]) }).find.get("1.0");
	equal([deep.lanes, deep.hidden], [4, 26], "a deep row down to the call");
	equal(keys(lay(call)).slice(0, 2), ["0", "0.0"], "a rank that was opened by hand stays");

	const met = {
		files: new Map(files.map(({ file }) => [file, [spot(file, 3)]])),
		order: [2, 0, 3, 1],
	};
	equal(
		keys(lay(met, none)),
		["0", "0.3", "1", "1.3", "2", "2.3", "3", "3.3"],
		"a collective on all ranks",
	);
	equal(
		keys(lay(met, none, 150)),
		["0", "0.3", "1", "2", "2.3", "3"],
		"a collective in little room: the late one and another",
	);
	check(lay(met, none).height <= 250, "the collective is higher than the window");
}

/* Rows of a range as text, and those that a drag goes over. */
async function rangeRows() {
	const { draggedRows, hasRow, readRows, writeRows } = await load("timeline/rows.ts");
	const text = "0-3-9_2";
	equal([...readRows(text)], [[0, [3, 9]], [2, []]], "rows of a text");
	equal(writeRows(readRows(text)), text, "a text of rows");
	const row = (y, file, number, open = false) => ({
		...{ key: `${file}.${number}`, y, height: 20, file, open },
		kind: number === null ? "group" : "track",
		track: number === null ? null : { track: number },
	});
	const rows = [row(0, 0, null, true), row(20, 0, 3), row(40, 0, 9), row(60, 1, null)];
	const files = [0, 1].map((file) => ({ file, problem: null }));
	const zones = { layout: { rows, pinned: [row(0, 0, 5)] }, top: 50, rowsTop: 70, shift: 60 };
	const over = (a, b) => draggedRows(zones, { files }, a, b);
	equal(over(105, 95), "0-3-9", "a drag upwards over two rows");
	equal(over(85, 85), "0-3", "a drag along a row");
	equal(over(125, 125), "1", "a folded rank");
	equal(over(75, 75), "0", "the ribbon of a rank");
	equal(over(60, 60), "0-5", "a pinned row");
	equal(over(105, 125), "0-9_1", "a row and a folded rank");
	equal(over(300, 300), undefined, "below all rows");
	equal(hasRow(readRows("0-3"), rows[1]), true, "a row that is meant");
	equal(hasRow(readRows("0-3"), rows[2]), false, "a row that is not meant");
	equal(hasRow(readRows("1"), rows[3]), true, "a rank that is meant");
}

async function keys() {
	const { KEYS, keyOf } = await load("timeline/keys.ts");
	const press = (key, more = {}) => keyOf({ key, ...more })?.action ?? null;
	const none = { shiftKey: false, altKey: false, ctrlKey: false, metaKey: false };
	/** @type {[string, object, string | null][]} */
	const cases = [
		["w", {}, "zoom-in"],
		["W", { shiftKey: true }, null],
		["m", {}, "mark"],
		["M", { shiftKey: true }, "keep"],
		["Enter", {}, "hit-next"],
		["Enter", { shiftKey: true }, "hit-previous"],
		["ArrowUp", {}, "up"],
		["ArrowUp", { altKey: true }, "lane-above"],
		["]", {}, "flow-next"],
		["[", { altKey: true }, "flow-previous"],
		["/", { shiftKey: true }, "search"],
		["c", { ctrlKey: true }, null],
		["x", {}, null],
	];
	for (const [key, more, action] of cases)
		equal(press(key, { ...none, ...more }), action, `${key} ${JSON.stringify(more)}`);
	const shown = KEYS.map((key) => key.shown);
	equal(shown.length, new Set(shown).size, "keys that are told twice");
}

/* What rows in view wait for is not given up for what comes into view; what nobody waits for is. */
async function feeds() {
	const { Feed } = await load("timeline/feed.ts");
	const asked = [];
	const client = {
		bytes: (_route, _parameters, signal) => new Promise(() => asked.push(signal)),
	};
	const feed = new Feed(client, () => {});
	const want = (key, ...rows) => ({
		...{ key, route: "strips", parameters: {}, rows: new Set(rows) },
		...{ level: 1, from: 0, to: 10, accept() {} },
	});
	const aborted = () => asked.map((signal) => signal.aborted);

	feed.want([want("a", "1", "2"), want("b", "3")]);
	check(feed.expects("1", 1, 0, 10), "row 1 is under way");
	check(!feed.expects("1", 2, 0, 10), "not with another level");
	feed.want([want("c", "4")]);
	equal(aborted(), [false, true, false], "b makes room for c");
	check(feed.expects("2", 1, 0, 10) && feed.expects("4", 1, 0, 10), "both are awaited");
	feed.want([want("d", "5")]);
	equal(aborted(), [false, true, false], "there is no room for d");
	feed.want([want("d", "5")]);
	equal(aborted(), [true, true, false, false], "until one is not awaited any more");
}

/* A collective leads to its ranks also where nothing is known of the late one; one that another
 * jump has overtaken leads nowhere. */
async function jumps() {
	const { Jump } = await load("timeline/jump.ts");
	const members = [0, 1].map((rank) => ({ rank, file: rank, row: 5, wait_ns: 9, track: 2 }));
	const collective = { last_rank: 1, members };
	const late = [];
	const client = {
		json: (_, { file }) =>
			file === 0
				? Promise.resolve({ file, row: 5, gap: null, collective })
				: new Promise((resolve, reject) => late.push({ resolve, reject })),
	};
	const asked = async (count) => {
		while (late.length < count) await new Promise((resolve) => setTimeout(resolve));
	};
	let found = 0;
	const jump = new Jump(client, () => found++);
	jump.follow("slice.0.5");
	await asked(1);
	late[0].reject(new Error("no such slice"));
	await new Promise((resolve) => setTimeout(resolve));
	equal([found, jump.now.order], [1, [1, 0]], "a late rank that is not known");
	jump.follow("file.3");
	jump.follow("slice.0.5");
	await asked(2);
	jump.follow("file.4");
	late[1].resolve({ before: null });
	await new Promise((resolve) => setTimeout(resolve));
	equal([found, [...jump.now.files.keys()]], [1, [4]], "a jump that was overtaken");
}

export const timelineUnits = [
	{ name: "units: tiles are read as they are written", run: decodes },
	{ name: "units: lanes without Python frames", run: frames },
	{ name: "units: windows and moments", run: spans },
	{ name: "units: rows of the timeline", run: rows },
	{ name: "units: rows that a jump folds", run: folds },
	{ name: "units: rows of a range", run: rangeRows },
	{ name: "units: keys of the timeline", run: keys },
	{ name: "units: requests of the timeline that are given up", run: feeds },
	{ name: "units: jumps that fail in part, and that are overtaken", run: jumps },
];

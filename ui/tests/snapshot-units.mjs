/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot-units.mjs - what the tab of snapshots reckons, without a browser. Expected values are
 * worked out by hand.
 */
import { check, equal } from "./harness.mjs";
import { load } from "./load.mjs";

const FOLDER = "tabs/memory/snapshot";

function device(name, events, more = {}) {
	const usual = { segments: 1, exact: true, span_ns: null, peak_event: null, ooms: [] };
	return { device: name, events, ...usual, ...more };
}

function snapshot(number, devices) {
	return { snapshot: number, path: `${number}.pickle`, bytes: 1, events: 1, points: 0, devices };
}

async function chosen() {
	const { chosenOf, markedOf, momentOf, windowOf, writeStacks } = await load(
		`${FOLDER}/chosen.ts`,
	);
	const all = [
		snapshot(0, [device("0", 0), device("1", 7), device("host", 3)]),
		snapshot(1, []),
		snapshot(2, [device("0", 0)]),
	];
	const names = (own) => {
		const found = chosenOf(all, own);
		return [found?.snapshot.snapshot, found?.device?.device ?? null];
	};
	equal(names({}), [0, "1"], "the first device with events");
	equal(names({ device: "host" }), [0, "host"], "the one that was chosen");
	equal(names({ device: "9" }), [0, "1"], "one that is not there");
	equal(names({ snapshot: "1" }), [1, null], "a memory timeline has no device");
	equal(names({ snapshot: "2" }), [2, "0"], "without events the first one");
	equal(names({ snapshot: "x" }), [0, "1"], "a snapshot that is not there");
	equal(chosenOf([], {}), null, "nothing");
	equal(windowOf({ window: "3-9" }), { from: 3, to: 9 }, "a window");
	for (const window of ["", "9-3", "3-3", "-1-3", "a-b", "3"])
		equal(windowOf({ window }), null, `no window: ${window}`);
	equal(momentOf({ moment: "6" }, device("0", 7)), 6, "the last event");
	equal(momentOf({ moment: "7" }, device("0", 7)), null, "behind the last event");
	equal(momentOf({ moment: "6" }, device("0", 7, { exact: false })), null, "not exact");
	equal(momentOf({ moment: "6" }, null), null, "no device");
	equal(momentOf({}, device("0", 7)), null, "the end");
	check(markedOf({ marked: "0xffffffffffffffff" }).address === 2n ** 64n - 1n, "an address");
	equal([...markedOf({ marked: "3.17" }).stacks], [3, 17], "stacks");
	for (const marked of ["", "0x", "0xg", "3.", ".3", "a"])
		equal(markedOf({ marked }), null, `no marks: ${marked}`);
	equal(writeStacks([5, 6]), "5.6", "stacks in the address");
	equal(writeStacks(Array(100).fill(1)).split(".").length, 64, "not too many of them");
}

const used = (offset, bytes) => [offset, bytes, "used", "unknown", bytes, 1, null];

/* 3 segments of 100, 300 and 50 bytes at an address that a double cannot hold. */
const MAP = {
	event: null,
	segments: [
		{ address: "0xfffffffffffff000", bytes: 100, blocks: [used(0, 60), used(60, 40)] },
		{ address: "0xfffffffffffff800", bytes: 300, blocks: [used(0, 300)] },
		{ address: "0xfffffffffffffc01", bytes: 50, blocks: [used(0, 20), used(20, 30)] },
	],
};

async function layouts() {
	const { joinedLayout, LEFT, rowsLayout, spotBeside } = await load(`${FOLDER}/map-layout.ts`);
	const rows = rowsLayout(MAP, LEFT + 4 + 600); /* 2 pixels a byte */
	equal(rows.rows, 3, "a row each");
	equal(rows.pieces(0, 60, 100), [{ x: LEFT + 120, row: 0, width: 80 }], "the second block");
	equal(rows.at(0, LEFT + 121), { segment: 0, byte: 60.5 }, "what is there");
	equal(rows.at(0, LEFT + 201), null, "behind the segment");
	equal(rows.at(1, LEFT - 1), null, "before it");
	equal(rows.at(3, LEFT), null, "below the last");
	/* 450 bytes and 3 gaps in 4 rows of 100 pixels: 400 - 3 * (4 + 1) of them for bytes */
	const joined = joinedLayout(MAP, LEFT + 4 + 100, 4);
	const scale = 385 / 450;
	const widths = (pieces) => pieces.reduce((sum, piece) => sum + piece.width, 0);
	MAP.segments.forEach((segment, i) => {
		const wide = widths(joined.pieces(i, 0, segment.bytes));
		check(Math.abs(wide - segment.bytes * scale) < 1e-6, `segment ${i} is ${wide} wide`);
		segment.blocks.forEach(([offset, bytes], k) => {
			for (const piece of joined.pieces(i, offset, offset + bytes)) {
				const found = joined.at(piece.row, piece.x + piece.width / 2);
				equal(found?.segment, i, `segment of block ${i}.${k}`);
				check(found.byte > offset && found.byte < offset + bytes, `byte of ${i}.${k}`);
				const [first, last] = joined.within(piece.row);
				check(first <= i && i <= last, `segments of row ${piece.row}`);
				check(piece.x + piece.width <= LEFT + 100 + 1e-6, "over the end of the row");
			}
		});
	});
	equal(joined.rows, 4, "all in four rows");
	equal(joined.label(0), "0 B", "where the first row begins");
	equal(joinedLayout({ segments: [] }, 500, 4).rows, 1, "nothing");
	const go = (spot, key) => {
		const next = spotBeside(MAP, spot, key);
		return next ? [next.segment, next.block] : null;
	};
	equal(go(null, "ArrowDown"), [0, 0], "the first block");
	equal(go({ segment: 0, block: 0 }, "ArrowRight"), [0, 1], "beside it");
	equal(go({ segment: 0, block: 1 }, "ArrowRight"), [0, 1], "the last of a segment");
	equal(go({ segment: 0, block: 1 }, "ArrowDown"), [1, 0], "below");
	equal(go({ segment: 1, block: 0 }, "ArrowDown"), [2, 0], "the nearest below");
	equal(go({ segment: 2, block: 1 }, "ArrowDown"), [2, 1], "there is nothing below");
	equal(go({ segment: 0, block: 0 }, "Enter"), null, "no arrow");
	equal(spotBeside({ segments: [] }, null, "ArrowDown"), null, "no blocks");
}

/* In a row each, 2 pixels a byte: a block of one byte in a segment that is free otherwise. */
async function met() {
	const { spotAt } = await load(`${FOLDER}/map-drawing.ts`);
	const { LEFT, rowsLayout } = await load(`${FOLDER}/map-layout.ts`);
	const free = (offset, bytes) => [offset, bytes, "free", null, null, null, null];
	const blocks = {
		segments: [
			{ address: "0x1", bytes: 300, blocks: [free(0, 50), used(50, 1), free(51, 249)] },
			{ address: "0x2", bytes: 10, blocks: [used(0, 1)] },
		],
	};
	const layout = rowsLayout(blocks, LEFT + 4 + 600);
	const at = (x, y) => spotAt({ blocks, layout, scroll: 0 }, LEFT + x, y)?.block ?? null;
	equal(at(100.5, 5), 1, "on it");
	equal([at(98, 5), at(102.5, 5)], [1, 1], "beside it");
	equal([at(96, 5), at(104, 5)], [0, 2], "further away: what is free");
	equal([at(1, 20), at(2.5, 20)], [0, 0], "the other segment");
	equal(at(12, 20), null, "what nobody recorded");
	equal([at(-1, 5), at(5, 50)], [null, null], "outside");
}

async function blocks() {
	const { addressOf, findBlock, countOf } = await load(`${FOLDER}/model.ts`);
	const [, , third] = MAP.segments;
	equal(addressOf(third, third.blocks[1]), "0xfffffffffffffc15", "an address of 64 bits");
	equal(findBlock(MAP, "0xfffffffffffffc15")?.[1], third.blocks[1], "the block there");
	equal(findBlock(MAP, "0xfffffffffffffc14"), null, "one byte before it");
	equal(findBlock(MAP, "0x0"), null, "far before it");
	equal([countOf(1, "block"), countOf(0, "block")], ["1 block", "0 blocks"], "one and none");
}

async function frames() {
	const { frameText, mainFrames } = await load(`${FOLDER}/frames.tsx`);
	const frame = (file, noise = false) => ({ file, line: 1, name: "f", own: false, noise });
	const cpp = frame("a.cpp");
	equal(mainFrames([cpp, frame("a.py")]), [frame("a.py")], "Python where there is any");
	equal(mainFrames([cpp, frame("??", true)]), [cpp], "without noise");
	equal(mainFrames([frame(null, true)]).length, 1, "what there is");
	equal(mainFrames([]), [], "nothing");
	equal(frameText(frame("??")), "f", "no file");
	equal(frameText({ ...frame(null), name: null }), "no name", "nothing at all");
	equal(frameText(frame("a.py")), "a.py:1 f", "file and line");
}

export const snapshotUnits = [
	{ name: "units: what of a snapshot is chosen", run: chosen },
	{ name: "units: layouts of the map of blocks", run: layouts },
	{ name: "units: blocks under the pointer", run: met },
	{ name: "units: blocks by their addresses", run: blocks },
	{ name: "units: frames of a snapshot", run: frames },
];

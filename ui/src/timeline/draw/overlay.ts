/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlay.ts - draws on top of the rows: selection, hover, time ranges, flows of the selection,
 * members of a collective, the critical path, flags of findings.
 */
import type { Collective, Flag, Flow, GapAnswer, Member, PathPiece } from "../../core/types";
import { formatNs } from "../../core/format";
import { markOf } from "../../core/words";
import { type Layout, laneTop, type Row, rowCentre, trackKey } from "../model";
import type { Span } from "../span";
import { overlap, type Taken } from "./axis";
import { type Pen, snap, xOf } from "./pen";

/* Where something is drawn: its row, or the strip of its rank when that is folded. */
export interface Spotted {
	file: number;
	track: number;
	lane: number;
	start_ns: number;
	dur_ns: number;
}

/* Those whose files are open. */
export function membersOf(collective: Collective): Member[] {
	return collective.members.filter((one): one is Member => one.file !== null);
}

/* The host's work that the device waited for. */
export function guiltyOf({ file, causes }: GapAnswer): Spotted[] {
	return causes.flatMap(({ track, lane = 0, start_ns = 0, dur_ns = 0 }) =>
		track === undefined ? [] : { file, track, lane, start_ns, dur_ns },
	);
}

/* Where rows lie, and which lane shows a slice. */
interface Ground {
	layout: Layout;
	shift: number;
	laneOf: (row: Row, spot: Spotted) => number;
}

interface Box {
	x: number;
	y: number;
	width: number;
	height: number;
}

const FLAG = 15;
const PENNANT = 4;

/* Pixels between pieces of the path that do not part them. */
const JOIN = 4;

export function boxOf(pen: Pen, ground: Ground, spot: Spotted): Box | null {
	const { layout, shift } = ground;
	const x = xOf(pen, spot.start_ns);
	const width = Math.max(2, spot.dur_ns * pen.perNs);
	const row = layout.find.get(trackKey(spot.file, spot.track));
	if (row) {
		const lane = Math.max(0, Math.min(ground.laneOf(row, spot), row.lanes - 1));
		return { x, y: laneTop(row, lane) + shift, width, height: row.lane - 2 };
	}
	const group = layout.find.get(String(spot.file));
	if (!group || group.open) return null; /* its row is folded */
	return { x, y: group.y + shift + 1, width, height: Math.max(2, group.height - 2) };
}

/* Two lines, so that it can be seen on every colour. */
export function outline(pen: Pen, box: Box, color: string, thick: number): void {
	const { context, theme } = pen;
	const left = Math.max(box.x, -4);
	const right = Math.min(box.x + box.width, pen.width + 4);
	if (right < -3 || left > pen.width + 3) return;
	const width = Math.max(2, right - left - 1);
	context.lineWidth = thick + 2;
	context.strokeStyle = theme.back;
	context.strokeRect(left, box.y, width, box.height);
	context.lineWidth = thick;
	context.strokeStyle = color;
	context.strokeRect(left, box.y, width, box.height);
}

function arrow(pen: Pen, x0: number, y0: number, x1: number, y1: number): void {
	const { context } = pen;
	const bend = Math.min(60, Math.max(12, Math.abs(x1 - x0) / 2));
	context.beginPath();
	context.moveTo(x0, y0);
	context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
	context.stroke();
	context.beginPath();
	context.moveTo(x1, y1);
	context.lineTo(x1 - 7, y1 - 4);
	context.lineTo(x1 - 7, y1 + 4);
	context.fill();
}

/* From the start of the cause to the start of what it caused. */
export function drawFlows(pen: Pen, ground: Ground, from: Spotted, flows: Flow[]): void {
	const own = boxOf(pen, ground, from);
	if (!own) return;
	const { context, theme } = pen;
	context.strokeStyle = theme.text;
	context.fillStyle = theme.text;
	context.lineWidth = 1.25;
	for (const flow of flows) {
		const other = boxOf(pen, ground, flow);
		if (!other) continue;
		const [a, b] = flow.way === "to" ? [own, other] : [other, own];
		/* it leaves where the caller ends, unless the called began before that */
		const leave = Math.min(a.x + a.width, Math.max(a.x, b.x));
		arrow(pen, leave, a.y + a.height / 2, b.x, b.y + b.height / 2);
	}
}

/* A line through the members, by where each began; the last to arrive has a dot. */
export function drawMembers(pen: Pen, ground: Ground, collective: Collective): void {
	const { context, theme } = pen;
	const boxes = membersOf(collective)
		.map((member) => ({ member, box: boxOf(pen, ground, member) }))
		.filter((one): one is { member: typeof one.member; box: Box } => one.box !== null)
		.sort((a, b) => a.box.y - b.box.y);
	if (boxes.length < 2) return;
	context.strokeStyle = theme.text;
	context.lineWidth = 1.5;
	context.beginPath();
	for (const { box } of boxes) context.lineTo(box.x, box.y + box.height / 2);
	context.stroke();
	for (const { member, box } of boxes) {
		const last = member.rank !== null && member.rank === collective.last_rank;
		context.fillStyle = last ? theme.bad : theme.text;
		context.beginPath();
		context.arc(box.x, box.y + box.height / 2, last ? 5 : 2.5, 0, 7);
		context.fill();
		if (last) writeBeside(pen, "last to arrive", box);
	}
}

function writeBeside(pen: Pen, text: string, box: Box): void {
	const { context, theme } = pen;
	const width = theme.width(text) + 8;
	const x = box.x - width - 8 > 0 ? box.x - width - 8 : box.x + 8;
	context.fillStyle = theme.back;
	context.fillRect(x, box.y - 1, width, 16);
	context.fillStyle = theme.bad;
	context.font = theme.font;
	context.textBaseline = "middle";
	context.fillText(text, x + 4, box.y + 7);
}

/* Pieces that follow each other in a row have one line around them. */
function joined(boxes: Box[]): Box[] {
	const runs: Box[] = [];
	for (const box of boxes) {
		const last = runs.at(-1);
		if (last && last.y === box.y && box.x - (last.x + last.width) < JOIN)
			last.width = Math.max(last.width, box.x + box.width - last.x);
		else runs.push({ ...box });
	}
	return runs;
}

/* Everything else dims: a veil with holes where the path runs, and lines around them. */
export function drawPath(pen: Pen, ground: Ground, top: number, pieces: PathPiece[]): void {
	const { context, theme } = pen;
	const boxes: Box[] = [];
	for (const piece of pieces) {
		if (piece.end_ns < pen.span.from || piece.start_ns > pen.span.to) continue;
		const { track, lane } = piece;
		if (track === null || lane === null) continue;
		const dur_ns = piece.end_ns - piece.start_ns;
		const box = boxOf(pen, ground, { ...piece, track, lane, dur_ns });
		if (!box) continue;
		const left = snap(pen, Math.max(box.x, -4));
		const right = Math.max(
			left + 2,
			snap(pen, Math.min(box.x + box.width, pen.width + 4)),
		);
		boxes.push({ ...box, x: left, width: right - left });
	}
	context.globalAlpha = 0.7;
	context.fillStyle = theme.back;
	context.beginPath();
	context.rect(0, top, pen.width, pen.height - top);
	for (const box of boxes) context.rect(box.x, box.y, box.width, box.height);
	context.fill("evenodd");
	context.globalAlpha = 1;
	context.strokeStyle = theme.path;
	context.lineWidth = 2;
	context.beginPath();
	let last: Box | null = null;
	for (const box of joined(boxes)) {
		context.rect(box.x, box.y, box.width, box.height);
		if (last && last.y !== box.y) {
			context.moveTo(box.x, last.y + last.height / 2);
			context.lineTo(box.x, box.y + box.height / 2);
		}
		last = box;
	}
	context.stroke();
}

/* A stretch of time through all rows. */
export function drawStretch(pen: Pen, span: Span, top: number, color: string, alpha: number): void {
	const { context } = pen;
	const from = Math.max(-2, snap(pen, xOf(pen, span.from)));
	const to = Math.min(pen.width + 2, Math.max(from + 1, snap(pen, xOf(pen, span.to))));
	if (to < 0 || from > pen.width) return;
	context.fillStyle = color;
	context.globalAlpha = alpha;
	context.fillRect(from, top, to - from, pen.height - top);
	context.globalAlpha = 1;
	context.fillRect(from, top, 1, pen.height - top);
	context.fillRect(to - 1, top, 1, pen.height - top);
}

/* Where its length stands: in the middle of what is seen of it. */
export function placeLength(pen: Pen, span: Span): (Taken & { text: string }) | null {
	const from = Math.max(0, xOf(pen, span.from));
	const to = Math.min(pen.width, xOf(pen, span.to));
	const text = formatNs(span.to - span.from);
	const width = pen.theme.width(text) + 10;
	if (to < from) return null;
	const x = Math.min(Math.max(0, (from + to - width) / 2), pen.width - width);
	return { text, x, width };
}

/* The time at the pointer goes before it. */
export function drawLength(
	pen: Pen,
	span: Span,
	y: number,
	color: string,
	moment: Taken | null,
): void {
	const { context, theme } = pen;
	const placed = placeLength(pen, span);
	if (!placed || (moment && overlap(placed, moment))) return;
	context.fillStyle = color;
	context.fillRect(placed.x, y, placed.width, 16);
	context.fillStyle = theme.back;
	context.font = theme.font;
	context.textBaseline = "middle";
	context.fillText(placed.text, placed.x + 5, y + 8.5);
}

export interface FlagBox extends Box {
	flag: Flag;
}

/* Places that only show how far a finding reaches leave room for steps between them. */
const SPREAD = 5 * FLAG;

/* Where the numbers of findings stand; of those that would hide each other the first. */
export function placeFlags(pen: Pen, row: Row, flags: Flag[], shift: number): FlagBox[] {
	const placed: FlagBox[] = [];
	if (row.height < FLAG) return placed;
	const y = rowCentre(row, 0) + shift - FLAG / 2;
	for (const flag of flags)
		for (const [i, place] of [...flag.places, ...flag.spread].entries()) {
			if (place.file !== row.file) continue;
			const room = i < flag.places.length ? FLAG : SPREAD;
			const x = snap(pen, xOf(pen, place.start_ns));
			if (x < -FLAG || x > pen.width) continue;
			if (placed.some((one) => Math.abs(one.x - x) < room + 1)) continue;
			placed.push({ x, y, width: FLAG, height: FLAG, flag });
		}
	return placed.sort((a, b) => a.x - b.x);
}

export function drawFlags(pen: Pen, row: Row, flags: FlagBox[], chosen: number | null): void {
	const { context, theme } = pen;
	context.font = theme.bold;
	context.textBaseline = "middle";
	context.textAlign = "center";
	for (const { x, y, flag } of flags) {
		context.fillStyle = flag.level === "warning" ? theme.bad : theme.soft;
		/* a folded rank is a strip: a pennant at its top leaves what it shows free */
		if (!row.open) {
			const top = y + FLAG / 2 - row.height / 2;
			const chosenTop = flag.number === chosen ? 2 * PENNANT : PENNANT;
			context.fillRect(x, top, chosenTop, PENNANT);
			context.fillRect(x, top, 1, row.height);
			continue;
		}
		context.fillRect(x, y, FLAG, FLAG);
		context.fillRect(x, y, 1, row.height / 2 + FLAG / 2);
		if (flag.number === chosen) {
			context.strokeStyle = theme.text;
			context.lineWidth = 2;
			context.strokeRect(x, y, FLAG, FLAG);
		}
		context.fillStyle = theme.back;
		context.fillText(markOf(flag, flag.number), x + FLAG / 2, y + FLAG / 2 + 1);
	}
	context.textAlign = "left";
}

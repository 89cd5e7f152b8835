/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.ts - draws one frame of the timeline, from the rows up to the axis.
 */
import { store } from "../../core/store";
import { type Row, rowsBetween } from "../model";
import { AXIS, MINIMAP, type Stage, TOP } from "../stage";
import type { Span } from "../span";
import {
	drawAxis,
	drawRibbon,
	drawStepLines,
	drawStepMarks,
	momentAt,
	type Taken,
} from "./axis";
import { drawCurve } from "./curves";
import {
	boxOf,
	drawFlags,
	drawFlows,
	drawLength,
	drawMembers,
	drawPath,
	drawStretch,
	outline,
	placeFlags,
	placeLength,
} from "./overlay";
import { type Pen, snap, xOf } from "./pen";
import { drawRange } from "./range";
import { collectTrack, outlineFound } from "./slices";

/* Grounds and lines between the rows. */
function drawGrounds(stage: Stage, pen: Pen, rows: Row[], shift: number): void {
	const { context, theme } = pen;
	for (const row of rows) {
		if (row.kind === "group" && row.open) {
			context.fillStyle = theme.raised;
			context.fillRect(0, row.y + shift, pen.width, row.height);
		}
	}
	drawStepLines(pen, rows, stage.job.files, shift);
	context.fillStyle = theme.line;
	for (const row of rows)
		if (row.height > 8)
			context.fillRect(
				0,
				Math.round(row.y + shift + row.height) - 1,
				pen.width,
				1,
			);
}

function drawNote(pen: Pen, row: Row, shift: number): void {
	const { context, theme } = pen;
	context.font = theme.font;
	context.fillStyle = theme.soft;
	context.textBaseline = "middle";
	context.fillText(row.title, 8, row.y + shift + row.height / 2);
}

function drawGroup(stage: Stage, pen: Pen, row: Row, shift: number): void {
	const file = stage.job.files[row.file];
	if (!file || file.problem !== null) return;
	const { selected, flags } = stage.focus;
	const placed = placeFlags(pen, row, flags, shift);
	if (row.open) drawRibbon(pen, row, file, shift, placed);
	else drawStepMarks(pen, row, file, shift);
	drawFlags(pen, row, placed, selected?.kind === "finding" ? selected.number : null);
	stage.flagBoxes.push(...placed);
}

function drawRows(stage: Stage, pen: Pen, rows: Row[], shift: number): void {
	drawGrounds(stage, pen, rows, shift);
	const folded = rows.filter((row) => row.kind === "group" && !row.open);
	const { strips } = stage.supply;
	stage.pictures.draw(pen, folded, (key) => strips.of(key), shift);
	for (const row of rows) {
		if (row.kind === "track") {
			const kept = stage.supply.tiles.of(row.key);
			if (kept) collectTrack(pen, stage.batch, row, kept, shift);
		} else if (row.kind === "curve") {
			const held = stage.supply.curves.of(row.key)?.now ?? null;
			drawCurve(pen, row, held, stage.supply.mostOf(row), shift);
		} else if (row.kind === "note") drawNote(pen, row, shift);
		else if (row.kind === "group") drawGroup(stage, pen, row, shift);
	}
	stage.batch.flush(pen);
	drawFound(stage, pen, rows, shift);
}

function drawFound(stage: Stage, pen: Pen, rows: Row[], shift: number): void {
	if (!stage.hits.query) return;
	const { context, theme } = pen;
	context.beginPath();
	for (const row of rows) {
		const held = stage.supply.tiles.of(row.key)?.now;
		const found = held ? stage.hits.labelsOf(held.sheet) : null;
		if (held && found) outlineFound(pen, row, held, shift, found);
	}
	context.lineWidth = 2;
	context.strokeStyle = theme.text;
	context.stroke();
}

/* Selection and what belongs to it, over the scrolled rows. */
function drawFocus(stage: Stage, pen: Pen): void {
	const { focus } = stage;
	const { theme } = pen;
	const [own, ...others] = focus.spots();
	for (const spot of others) {
		const box = boxOf(pen, stage, spot);
		if (box) outline(pen, box, theme.bad, 1.5);
	}
	const box = own ? boxOf(pen, stage, own) : null;
	if (focus.slice) drawFlows(pen, stage, focus.slice, focus.flows());
	if (focus.slice?.collective) drawMembers(pen, stage, focus.slice.collective);
	const other = others[0] ? boxOf(pen, stage, others[0]) : null;
	if (box && other && focus.gap) drawBlame(pen, box, other);
	if (box && other && focus.slice) drawBlame(pen, other, box);
	if (box) outline(pen, box, theme.text, 2);
}

/* From the gap up to what it waited for. */
function drawBlame(
	pen: Pen,
	gap: { x: number; y: number; width: number },
	guilty: { x: number; y: number; width: number; height: number },
): void {
	const { context, theme } = pen;
	const from = Math.max(gap.x, guilty.x);
	const to = Math.min(gap.x + gap.width, guilty.x + guilty.width);
	const x = to > from ? (from + to) / 2 : gap.x;
	context.strokeStyle = theme.bad;
	context.lineWidth = 1.25;
	context.setLineDash([4, 3]);
	context.beginPath();
	context.moveTo(x, gap.y);
	context.lineTo(x, guilty.y + guilty.height);
	context.stroke();
	context.setLineDash([]);
}

function rangeOf({ drag, focus }: Stage): Span | null {
	return drag ?? (focus.selected?.kind === "range" ? focus.selected : null);
}

function marksOf({ look }: Stage): Span[] {
	return [...look.kept, ...(look.mark ? [look.mark] : [])];
}

function drawStretches(stage: Stage, pen: Pen): void {
	const { selected } = stage.focus;
	const { theme } = pen;
	const top = TOP - 6;
	const moment = placeMoment(stage, pen);
	for (const span of marksOf(stage)) {
		drawStretch(pen, span, top, theme.path, 0.1);
		drawLength(pen, span, MINIMAP + 4, theme.path, moment);
	}
	if (selected?.kind === "note") drawStretch(pen, selected, TOP, theme.note, 0.14);
	drawRange(stage, pen, moment);
}

/* The pinned rows, over those that scroll under them. */
function drawPinned(stage: Stage, pen: Pen): void {
	const { context, theme } = pen;
	const { pinnedHeight, top } = stage;
	if (!pinnedHeight) return;
	context.save();
	context.beginPath();
	context.rect(0, top, pen.width, pinnedHeight);
	context.clip();
	context.fillStyle = theme.back;
	context.fillRect(0, top, pen.width, pinnedHeight);
	drawRows(stage, pen, rowsBetween(stage.layout.pinned, 0, pinnedHeight), top);
	context.restore();
	context.fillStyle = theme.soft;
	context.fillRect(0, top + pinnedHeight - 2, pen.width, 2);
}

function drawPointer(stage: Stage, pen: Pen): void {
	const { pointer } = stage;
	const { context, theme } = pen;
	if (!pointer || pointer.y < MINIMAP) return;
	const x = snap(pen, pointer.x);
	context.fillStyle = theme.soft;
	context.fillRect(x, TOP - 4, 1, pen.height - TOP + 4);
	const placed = placeMoment(stage, pen);
	if (!placed) return;
	context.fillStyle = theme.text;
	context.fillRect(placed.x, MINIMAP + 3, placed.width, AXIS - 7);
	context.fillStyle = theme.back;
	context.font = theme.font;
	context.textBaseline = "middle";
	context.fillText(placed.text, placed.x + 5, MINIMAP + 3 + (AXIS - 7) / 2);
}

/* The time at the pointer, on the axis. */
function placeMoment(stage: Stage, pen: Pen): (Taken & { text: string }) | null {
	const { pointer, leader, look } = stage;
	if (!pointer || pointer.y < MINIMAP) return null;
	const text = momentAt(pen, stage.nsOf(pointer.x), leader?.steps ?? [], look.fromStart);
	const width = pen.theme.width(text) + 10;
	const x = Math.min(Math.max(0, snap(pen, pointer.x) - width / 2), pen.width - width);
	return { text, x, width };
}

/* Labels that stand on the axis. */
function takenOf(stage: Stage, pen: Pen): Taken[] {
	const range = rangeOf(stage);
	const spans = [...marksOf(stage), ...(range ? [range] : [])];
	return [...spans.map((span) => placeLength(pen, span)), placeMoment(stage, pen)].filter(
		(one) => one !== null,
	);
}

function drawTop(stage: Stage, pen: Pen): void {
	const { context, theme } = pen;
	const { leader, look, focus, hits, whole } = stage;
	const steps = leader?.steps ?? [];
	context.fillStyle = theme.back;
	context.fillRect(0, 0, pen.width, stage.top);
	if (stage.top > TOP) {
		context.fillStyle = theme.line;
		context.fillRect(0, stage.top - 1, pen.width, 1);
	}
	drawAxis(pen, steps, look.fromStart, MINIMAP, AXIS, takenOf(stage, pen));
	const range = focus.selected?.kind === "range" ? [focus.selected] : [];
	const marks = look.mark ? [look.mark] : [];
	stage.minimap.draw(
		pen,
		whole,
		steps,
		{
			hits: hits.starts(stage.run),
			flags: focus.flags.flatMap((flag) =>
				flag.spread.map((one) => one.start_ns),
			),
			spans: [...range, ...marks, ...look.kept, ...store.view.notes],
		},
		2,
		MINIMAP - 4,
	);
}

/* The edges of what the files hold: beyond them nothing was recorded. */
function drawOutside(stage: Stage, pen: Pen): void {
	const { context, theme } = pen;
	const from = xOf(pen, stage.run.from);
	const to = xOf(pen, stage.run.to);
	context.fillStyle = theme.raised;
	if (from > 0) context.fillRect(0, TOP, from, pen.height - TOP);
	if (to < pen.width) context.fillRect(to, TOP, pen.width - to, pen.height - TOP);
}

export function drawFrame(stage: Stage, pen: Pen): void {
	const { context, theme } = pen;
	stage.flagBoxes = [];
	theme.anchor(-((pen.span.from * pen.perNs) % 1e6));
	context.fillStyle = theme.back;
	context.fillRect(0, 0, pen.width, pen.height);
	drawOutside(stage, pen);
	drawRows(stage, pen, stage.visible, stage.shift);
	if (stage.look.path && stage.loads.path)
		drawPath(pen, stage, stage.rowsTop, stage.loads.path.pieces);
	drawHover(stage, pen);
	drawFocus(stage, pen);
	const { sticky } = stage;
	if (sticky) drawRows(stage, pen, [sticky], stage.shift);
	drawPinned(stage, pen);
	drawTop(stage, pen);
	drawStretches(stage, pen);
	drawPointer(stage, pen);
}

function drawHover(stage: Stage, pen: Pen): void {
	const { hover } = stage;
	if (!hover?.entry || !hover.row.track) return;
	const { sheet, index } = hover.entry;
	const box = boxOf(pen, stage, {
		file: hover.row.file,
		track: hover.row.track.track,
		lane: hover.lane,
		start_ns: sheet.start[index] ?? 0,
		dur_ns: sheet.dur[index] ?? 0,
	});
	if (box && !hover.pinned) outline(pen, box, pen.theme.soft, 1);
}

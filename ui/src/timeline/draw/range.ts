/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.ts - the selected range, or the one being drawn, over its rows only.
 */
import { hasRow, readRows } from "../rows";
import { MINIMAP, type Stage, TOP } from "../stage";
import type { Taken } from "./axis";
import { drawLength, drawStretch } from "./overlay";
import { type Pen, snap, xOf } from "./pen";

function drawOver(stage: Stage, pen: Pen, from: number, to: number, text: string): void {
	const { context, theme } = pen;
	const rows = readRows(text);
	const fill = (top: number, bottom: number) => {
		if (bottom <= top) return;
		context.globalAlpha = 0.22;
		context.fillRect(from, top, to - from, bottom - top);
		context.globalAlpha = 1;
		context.fillRect(from, top, 1, bottom - top);
		context.fillRect(to - 1, top, 1, bottom - top);
	};
	context.fillStyle = theme.accent;
	for (const row of stage.visible)
		if (hasRow(rows, row)) {
			const top = row.y + stage.shift;
			fill(Math.max(stage.rowsTop, top), Math.min(pen.height, top + row.height));
		}
	for (const row of stage.layout.pinned)
		if (hasRow(rows, row))
			fill(
				row.y + stage.top,
				Math.min(stage.rowsTop, row.y + stage.top + row.height),
			);
	fill(TOP - 6, TOP);
}

/* `moment`: the time at the pointer, to which the length gives way. */
export function drawRange(stage: Stage, pen: Pen, moment: Taken | null): void {
	const { selected } = stage.focus;
	const range = stage.drag ?? (selected?.kind === "range" ? selected : null);
	const { theme } = pen;
	if (!range) return;
	if (range.rows) {
		const from = Math.max(-2, snap(pen, xOf(pen, range.from)));
		const to = Math.min(
			pen.width + 2,
			Math.max(from + 1, snap(pen, xOf(pen, range.to))),
		);
		if (to >= 0 && from <= pen.width) drawOver(stage, pen, from, to, range.rows);
	} else drawStretch(pen, range, TOP - 6, theme.accent, 0.16);
	drawLength(pen, range, MINIMAP + 4, theme.accent, moment);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.ts - the timeline as a picture: the rows that are in view, with their names.
 */
import type { Stage } from "./stage";

const PAD = 8;

/* The canvas with the names of its rows at the left; null: nothing is drawn yet. */
export function timelinePicture(stage: Stage): HTMLCanvasElement | null {
	const { canvas } = stage;
	const head = Number.parseFloat(getComputedStyle(canvas).left) || 0;
	const ratio = canvas.width / Math.max(1, stage.width);
	const picture = document.createElement("canvas");
	picture.width = canvas.width + Math.round(head * ratio);
	picture.height = canvas.height;
	const context = picture.getContext("2d");
	if (!context) return null;
	const style = getComputedStyle(document.body);
	context.fillStyle = style.backgroundColor;
	context.fillRect(0, 0, picture.width, picture.height);
	context.drawImage(canvas, Math.round(head * ratio), 0);
	context.scale(ratio, ratio);
	context.fillStyle = style.color;
	context.font = `12px ${style.fontFamily}`;
	context.textBaseline = "middle";
	context.beginPath();
	context.rect(0, stage.rowsTop, head - PAD, stage.height);
	context.clip();
	for (const row of stage.layout.rows) {
		const y = row.y + stage.rowsTop - stage.scroll;
		if (row.height < 10 || y + row.height < stage.rowsTop || y > stage.height) continue;
		context.fillText(row.title, PAD, y + Math.min(row.height, 26) / 2);
	}
	return picture;
}

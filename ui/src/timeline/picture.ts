/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.ts - the timeline as a picture: the rows that are in view, with their names.
 */
import type { Drawn } from "../parts/picture";
import { drawnBy } from "../parts/vector";
import type { Stage } from "./stage";

const PAD = 8;

function part(x: number, y: number, { width, height, inside }: Drawn): string {
	const size = `width="${width}" height="${height}"`;
	return `<svg x="${x}" y="${y}" ${size} overflow="hidden">${inside}</svg>`;
}

/* What the canvas shows, with the names of its rows at the left. */
export function timelinePicture(stage: Stage): Drawn {
	const { width, height, rowsTop } = stage;
	const head = Number.parseFloat(getComputedStyle(stage.canvas).left) || 0;
	const rows = drawnBy(width, height, (context) => stage.drawOn(context));
	const names = drawnBy(head - PAD, height - rowsTop, (context) => {
		context.fillStyle = stage.theme.text;
		context.font = stage.theme.font;
		for (const row of stage.layout.rows) {
			const y = row.y - stage.scroll;
			if (row.height < 10 || y + row.height < 0 || y > height) continue;
			context.fillText(row.title, PAD, y + Math.min(row.height, 26) / 2);
		}
	});
	const inside = part(head, 0, rows) + part(0, rowsTop, names);
	return { width: width + head, height, inside };
}

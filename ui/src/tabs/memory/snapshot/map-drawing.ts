/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map-drawing.ts - draws segments, blocks and marks on a canvas, and finds the block at a point.
 */
import type { Block, BlocksAnswer, Segment } from "../../../core/types";
import { tokenOf } from "../../../parts/surface";
import type { Marked } from "./chosen";
import { LEFT, type Layout, PITCH, ROW, type Spot } from "./map-layout";
import { categoryToken } from "./model";

/* What is not marked, where something is. */
const DIMMED = 0.18;

/* Of narrower blocks one is drawn in each such number of pixels: more cannot be seen. */
const FINEST = 0.5;

export interface Scene {
	blocks: BlocksAnswer;
	layout: Layout;
	marked: Marked | null;
	cursor: Spot | null;
	scroll: number;
	width: number;
	height: number;
}

/* Whether blocks of a segment are looked for. */
export function marksIn(marked: Marked, segment: Segment): (block: Block) => boolean {
	const { address, stacks } = marked;
	if (address === null) return (block) => block[5] !== null && stacks.has(block[5]);
	const offset = address - BigInt(segment.address);
	if (offset === 0n) return () => true; /* the segment itself */
	return (block) => BigInt(block[0]) === offset;
}

/* The segment with the most of what is marked; -1: none. */
export function mostMarked(blocks: BlocksAnswer, marked: Marked): number {
	let [found, most] = [-1, 0];
	blocks.segments.forEach((segment, i) => {
		const has = marksIn(marked, segment);
		const bytes = segment.blocks.reduce((sum, one) => sum + (has(one) ? one[1] : 0), 0);
		if (bytes > most) [found, most] = [i, bytes];
	});
	return found;
}

/* Colours are asked for once a drawing. */
function makePalette(): (token: string) => string {
	const known = new Map<string, string>();
	return (token) => {
		const found = known.get(token) ?? tokenOf(token);
		known.set(token, found);
		return found;
	};
}

class Painter {
	private color = makePalette();

	constructor(
		private context: CanvasRenderingContext2D,
		private scene: Scene,
	) {
		context.font = `11px ${tokenOf("--font")}`;
		context.textAlign = "right";
	}

	private yOf(row: number): number {
		return row * PITCH - this.scene.scroll;
	}

	private seen(row: number): boolean {
		const y = this.yOf(row);
		return y > -PITCH && y < this.scene.height;
	}

	private fill(segment: number, from: number, to: number, shrinks: boolean): void {
		for (const piece of this.scene.layout.pieces(segment, from, to)) {
			if (!this.seen(piece.row)) continue;
			const less = shrinks && piece.width > 3 ? 1 : 0;
			this.context.fillRect(piece.x, this.yOf(piece.row), piece.width - less, ROW);
		}
	}

	/* Hatched: only a stream still uses it. */
	private stripe(segment: number, from: number, to: number): void {
		this.context.fillStyle = this.color("--stripe");
		for (const piece of this.scene.layout.pieces(segment, from, to))
			for (let at = 0; at < piece.width && this.seen(piece.row); at += 6)
				this.context.fillRect(
					piece.x + at,
					this.yOf(piece.row),
					Math.min(3, piece.width - at),
					ROW,
				);
	}

	private outline(segment: number, [offset, bytes]: Block, token: string): void {
		this.context.strokeStyle = this.color(token);
		this.context.lineWidth = 2;
		for (const { x, row, width } of this.scene.layout.pieces(segment, offset, offset + bytes))
			if (this.seen(row))
				this.context.strokeRect(x, this.yOf(row), Math.max(2, width), ROW);
		this.context.lineWidth = 1;
	}

	private segment(index: number, segment: Segment): void {
		const { marked, layout } = this.scene;
		const has = marked ? marksIn(marked, segment) : null;
		let drawn = Number.NEGATIVE_INFINITY;
		this.context.fillStyle = this.color("--faint");
		this.fill(index, 0, segment.bytes, false);
		for (const block of segment.blocks) {
			const [offset, bytes, state, category] = block;
			if (state === "free") continue;
			const piece = layout.pieces(index, offset, offset + bytes)[0];
			const place = (piece?.row ?? 0) * this.scene.width + (piece?.x ?? 0);
			const narrow = (piece?.width ?? 0) <= FINEST;
			if (narrow && place - drawn < FINEST && !has?.(block)) continue;
			drawn = place;
			this.context.globalAlpha = has && !has(block) ? DIMMED : 1;
			this.context.fillStyle = this.color(categoryToken(category));
			this.fill(index, offset, offset + bytes, true);
			if (state === "pending") this.stripe(index, offset, offset + bytes);
		}
		this.context.globalAlpha = 1;
		this.context.strokeStyle = this.color("--line");
		for (const { x, row, width } of layout.pieces(index, 0, segment.bytes))
			if (this.seen(row))
				this.context.strokeRect(x + 0.5, this.yOf(row) + 0.5, width - 1, ROW - 1);
		if (!has) return;
		for (const block of segment.blocks) if (has(block)) this.outline(index, block, "--path");
	}

	paint(): void {
		const { blocks, layout, scroll, height, cursor } = this.scene;
		const top = Math.floor(scroll / PITCH);
		const bottom = Math.min(layout.rows - 1, Math.ceil((scroll + height) / PITCH));
		this.context.fillStyle = this.color("--soft");
		for (let row = top; row <= bottom; row++)
			this.context.fillText(layout.label(row), LEFT - 6, this.yOf(row) + ROW - 3);
		for (let i = layout.within(top)[0]; i <= layout.within(bottom)[1]; i++) {
			const segment = blocks.segments[i];
			if (segment) this.segment(i, segment);
		}
		const block = cursor ? blocks.segments[cursor.segment]?.blocks[cursor.block] : undefined;
		if (cursor && block) this.outline(cursor.segment, block, "--text");
	}
}

export function drawMap(context: CanvasRenderingContext2D, scene: Scene): void {
	context.textBaseline = "alphabetic";
	new Painter(context, scene).paint();
}

/* A block too narrow to hit counts as hit from this number of pixels away. */
const NEAR = 3;

/* What is under the pointer: of the canvas, not of the page. */
export function spotAt(scene: Scene, x: number, y: number): Spot | null {
	const row = Math.floor((y + scene.scroll) / PITCH);
	const found = scene.layout.at(row, x) ?? scene.layout.at(row, x - NEAR);
	const blocks = found ? scene.blocks.segments[found.segment]?.blocks : undefined;
	if (!found || !blocks) return null;
	const { segment, byte } = found;
	const block = blocks.findIndex(
		([offset, bytes]) => byte >= offset && byte < offset + bytes,
	);
	if (block >= 0 && blocks[block]?.[2] !== "free") return { segment, block };
	let [nearest, least] = [-1, NEAR];
	blocks.forEach(([offset, bytes, state], i) => {
		if (state === "free") return;
		const [piece] = scene.layout.pieces(segment, offset, offset + bytes);
		const away = piece?.row === row ? Math.abs(piece.x - x) : least;
		if (piece && piece.width <= NEAR && away < least) [nearest, least] = [i, away];
	});
	if (nearest >= 0) return { segment, block: nearest };
	return block < 0 ? null : { segment, block };
}

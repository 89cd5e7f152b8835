/*
 * map-drawing.ts - segments as rows of a canvas, their blocks to scale, and which of them is
 * where.
 */
import { formatBytes } from "../../../core/format";
import { beginDrawing, tokenOf } from "../../../parts/surface";
import type { Marked } from "./chosen";
import { type Block, type Blocks, categoryToken, type Segment } from "./model";

export const ROW = 14;
const GAP = 3;
export const PITCH = ROW + GAP;
export const LEFT = 72;

/* What is not marked, where something is. */
const DIMMED = 0.18;

/* A block, by its numbers. */
export interface Spot {
	segment: number;
	block: number;
}

export interface Scene {
	blocks: Blocks;
	marked: Marked | null;
	cursor: Spot | null;
	scroll: number;
	scale: number;
	width: number;
	height: number;
}

export function isMarked(marked: Marked, segment: Segment, block: Block): boolean {
	if (marked.address === null) return block[5] !== null && marked.stacks.has(block[5]);
	const start = BigInt(segment.address);
	return marked.address === start || marked.address === start + BigInt(block[0]);
}

/* The segment with the most of what is marked; -1: none. */
export function mostMarked(blocks: Blocks, marked: Marked): number {
	let [found, most] = [-1, 0];
	blocks.segments.forEach((segment, i) => {
		const bytes = segment.blocks.reduce(
			(sum, block) => sum + (isMarked(marked, segment, block) ? block[1] : 0),
			0,
		);
		if (bytes > most) [found, most] = [i, bytes];
	});
	return found;
}

function drawBlock(
	context: CanvasRenderingContext2D,
	block: Block,
	y: number,
	scale: number,
): void {
	const [offset, bytes, state, category] = block;
	const x = LEFT + offset * scale;
	const wide = Math.max(0.5, bytes * scale - (bytes * scale > 3 ? 1 : 0));
	context.fillStyle = tokenOf(categoryToken(category));
	context.fillRect(x, y, wide, ROW);
	if (state !== "pending") return;
	context.fillStyle = tokenOf("--stripe");
	for (let at = 0; at < wide; at += 6) context.fillRect(x + at, y, Math.min(3, wide - at), ROW);
}

function outline(
	context: CanvasRenderingContext2D,
	token: string,
	[offset, bytes]: Block,
	y: number,
	scale: number,
): void {
	context.strokeStyle = tokenOf(token);
	context.lineWidth = 2;
	context.strokeRect(LEFT + offset * scale, y, Math.max(2, bytes * scale), ROW);
	context.lineWidth = 1;
}

function drawRow(
	context: CanvasRenderingContext2D,
	scene: Scene,
	segment: Segment,
	y: number,
): void {
	const { marked, scale } = scene;
	const wide = Math.max(1, segment.bytes * scale);
	context.fillStyle = tokenOf("--soft");
	context.fillText(formatBytes(segment.bytes), LEFT - 6, y + ROW - 3);
	context.fillStyle = tokenOf("--faint");
	context.fillRect(LEFT, y, wide, ROW);
	for (const block of segment.blocks) {
		if (block[2] === "free") continue;
		context.globalAlpha = marked && !isMarked(marked, segment, block) ? DIMMED : 1;
		drawBlock(context, block, y, scale);
	}
	context.globalAlpha = 1;
	context.strokeStyle = tokenOf("--line");
	context.strokeRect(LEFT + 0.5, y + 0.5, wide - 1, ROW - 1);
	if (!marked) return;
	for (const block of segment.blocks)
		if (isMarked(marked, segment, block)) outline(context, "--path", block, y, scale);
}

export function drawMap(canvas: HTMLCanvasElement, scene: Scene): void {
	const { blocks, scroll, height, scale, cursor } = scene;
	const context = beginDrawing(canvas, scene.width, height);
	if (!context) return;
	context.font = `11px ${tokenOf("--font")}`;
	context.textAlign = "right";
	for (let i = Math.floor(scroll / PITCH); i < blocks.segments.length; i++) {
		const segment = blocks.segments[i];
		const y = i * PITCH - scroll;
		if (!segment || y > height) break;
		drawRow(context, scene, segment, y);
		const block = cursor?.segment === i ? segment.blocks[cursor.block] : undefined;
		if (block) outline(context, "--text", block, y, scale);
	}
}

/* What is under the pointer: of the canvas, not of the page. */
export function spotAt(scene: Scene, x: number, y: number): Spot | null {
	const at = Math.floor((y + scene.scroll) / PITCH);
	const segment = scene.blocks.segments[at];
	const byte = (x - LEFT) / scene.scale;
	if (!segment || x < LEFT || byte > segment.bytes) return null;
	const block = segment.blocks.findIndex(
		([offset, bytes]) => byte >= offset && byte < offset + bytes,
	);
	return block < 0 ? null : { segment: at, block };
}

/* The block that an arrow leads to: beside it, or nearest in the next segment. */
export function spotBeside(blocks: Blocks, spot: Spot | null, key: string): Spot | null {
	const sideways: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
	const updown: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 };
	if (sideways[key] === undefined && updown[key] === undefined) return null;
	if (!spot) return blocks.segments[0]?.blocks.length ? { segment: 0, block: 0 } : null;
	const segment = blocks.segments[spot.segment];
	if (!segment) return null;
	const block = spot.block + (sideways[key] ?? 0);
	if (sideways[key] !== undefined)
		return segment.blocks[block] ? { segment: spot.segment, block } : spot;
	const next = blocks.segments[spot.segment + (updown[key] ?? 0)];
	if (!next?.blocks.length) return spot;
	const offset = segment.blocks[spot.block]?.[0] ?? 0;
	const found = next.blocks.findLastIndex((one) => one[0] <= offset);
	return { segment: spot.segment + (updown[key] ?? 0), block: Math.max(0, found) };
}

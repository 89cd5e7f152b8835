/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.tsx - segments and blocks to scale: coloured by category, free blocks empty, blocks that
 * only a stream still uses hatched. Pointer or arrow keys show a block and its stack; a click or
 * Enter pins it in the drawer.
 */
import type { Block, BlocksAnswer, Segment } from "../../../core/types";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../../core/context";
import { formatBytes, formatPercent } from "../../../core/format";
import { store } from "../../../core/store";
import { Failed, Loading } from "../../../parts/state";
import { SavePicture } from "../../../parts/picture";
import { beginDrawing, useTheme, useWidth } from "../../../parts/surface";
import { drawnBy } from "../../../parts/vector";
import { Swatch } from "./area";
import type { Marked } from "./chosen";
import { ShortStack, useStack } from "./frames";
import { drawMap, marksIn, mostMarked, type Scene, spotAt } from "./map-drawing";
import { joinedLayout, LEFT, PITCH, rowsLayout, type Spot, spotBeside } from "./map-layout";
import { addressOf, countOf, stateWords, words } from "./model";

/* Rows that are seen at once; more scroll. */
const VIEW = 320;

interface Props {
	snapshot: number;
	device: string;
	event: number | null;
	marked: Marked | null;
	rows: boolean; /* one for each segment */
}

function blockWords(segment: Segment, block: Block): string {
	const kind = [segment.type, segment.expandable ? "expandable" : ""].filter(Boolean).join(", ");
	const size = `${formatBytes(segment.bytes)}${kind ? ` (${kind})` : ""}`;
	const head = `segment ${segment.address}, ${size}`;
	const [, bytes, state, , requested] = block;
	if (state === "free") return `free ${formatBytes(bytes)} · ${head}`;
	const asked = requested === null ? "" : `, ${formatBytes(requested)} requested`;
	return `${formatBytes(bytes)}${asked} · ${stateWords(block)} · ${head}`;
}

function useCanvas(blocks: BlocksAnswer, plot: Props) {
	const { marked } = plot;
	const [place, width] = useWidth<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const [scroll, move] = useState(0);
	const [cursor, point] = useState<Spot | null>(null);
	const theme = useTheme();
	const layout = useMemo(
		() =>
			plot.rows
				? rowsLayout(blocks, width)
				: joinedLayout(blocks, width, Math.floor(VIEW / PITCH)),
		[blocks, width, plot.rows],
	);
	const height = Math.min(VIEW, layout.rows * PITCH + 2);
	useEffect(() => point(null), [blocks]);
	const scene: Scene = { blocks, layout, marked, cursor, scroll, width, height };

	useEffect(() => {
		if (!canvas.current || width <= LEFT) return;
		const context = beginDrawing(canvas.current, width, height);
		if (context) drawMap(context, scene);
	}, [blocks, layout, marked, cursor, width, height, scroll, theme]);
	const show = (segment: number) => {
		const box = place.current;
		const top = (layout.pieces(segment, 0, 1)[0]?.row ?? 0) * PITCH;
		if (box && (top < box.scrollTop || top + PITCH > box.scrollTop + height))
			box.scrollTop = Math.max(0, top - height / 3);
	};
	useEffect(() => {
		const most = marked ? mostMarked(blocks, marked) : -1;
		if (most >= 0) show(most);
	}, [blocks, layout, marked ? [...marked.stacks, marked.address].join() : ""]);
	return { place, canvas, scene, move, point, show };
}

/* A card that would go below what is seen stands above. */
function useTurned(needs: unknown[]) {
	const card = useRef<HTMLDivElement>(null);
	const [turned, turn] = useState(false);
	useLayoutEffect(() => {
		const page = card.current?.closest(".page")?.getBoundingClientRect();
		const box = card.current?.getBoundingClientRect();
		const bottom = page?.bottom ?? innerHeight;
		/* where it stands above already, it goes back only when there is room below */
		const low = (box?.bottom ?? 0) + (turned ? (box?.height ?? 0) + PITCH + 4 : 0);
		turn(low > bottom);
	}, needs);
	return { card, turned };
}

/* Beside the block, on the side where there is room. */
function Tip(props: { scene: Scene; plot: Props; spot: Spot; segment: Segment; block: Block }) {
	const { scene, spot, segment, block } = props;
	const stack = useStack(props.plot, block[5] ?? 0);
	const { card, turned } = useTurned([spot, stack]);
	const [piece] = scene.layout.pieces(spot.segment, block[0], block[0] + block[1]);
	const middle = (piece?.x ?? LEFT) + (piece?.width ?? 0) / 2;
	const left = Math.min(Math.max(LEFT, middle), scene.width - 8);
	const row = (piece?.row ?? 0) * PITCH - scene.scroll;
	const sides = [left > scene.width / 2 ? "left" : "", turned ? "above" : ""];
	return (
		<div
			ref={card}
			class={["area-tip", ...sides].join(" ")}
			style={{ left: `${left}px`, top: `${row + (turned ? -2 : PITCH + 2)}px` }}
		>
			<b>{formatBytes(block[1])}</b> {stateWords(block)}{" "}
			<span class="soft">{addressOf(segment, block)}</span>
			{stack ? <ShortStack stack={stack} /> : null}
		</div>
	);
}

function LoadedMap({ blocks, plot }: { blocks: BlocksAnswer; plot: Props }) {
	const { place, canvas, scene, move, point, show } = useCanvas(blocks, plot);
	const { cursor, height } = scene;
	const segment = cursor ? blocks.segments[cursor.segment] : undefined;
	const block = cursor ? segment?.blocks[cursor.block] : undefined;
	const pin = (spot: Spot | null) => {
		const row = spot ? blocks.segments[spot.segment] : undefined;
		const found = spot ? row?.blocks[spot.block] : undefined;
		if (!row || !found) return;
		const address = addressOf(row, found);
		store.set({ selected: { kind: "block", address, event: plot.event } });
	};
	const at = (event: MouseEvent): Spot | null => {
		const box = canvas.current?.getBoundingClientRect();
		return box ? spotAt(scene, event.clientX - box.left, event.clientY - box.top) : null;
	};
	const press = (event: KeyboardEvent) => {
		const next = spotBeside(blocks, cursor, event.key);
		if (event.key === "Enter") pin(cursor);
		else if (next) {
			point(next);
			show(next.segment);
		} else return;
		event.preventDefault();
	};
	return (
		<>
			<div class="map-place">
				<div
					class="map"
					ref={place}
					tabIndex={0}
					role="application"
					aria-label={`${countOf(blocks.segments.length, "segment")} and their blocks`}
					style={{ height: `${height}px` }}
					onScroll={(event) => move(event.currentTarget.scrollTop)}
					onKeyDown={press}
					onBlur={() => point(null)}
				>
					<canvas
						ref={canvas}
						onMouseMove={(event) => point(at(event))}
						onMouseLeave={() => point(null)}
						onClick={(event) => pin(at(event))}
					/>
					<div
						style={{
							height: `${Math.max(0, scene.layout.rows * PITCH - height)}px`,
						}}
					/>
				</div>
				{cursor && segment && block ? (
					<Tip
						scene={scene}
						plot={plot}
						spot={cursor}
						segment={segment}
						block={block}
					/>
				) : null}
			</div>
			<Kinds blocks={blocks} />
			<p class="map-words" role="status">
				{segment && block ? (
					blockWords(segment, block)
				) : (
					<span class="soft">{sumWords(blocks, plot.marked)}</span>
				)}{" "}
				<SavePicture
					of={() =>
						drawnBy(scene.width, height, (context) =>
							drawMap(context, { ...scene, cursor: null }),
						)
					}
					name="map of blocks"
				/>
			</p>
		</>
	);
}

function Kinds({ blocks }: { blocks: BlocksAnswer }) {
	const kinds = new Set<string>();
	let pending = false;
	for (const segment of blocks.segments)
		for (const [, , state, category] of segment.blocks) {
			if (category) kinds.add(category);
			pending ||= state === "pending";
		}
	return (
		<ul class="area-legend" aria-label="Block colours">
			{[...kinds].sort().map((kind) => (
				<li key={kind} class="map-kind">
					<Swatch name={kind} index={0} /> {words(kind)}
				</li>
			))}
			<li class="map-kind">
				<span class="area-swatch map-free" /> free
			</li>
			{pending ? <li class="map-kind">hatched: freed, still used by a stream</li> : null}
		</ul>
	);
}

function markedWords(blocks: BlocksAnswer, marked: Marked): string {
	let count = 0;
	let bytes = 0;
	for (const segment of blocks.segments) {
		const has = marksIn(marked, segment);
		for (const block of segment.blocks)
			if (block[2] !== "free" && has(block)) {
				count++;
				bytes += block[1];
			}
	}
	return `${countOf(count, "block")} (${formatBytes(bytes)}) marked. `;
}

function sumWords(blocks: BlocksAnswer, marked: Marked | null): string {
	let all = 0;
	let used = 0;
	let count = 0;
	for (const segment of blocks.segments) {
		all += segment.bytes;
		count += segment.blocks.length;
		for (const [, bytes, state] of segment.blocks) used += state === "free" ? 0 : bytes;
	}
	const share = all ? ` (${formatPercent((100 * used) / all)})` : "";
	return (
		`${countOf(blocks.segments.length, "segment")}, ${countOf(count, "block")}: ` +
		`${formatBytes(used)} of ${formatBytes(all)}${share} in use. ` +
		(marked ? markedWords(blocks, marked) : "") +
		"Hover over a block to see its stack; click for details."
	);
}

/* Events that one only passes by on the way are not asked for. */
const SETTLED_MS = 60;

function useSettled(value: number | null): number | null {
	const [settled, settle] = useState(value);
	useEffect(() => {
		const timer = setTimeout(() => settle(value), SETTLED_MS);
		return () => clearTimeout(timer);
	}, [value]);
	return settled;
}

export function BlockMap(props: Props) {
	const { client } = useOpened();
	const { snapshot, device } = props;
	const event = useSettled(props.event);
	const loaded = useLoaded(
		() => client.json("blocks", { snapshot, device, event }),
		[client, snapshot, device, event],
	);
	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	if (!loaded.value) return <Loading what="Reading the blocks …" />;
	if (!loaded.value.segments.length)
		return <p class="soft">No segments are reserved at this time.</p>;
	return <LoadedMap blocks={loaded.value} plot={props} />;
}

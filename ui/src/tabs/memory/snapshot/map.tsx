/*
 * map.tsx - segments as rows, their blocks to scale: coloured by what they are for, free ones
 * empty, those that only a stream still uses hatched.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../../core/context";
import { formatBytes, formatCount, formatPercent } from "../../../core/format";
import { Failed, Loading } from "../../../parts/state";
import { beginDrawing, tokenOf, useTheme, useWidth } from "../../../parts/surface";
import { Swatch } from "./area";
import { type Block, type Blocks, categoryToken, type Segment, words } from "./model";

const ROW = 14;
const GAP = 3;
const LEFT = 72;
/* Rows that are seen at once; more scroll. */
const VIEW = 320;

interface Hit {
	segment: Segment;
	block: Block | null;
	x: number;
	y: number;
}

function drawRow(
	context: CanvasRenderingContext2D,
	segment: Segment,
	y: number,
	scale: number,
): void {
	const text = tokenOf("--soft");
	context.fillStyle = text;
	context.fillText(formatBytes(segment.bytes), LEFT - 6, y + ROW - 3);
	context.fillStyle = tokenOf("--faint");
	context.fillRect(LEFT, y, Math.max(1, segment.bytes * scale), ROW);
	for (const [offset, bytes, state, category] of segment.blocks) {
		if (state === "free") continue;
		const x = LEFT + offset * scale;
		const wide = Math.max(0.5, bytes * scale - (bytes * scale > 3 ? 1 : 0));
		context.fillStyle = tokenOf(categoryToken(category));
		context.fillRect(x, y, wide, ROW);
		if (state !== "pending") continue;
		context.fillStyle = tokenOf("--stripe");
		for (let at = 0; at < wide; at += 6)
			context.fillRect(x + at, y, Math.min(3, wide - at), ROW);
	}
	context.strokeStyle = tokenOf("--line");
	context.strokeRect(LEFT + 0.5, y + 0.5, Math.max(1, segment.bytes * scale) - 1, ROW - 1);
}

function hitAt(blocks: Blocks, x: number, y: number, scroll: number, scale: number): Hit | null {
	const segment = blocks.segments[Math.floor((y + scroll) / (ROW + GAP))];
	if (!segment || x < LEFT) return null;
	const byte = (x - LEFT) / scale;
	if (byte > segment.bytes) return null;
	const block = segment.blocks.find(([offset, bytes]) => byte >= offset && byte < offset + bytes);
	return { segment, block: block ?? null, x, y };
}

function blockWords({ segment, block }: Hit): string {
	const kind = [segment.type, segment.expandable ? "expandable" : ""].filter(Boolean).join(", ");
	const size = `${formatBytes(segment.bytes)}${kind ? ` (${kind})` : ""}`;
	const head = `segment ${segment.address}, ${size}`;
	if (!block) return head;
	const [, bytes, state, category, requested] = block;
	if (state === "free") return `free ${formatBytes(bytes)} · ${head}`;
	const asked = requested === null ? "" : `, ${formatBytes(requested)} asked for`;
	const held = state === "pending" ? "freed, still used by a stream" : words(category ?? "");
	return `${formatBytes(bytes)}${asked} · ${held} · ${head}`;
}

function Map(props: { blocks: Blocks; choose: (stack: number) => void }) {
	const { blocks } = props;
	const [place, width] = useWidth<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const [scroll, move] = useState(0);
	const [hit, hover] = useState<Hit | null>(null);
	const theme = useTheme();
	const largest = Math.max(1, ...blocks.segments.map((segment) => segment.bytes));
	const scale = Math.max(0, width - LEFT - 4) / largest;
	const height = Math.min(VIEW, blocks.segments.length * (ROW + GAP) + 2);

	useEffect(() => {
		if (!canvas.current || width <= LEFT) return;
		const context = beginDrawing(canvas.current, width, height);
		if (!context) return;
		context.font = `11px ${tokenOf("--font")}`;
		context.textAlign = "right";
		const first = Math.floor(scroll / (ROW + GAP));
		for (let i = first; i < blocks.segments.length; i++) {
			const segment = blocks.segments[i];
			const y = i * (ROW + GAP) - scroll;
			if (!segment || y > height) break;
			drawRow(context, segment, y, scale);
		}
	}, [blocks, width, height, scroll, theme, scale]);

	const at = (event: MouseEvent): Hit | null => {
		const box = canvas.current?.getBoundingClientRect();
		if (!box) return null;
		return hitAt(blocks, event.clientX - box.left, event.clientY - box.top, scroll, scale);
	};
	return (
		<>
			<div
				class="map"
				ref={place}
				tabIndex={0}
				role="img"
				aria-label={`${formatCount(blocks.segments.length)} segments and their blocks`}
				style={{ height: `${height}px` }}
				onScroll={(event) => move(event.currentTarget.scrollTop)}
			>
				<canvas
					ref={canvas}
					onMouseMove={(event) => hover(at(event))}
					onMouseLeave={() => hover(null)}
					onClick={(event) => {
						const stack = at(event)?.block?.[5];
						if (stack) props.choose(stack);
					}}
				/>
				<div
					style={{
						height: `${Math.max(0, blocks.segments.length * (ROW + GAP) - height)}px`,
					}}
				/>
			</div>
			<ul class="area-legend" aria-label="Colours of blocks">
				{kindsOf(blocks).map((kind) => (
					<li key={kind} class="map-kind">
						<Swatch name={kind} index={0} /> {words(kind)}
					</li>
				))}
				<li class="map-kind">
					<span class="area-swatch map-free" /> free
				</li>
			</ul>
			<p class="map-words" role="status">
				{hit ? blockWords(hit) : <span class="soft">{sumWords(blocks)}</span>}
			</p>
		</>
	);
}

function kindsOf(blocks: Blocks): string[] {
	const kinds = new Set<string>();
	for (const segment of blocks.segments)
		for (const [, , , category] of segment.blocks) if (category) kinds.add(category);
	return [...kinds].sort();
}

function sumWords(blocks: Blocks): string {
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
		`${formatCount(blocks.segments.length)} segments, ${formatCount(count)} blocks: ` +
		`${formatBytes(used)} of ${formatBytes(all)}${share} in use. ` +
		"Point at a block; click for its stack."
	);
}

export function BlockMap(props: {
	snapshot: number;
	device: string;
	event: number | null;
	choose: (stack: number) => void;
}) {
	const { client } = useOpened();
	const { snapshot, device, event } = props;
	const loaded = useLoaded(
		() => client.json<Blocks>("blocks", { snapshot, device, event }),
		[client, snapshot, device, event],
	);
	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	if (!loaded.value) return <Loading what="Reading the blocks …" />;
	if (!loaded.value.segments.length)
		return <p class="soft">No segments are reserved at this moment.</p>;
	return <Map blocks={loaded.value} choose={props.choose} />;
}

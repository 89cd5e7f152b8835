/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.tsx - stacks as an icicle chart: callers on top, width is time. Click, wheel or keys zoom.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { COLORS, readPalette } from "../../core/colors";
import { formatNs, formatPercent } from "../../core/format";
import { plural } from "../../core/words";
import { SavePicture } from "../../parts/picture";
import { beginDrawing, tokenOf, useTheme, useWidth } from "../../parts/surface";
import { drawnBy } from "../../parts/vector";
import { clipFrame, colorOf, foundIn, type Frame, hitsOf, pathOf, shortFrame } from "./flame-model";
import "./flame.css";

const HINT = "Click a frame to zoom, Escape to go back.";
const LABEL =
	"Stacks by time. Arrow keys move between frames, Enter or W zooms in, S goes back to the " +
	"caller, Escape shows all.";

const ROW = 20;
/* Narrower frames are not drawn, and text only where some letters fit. */
const LEAST_WIDTH = 0.5;
const LEAST_TEXT = 28;

interface Shown {
	frame: Frame;
	x: number;
	width: number;
	y: number;
}

/* Callers that stay above the frame that fills the width; the others are one click away. */
const ABOVE = 2;

/* What can be seen when a frame fills the width: some of its callers, it, and what is below. */
function layOut(zoom: Frame, width: number): Shown[] {
	const shown: Shown[] = [];
	const scale = zoom.total > 0 ? width / zoom.total : 0;
	const top = Math.max(0, zoom.depth - ABOVE);
	for (let at = zoom.parent; at && at.depth >= top; at = at.parent)
		shown.push({ frame: at, x: 0, width, y: (at.depth - top) * ROW });
	const open = [zoom];
	for (let frame = open.pop(); frame; frame = open.pop()) {
		const wide = frame.total * scale;
		if (wide < LEAST_WIDTH) continue;
		const x = (frame.start - zoom.start) * scale;
		shown.push({ frame, x, width: wide, y: (frame.depth - top) * ROW });
		for (const child of frame.children) open.push(child);
	}
	return shown;
}

/* The first frame below which there is a choice: programs begin with many that call only one. */
function firstZoom(root: Frame): Frame {
	let frame = root;
	for (let only = frame.children[0]; only; only = frame.children[0]) {
		if (frame.children.length > 1 || only.total < frame.total) break;
		frame = only;
	}
	return frame;
}

/* Letters that fit: all are about as wide. */
function lettersIn(context: CanvasRenderingContext2D, width: number): number {
	return Math.floor(width / (context.measureText("0").width || 7));
}

function draw(
	context: CanvasRenderingContext2D,
	shown: Shown[],
	search: string,
	active: Frame | null,
): void {
	const palette = new Map(COLORS.map((name, i) => [name as string, readPalette()[i] ?? ""]));
	const wanted = search.toLowerCase();
	const [back, soft] = [tokenOf("--back"), tokenOf("--soft")];
	context.font = `11px ${tokenOf("--font")}`;
	context.textBaseline = "middle";
	for (const { frame, x, width, y } of shown) {
		const found = wanted !== "" && frame.name.toLowerCase().includes(wanted);
		const dim = wanted !== "" && !found;
		context.globalAlpha = dim ? 0.25 : 1;
		context.fillStyle = palette.get(colorOf(frame)) ?? "";
		context.fillRect(x, y, Math.max(LEAST_WIDTH, width - 1), ROW - 1);
		if (width >= LEAST_TEXT) {
			context.globalAlpha = 1;
			context.fillStyle = dim ? soft : back;
			context.fillText(
				clipFrame(frame.name, lettersIn(context, width - 8)),
				x + 4,
				y + ROW / 2,
			);
		}
		context.globalAlpha = 1;
		if (found || frame === active) {
			context.strokeStyle = tokenOf(frame === active ? "--text" : "--path");
			context.lineWidth = 2;
			context.strokeRect(x + 1, y + 1, Math.max(1, width - 3), ROW - 3);
		}
	}
}

function tell(frame: Frame, root: Frame): string {
	const own = frame.children.reduce((left, child) => left - child.total, frame.total);
	return (
		`${frame.name}: ${formatNs(frame.total)}, ` +
		`${formatPercent(root.total ? (100 * frame.total) / root.total : 0)} of the total; ` +
		`self ${formatNs(own)}.`
	);
}

/* Time under frames with the text in their name; one inside of another counts once. */
function tellAll(root: Frame, search: string): string {
	if (!search) return `${formatNs(root.total)} in total. ${HINT}`;
	const { count, total } = foundIn(root, search);
	if (!count) return "No frame name contains this text.";
	const share = formatPercent(root.total ? (100 * total) / root.total : 0);
	return `${plural(count, "frame")} with “${search}”: ${formatNs(total)}, ${share} of the total.`;
}

/* Where an arrow key leads: to the caller, the largest callee, a neighbour of the same caller. */
function stepFrom(frame: Frame, key: string): Frame | null {
	if (key === "ArrowUp") return frame.parent;
	if (key === "ArrowDown") return frame.children[0] ?? null;
	const siblings = frame.parent?.children ?? [];
	const at = siblings.indexOf(frame);
	if (key === "ArrowLeft") return siblings[at - 1] ?? null;
	if (key === "ArrowRight") return siblings[at + 1] ?? null;
	return null;
}

/* `hit` counts through the frames that are found: each shows the next one. */
export function Flame({ root, search, hit = 0 }: { root: Frame; search: string; hit?: number }) {
	const [place, width] = useWidth<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const [zoom, setZoom] = useState<Frame>(() => firstZoom(root));
	const [active, activate] = useState<Frame | null>(null);
	const theme = useTheme();
	const told = useMemo(() => tellAll(root, search), [root, search]);
	const shown = useMemo(() => layOut(zoom, width), [zoom, width]);
	const height = shown.reduce((most, one) => Math.max(most, one.y + ROW), ROW);

	useEffect(() => {
		const hits = hit ? hitsOf(root, search) : [];
		const next = hits[(hit - 1) % Math.max(1, hits.length)];
		if (!next) return;
		activate(next);
		setZoom(next.parent ?? next);
	}, [hit]);
	useEffect(() => {
		if (!canvas.current || !width) return;
		const context = beginDrawing(canvas.current, width, height);
		if (context) draw(context, shown, search, active);
	}, [shown, search, active, theme]);

	function frameAt(event: MouseEvent): Frame | null {
		const { offsetX: x, offsetY } = event;
		const y = Math.floor(offsetY / ROW) * ROW;
		return (
			shown.find((one) => one.y === y && x >= one.x && x < one.x + one.width)
				?.frame ?? null
		);
	}

	function keys(event: KeyboardEvent): void {
		const isArrow = event.key.startsWith("Arrow");
		const next = stepFrom(active ?? zoom, event.key) ?? (isArrow && !active ? zoom : null);
		if (next) activate(next);
		else if (/^(Enter|[wW+])$/.test(event.key) && active) setZoom(active);
		else if (/^(Backspace|[sS-])$/.test(event.key) && zoom.parent) setZoom(zoom.parent);
		else if (event.key === "Escape" && zoom !== root) setZoom(root);
		else return;
		event.preventDefault();
		event.stopPropagation();
	}

	return (
		<div class="flame" ref={place}>
			<p class="flame-hint" aria-live="polite">
				{active ? tell(active, root) : told}
				<span class="flame-tools">
					{zoom !== root ? (
						<button
							type="button"
							class="button"
							onClick={() => setZoom(root)}
						>
							Show all
						</button>
					) : null}
					<SavePicture
						of={() =>
							drawnBy(width, height, (context) =>
								draw(context, shown, search, null),
							)
						}
						name="flame graph"
					/>
				</span>
			</p>
			<canvas
				ref={canvas}
				tabIndex={0}
				role="application"
				aria-label={LABEL}
				title={
					active
						? pathOf(active)
								.slice(-12)
								.map(shortFrame)
								.join("\n")
						: ""
				}
				onMouseMove={(event) => activate(frameAt(event))}
				onMouseLeave={() => activate(null)}
				onClick={(event) => {
					const frame = frameAt(event);
					if (frame)
						setZoom(
							frame === zoom
								? (frame.parent ?? root)
								: frame,
						);
				}}
				onKeyDown={keys}
			/>
		</div>
	);
}

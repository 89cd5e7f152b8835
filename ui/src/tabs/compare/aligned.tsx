/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aligned.tsx - the same step of both runs, one above the other on one axis: one cursor, one zoom,
 * and how the operators of what is visible differ.
 */
import type { Job } from "../../core/client";
import type { JobFile, Step, Track } from "../../core/types";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Client } from "../../core/client";
import { useLoaded, useOpened } from "../../core/context";
import { formatNs } from "../../core/format";
import { store, useView } from "../../core/store";
import { Failed, Loading } from "../../parts/state";
import { NameLink } from "../../places/name-page";
import { beginDrawing, tokenOf, useTheme, useWidth } from "../../parts/surface";
import { decodeTiles, NO_LABEL, type Sheet } from "../../timeline/decode";
import { Batch, type Pen, xOf } from "../../timeline/draw/pen";
import { collectLane, firstAfter } from "../../timeline/draw/slices";
import type { Span } from "../../timeline/span";
import { Theme } from "../../timeline/theme";
import { clipFrame } from "../flame/flame-model";
import { differencesOf, pairsOf, rowsOf, stepsOf } from "./aligned-model";

const LANE = 14;
const LANES = 5; /* of a row */
const GAP = 4;
const HEAD = 16; /* the name of a row */
const MOST_DIFFERENCES = 12;

interface Side {
	letter: string;
	run: number;
	file: JobFile;
	step: Step;
	rows: Track[];
}

interface Drawn {
	side: Side;
	sheet: Sheet | null;
}

function heightOf(side: Side): number {
	return side.rows.reduce(
		(sum, row) => sum + HEAD + Math.min(LANES, row.lanes) * LANE + GAP,
		0,
	);
}

function sidesOf(client: Client, files: [JobFile, JobFile], at: number): Promise<Side[]> {
	return Promise.all(
		files.map(async (file, run) => {
			const of = { file: file.file, ...(run ? { run } : {}) };
			const { tracks } = await client.json("tracks", of);
			const steps = stepsOf(file);
			const step = steps[Math.min(at, steps.length - 1)] as Step;
			return { letter: run ? "B" : "A", run, file, step, rows: rowsOf(tracks) };
		}),
	);
}

async function sheetOf(client: Client, side: Side, span: Span, pixels: number): Promise<Sheet> {
	const { start_ns } = side.step;
	const asked = {
		...{ file: side.file.file, tracks: side.rows.map((row) => row.track).join(",") },
		...{
			from: Math.max(0, Math.round(start_ns + span.from)),
			to: Math.round(start_ns + span.to),
		},
		...{ pixels, ...(side.run ? { run: side.run } : {}) },
	};
	return decodeTiles((await client.bytes("tiles", asked)).bytes);
}

/* The entry under a point of the drawing. */
function entryAt(drawn: Drawn, span: Span, width: number, x: number, y: number): number | null {
	const { side, sheet } = drawn;
	if (!sheet) return null;
	const time = side.step.start_ns + span.from + (x / width) * (span.to - span.from);
	let top = 0;
	for (const row of side.rows) {
		const lane = Math.floor((y - top - HEAD) / LANE);
		const lanes = Math.min(LANES, row.lanes);
		top += HEAD + lanes * LANE + GAP;
		if (y >= top || lane < 0 || lane >= lanes) continue;
		const found = sheet.tracks.get(row.track)?.find((one) => one.lane === lane);
		const i = found ? firstAfter(sheet, found, time, null) : 0;
		return found && i < found.end && (sheet.start[i] ?? 0) <= time ? i : null;
	}
	return null;
}

function nameOf(sheet: Sheet, i: number): string {
	const label = sheet.label[i] ?? NO_LABEL;
	return label === NO_LABEL ? `${sheet.count[i]} short calls` : (sheet.labels[label] ?? "");
}

/* As the timeline draws it. */
function paint(
	context: CanvasRenderingContext2D,
	{ side, sheet }: Drawn,
	shown: Span,
	width: number,
): void {
	const theme = new Theme(context, devicePixelRatio || 1);
	const { start_ns, end_ns } = side.step;
	const span = { from: start_ns + shown.from, to: start_ns + shown.to };
	const perNs = width / Math.max(1, span.to - span.from);
	const size = { width, height: heightOf(side), scale: theme.scale };
	const pen: Pen = { context, theme, ...size, span, perNs };
	const batch = new Batch();
	/* beyond the end of the step */
	context.fillStyle = tokenOf("--faint");
	context.fillRect(xOf(pen, end_ns), 0, width, pen.height);
	context.fillStyle = theme.soft;
	context.font = theme.font;
	context.textBaseline = "middle";
	theme.anchor(-((span.from * perNs) % 1e6));
	let top = 0;
	for (const row of side.rows) {
		context.fillText(row.name, 2, top + HEAD / 2);
		for (const lane of sheet?.tracks.get(row.track) ?? []) {
			if (!sheet || lane.lane >= LANES) continue;
			const place = { top: top + HEAD + lane.lane * LANE, height: LANE - 1, order: null };
			collectLane(pen, batch, sheet, lane, place, span);
		}
		top += HEAD + Math.min(LANES, row.lanes) * LANE + GAP;
	}
	batch.flush(pen);
}

interface LaneProps {
	drawn: Drawn;
	span: Span;
	width: number;
	cursor: number | null /* pixels */;
	onPoint: (x: number | null, said: string) => void;
}

function Lanes({ drawn, span, width, cursor, onPoint }: LaneProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const theme = useTheme();
	const { side, sheet } = drawn;
	const height = heightOf(side);
	const rowNames = side.rows.map((row) => row.name).join(", ");

	useEffect(() => {
		if (!canvas.current || !width) return;
		const context = beginDrawing(canvas.current, width, height);
		if (context) paint(context, drawn, span, width);
	}, [sheet, span, width, theme]);
	return (
		<div class="aligned-run">
			<h3>
				{side.letter}: step {side.step.number},{" "}
				{formatNs(side.step.end_ns - side.step.start_ns)}
			</h3>
			<div class="aligned-rows">
				<canvas
					ref={canvas}
					role="img"
					aria-label={`Run ${side.letter}: ${rowNames}`}
					onMouseMove={(event) => {
						const { offsetX: x, offsetY: y } = event;
						const i = entryAt(drawn, span, width, x, y);
						const said =
							i === null || !sheet
								? ""
								: `${side.letter}: ${nameOf(sheet, i)}, ${formatNs(sheet.dur[i])}`;
						onPoint(x, said);
					}}
					onMouseLeave={() => onPoint(null, "")}
				/>
				{cursor === null ? null : (
					<i class="aligned-cursor" style={{ left: `${cursor}px` }} />
				)}
			</div>
		</div>
	);
}

/* Operators of what both windows show. */
function Differences({ sides, span }: { sides: Side[]; span: Span }) {
	const { client } = useOpened();
	const loaded = useLoaded(async () => {
		/* wheels turn faster than sums are made */
		await new Promise((resolve) => setTimeout(resolve, 200));
		const answers = await Promise.all(
			sides.map(({ file, step, run }) =>
				client.json("range", {
					...{
						files: file.file,
						limit: 400,
						...(run ? { run } : {}),
					},
					from: Math.max(0, Math.round(step.start_ns + span.from)),
					to: Math.round(
						step.start_ns +
							Math.min(
								span.to,
								step.end_ns - step.start_ns,
							),
					),
				}),
			),
		);
		return differencesOf(answers[0]?.names ?? [], answers[1]?.names ?? []);
	}, [sides, span.from, span.to]);

	if (!loaded.value)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Summing what is visible …" />
		);
	return (
		<table class="compare-findings aligned-table">
			<caption>
				What changed most in the visible {formatNs(span.to - span.from)},
				own time; a figure leads to the calls in its run
			</caption>
			<thead>
				<tr>
					<th scope="col">operator or kernel</th>
					<th scope="col">A</th>
					<th scope="col">B</th>
					<th scope="col">change</th>
				</tr>
			</thead>
			<tbody>
				{loaded.value.slice(0, MOST_DIFFERENCES).map((one) => (
					<tr key={`${one.where} ${one.name}`}>
						<th scope="row">
							<bdi class="mono" title={one.name}>
								{clipFrame(one.name, 72)}
							</bdi>{" "}
							<span class="soft">{one.where}</span>
						</th>
						{[one.a, one.b].map((ns, run) => (
							<td key={run}>
								{ns === null ? (
									formatNs(ns)
								) : (
									<NameLink name={one.name} run={run}>
										{formatNs(ns)}
									</NameLink>
								)}
							</td>
						))}
						<td
							class={
								one.change > 0
									? "worse"
									: one.change < 0
										? "better"
										: ""
							}
						>
							{one.change > 0
								? "▲ +"
								: one.change < 0
									? "▼ −"
									: ""}
							{formatNs(Math.abs(one.change))}
						</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

const AXIS = "Both runs on one axis. W and S zoom, A and D pan, R shows the whole step.";

const LEAST_NS = 100;

/* One window for both: wheel zooms at the pointer, drag pans, keys do both. */
function useSpan(whole: number) {
	const [span, change] = useState<Span>({ from: 0, to: whole });
	const set = (from: number, length: number) => {
		const wide = Math.min(whole, Math.max(LEAST_NS, length));
		const begin = Math.min(Math.max(0, from), whole - wide);
		change({ from: begin, to: begin + wide });
	};
	const zoom = (by: number, at = 0.5) =>
		set(span.from + (span.to - span.from) * at * (1 - by), (span.to - span.from) * by);
	const pan = (by: number) =>
		set(span.from + by * (span.to - span.from), span.to - span.from);
	useEffect(() => change({ from: 0, to: whole }), [whole]);
	return { span, zoom, pan, all: () => change({ from: 0, to: whole }) };
}

function Aligned({ sides }: { sides: Side[] }) {
	const { client } = useOpened();
	const [place, width] = useWidth<HTMLDivElement>();
	const whole = Math.max(...sides.map(({ step }) => step.end_ns - step.start_ns));
	const { span, zoom, pan, all } = useSpan(whole);
	const [point, move] = useState<{ x: number | null; said: string }>({ x: null, said: "" });
	const held = useRef<number | null>(null);
	const wheel = useRef<(event: WheelEvent) => void>(() => {});
	const loaded = useLoaded(
		() =>
			width
				? Promise.all(
						sides.map((side) =>
							sheetOf(client, side, span, width),
						),
					)
				: Promise.resolve([]),
		[sides, span.from, span.to, width],
	);
	const drawn = useMemo(
		() => sides.map((side, i) => ({ side, sheet: loaded.value?.[i] ?? null })),
		[sides, loaded.value],
	);
	const time =
		point.x === null
			? null
			: span.from + (point.x / Math.max(1, width)) * (span.to - span.from);

	wheel.current = (event) => {
		if (event.shiftKey) return pan(Math.sign(event.deltaY) * 0.1);
		const box = place.current?.getBoundingClientRect();
		zoom(
			event.deltaY > 0 ? 1.25 : 0.8,
			box ? (event.clientX - box.left) / box.width : 0.5,
		);
	};
	useEffect(() => {
		const turn = (event: WheelEvent) => {
			event.preventDefault();
			wheel.current(event);
		};
		place.current?.addEventListener("wheel", turn, { passive: false });
		return () => place.current?.removeEventListener("wheel", turn);
	}, []);
	const keys = (event: KeyboardEvent) => {
		const key = event.key.toLowerCase();
		if (key === "w" || key === "+") zoom(0.6);
		else if (key === "s" || key === "-") zoom(1 / 0.6);
		else if (key === "a" || key === "arrowleft") pan(-0.2);
		else if (key === "d" || key === "arrowright") pan(0.2);
		else if (key === "r" || key === "home") all();
		else return;
		event.preventDefault();
		event.stopPropagation();
	};
	return (
		<>
			<div
				class="aligned"
				ref={place}
				tabIndex={0}
				role="application"
				aria-label={AXIS}
				onKeyDown={keys}
				onMouseDown={(event) => {
					held.current = event.clientX;
				}}
				onMouseUp={() => {
					held.current = null;
				}}
				onMouseMove={(event) => {
					if (held.current === null || !event.buttons) return;
					pan((held.current - event.clientX) / Math.max(1, width));
					held.current = event.clientX;
				}}
			>
				{drawn.map((one) => (
					<Lanes
						key={one.side.letter}
						drawn={one}
						{...{ span, width }}
						cursor={point.x}
						onPoint={(x, said) => move({ x, said })}
					/>
				))}
			</div>
			<p class="soft aligned-says" aria-live="polite">
				{formatNs(span.from)} to {formatNs(span.to)} of the step
				{time === null ? "" : ` · at ${formatNs(time)}`}
				{point.said ? ` · ${point.said}` : ""}
			</p>
			<Differences {...{ sides, span }} />
		</>
	);
}

export function AlignedRuns({ jobs }: { jobs: [Job, Job] }) {
	const { client } = useOpened();
	const pairs = useMemo(() => pairsOf(...jobs), [jobs]);
	const chosen = useView((view) => view.own.pair);
	const at = Number(useView((view) => view.own.at) || "0");
	const pair = pairs.find((one) => one.title === chosen) ?? pairs[0];
	const counts = pair?.files.map((file) => stepsOf(file).length) ?? [];
	const loaded = useLoaded(
		() => (pair ? sidesOf(client, pair.files, at) : Promise.resolve([])),
		[client, pair, at],
	);

	if (!pair)
		return <p class="soft">No rank is in both runs, so there is nothing to align.</p>;
	return (
		<section aria-label="Both runs on one axis">
			<p class="aligned-tools">
				<select
					class="select"
					aria-label="Rank of both runs"
					value={pair.title}
					onChange={(event) =>
						store.setOwn({ pair: event.currentTarget.value })
					}
				>
					{pairs.map((one) => (
						<option key={one.title}>{one.title}</option>
					))}
				</select>
				<select
					class="select"
					aria-label="Step of both runs"
					value={String(at)}
					onChange={(event) =>
						store.setOwn({ at: event.currentTarget.value })
					}
				>
					{Array.from({ length: Math.max(1, ...counts) }, (_, i) => (
						<option key={i} value={String(i)}>
							step {i + 1} of A and of B
						</option>
					))}
				</select>
				<span class="soft">
					Both begin where the step begins. Wheel zooms, drag pans.
					{counts[0] !== counts[1]
						? ` A has ${counts[0]} whole steps, B ${counts[1]}: ` +
							"the last one of a run stands for those that it lacks."
						: ""}
				</span>
			</p>
			{loaded.value?.length === 2 ? (
				<Aligned key={`${pair.title} ${at}`} sides={loaded.value} />
			) : loaded.state === "failed" ? (
				<Failed error={loaded.error} />
			) : (
				<Loading what="Reading the rows of both runs …" />
			)}
		</section>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.tsx - drawer: a row of a snapshot table: its columns, full stacks, lifetime, and links to
 * the curve and the map. Rows of other tables use the common drawer.
 */
import type { StackSums } from "../../../core/types";
import { useState } from "preact/hooks";
import { targetOf } from "../../../core/client";
import { useLoaded, useOpened } from "../../../core/context";
import { formatBytes, formatCount } from "../../../core/format";
import type { Selection } from "../../../core/store";
import { Copy } from "../../../parts/copy";
import { cellReader, type Read } from "../../../parts/place";
import { RowDetails, RowFacts } from "../../../parts/row-details";
import { Failed, Loading, Nothing } from "../../../parts/state";
import { useTable } from "../../../parts/table-view";
import { BlockDetails } from "./block";
import {
	type AskedDevice,
	askedOf,
	type Chosen,
	showEvents,
	showInCurve,
	showInMap,
	useChosen,
	writeStacks,
} from "./chosen";
import { comparedOf } from "./compared";
import { Frames } from "./frames";
import { Life, LifeLinks, useEvent } from "./life";
import { LinePage } from "./line-page";
import { countOf } from "./model";
import { useWholeStack } from "./stack";

type RowSelection = Extract<Selection, { kind: "row" }>;

interface PartProps {
	chosen: Chosen;
	selected: RowSelection;
	read: Read;
}

/* StacksAnswer of a line that are listed; a line with more says so. */
const LISTED = 12;

/* Told in full below the columns. */
const APART = new Set(["stack", "device"]);

function numberIn(read: Read, name: string): number | null {
	const value = read(name);
	return typeof value === "number" ? value : null;
}

function textIn(read: Read, name: string): string | null {
	const value = read(name);
	return typeof value === "string" && value ? value : null;
}

/* A stack that is only known as the cell has it. */
function TextStack({ text }: { text: string | null }) {
	if (!text) return null;
	return (
		<section class="frames" aria-label="Stack">
			<h3>
				Stack, innermost first <Copy text={text.split(" < ").join("\n")} />
			</h3>
			<ol>
				{text.split(" < ").map((frame, i) => (
					<li key={i}>{frame}</li>
				))}
			</ol>
		</section>
	);
}

/* One allocation: its event, its free, its stack. */
function EventPart({ chosen, event }: { chosen: Chosen; event: number }) {
	const life = useEvent(chosen, event);
	const whole = useWholeStack(askedOf(chosen), life.value?.stack ?? null);
	if (life.state === "failed") return <Failed error={life.error} />;
	if (!life.value) return <Loading what="Looking up the event …" />;
	return (
		<>
			<Life found={life.value} />
			<p class="held-links">
				<LifeLinks found={life.value} chosen={chosen} />
			</p>
			{whole.value ? <Frames frames={whole.value.frames} /> : null}
		</>
	);
}

function sumsWords(sums: StackSums): string {
	const held = (bytes: number, blocks: number | undefined) =>
		`${formatBytes(bytes)} in ${countOf(blocks ?? 0, "block")}`;
	const peak =
		sums.peak_bytes === undefined
			? ""
			: `${held(sums.peak_bytes, sums.peak_blocks)} at the peak, `;
	const end = `${held(sums.end_bytes, sums.end_blocks)} at the end`;
	const made = sums.made
		? `; allocated ${formatCount(sums.made)} times, ${formatCount(sums.freed)} freed`
		: "";
	return `${peak}${end}${made}`;
}

/* Where the blocks of the row lie: at the peak, unless it is about the end. */
function momentOfRow(view: string, read: Read, chosen: Chosen): number | null {
	const atEnd = view === "snapshot-leaks" || view === "snapshot-diff";
	const { device } = chosen;
	if (atEnd || !device?.exact || !numberIn(read, "peak_bytes")) return null;
	return device.peak_event;
}

function StackList(props: {
	sums: StackSums[];
	count: number;
	at: number;
	go: (at: number) => void;
}) {
	const { sums, count, at } = props;
	if (count < 2) return <p>{sums[0] ? sumsWords(sums[0]) : ""}</p>;
	return (
		<section>
			<h3>{formatCount(count)} stacks end in this line, largest first</h3>
			<ul class="held-stacks">
				{sums.slice(0, LISTED).map((one, i) => (
					<li key={one.stack}>
						<button
							type="button"
							class="button quiet"
							aria-pressed={i === at}
							onClick={() => props.go(i)}
						>
							{i + 1}. {sumsWords(one)}
						</button>
					</li>
				))}
			</ul>
			{count > LISTED ? <p class="soft">and {formatCount(count - LISTED)} more</p> : null}
		</section>
	);
}

/* To the curve and the map of what is shown: a row of a comparison may be about another. */
function StackLinks(props: PartProps & { sums: StackSums[] }) {
	const { chosen, selected, read, sums } = props;
	const line = textIn(read, "line");
	return (
		<p class="held-links">
			{line ? (
				<button
					type="button"
					class="button"
					onClick={() =>
						showInCurve(selected.group === "stack" ? "stack" : "line", line)
					}
				>
					Show in the curve
				</button>
			) : null}
			{chosen.device?.segments && sums.length ? (
				<button
					type="button"
					class="button"
					onClick={() =>
						showInMap(
							momentOfRow(selected.view, read, chosen),
							writeStacks(sums.map((one) => one.stack)),
						)
					}
				>
					Show in the block map
				</button>
			) : null}
		</p>
	);
}

/* All stacks that allocate at the line of the row; of a comparison: in what came after. */
function StacksPart(props: PartProps & { asked: AskedDevice }) {
	const { chosen, selected, read, asked } = props;
	const { client } = useOpened();
	const line = textIn(read, "line");
	const here = !asked.run && asked.snapshot === chosen.snapshot.snapshot;
	const key = targetOf("stacks", { ...asked, line });
	const loaded = useLoaded(
		() => client.json("stacks", { ...asked, line }),
		[client, key],
	);
	const [picked, go] = useState<number | null>(null);
	const sums = loaded.value?.stacks ?? [];
	const byStack = selected.group === "stack";
	const own = sums.findIndex((one) => one.text === textIn(read, "stack"));
	const at = picked ?? (byStack ? Math.max(0, own) : 0);
	const whole = useWholeStack(asked, sums[at]?.stack ?? null);
	const shown = byStack && sums[at] ? [sums[at]] : sums;
	if (loaded.state === "failed") return <TextStack text={textIn(read, "stack")} />;
	if (!loaded.value) return <Loading what="Reading the stacks …" />;
	return (
		<>
			{here ? <StackLinks {...props} sums={shown} /> : <p>In the later snapshot:</p>}
			<StackList
				sums={shown}
				count={byStack ? shown.length : loaded.value.count}
				at={byStack ? 0 : at}
				go={go}
			/>
			{whole.value ? <Frames frames={whole.value.frames} /> : null}
		</>
	);
}

function CategoryPart({ category }: { category: string }) {
	return (
		<p class="held-links">
			<button
				type="button"
				class="button"
				onClick={() => showInCurve("category", category)}
			>
				Show in the curve
			</button>
		</p>
	);
}

function SegmentPart({ address, read }: { address: string; read: Read }) {
	return (
		<>
			<p class="held-links">
				<button type="button" class="button" onClick={() => showInMap(null, address)}>
					Show in the block map
				</button>
			</p>
			<TextStack text={textIn(read, "stack")} />
		</>
	);
}

/* A stretch of the curve. */
function StretchPart({ chosen, read }: { chosen: Chosen; read: Read }) {
	const event = numberIn(read, "event");
	const events = chosen.device?.events ?? chosen.snapshot.points;
	if (event === null) return null;
	const last = event + Math.max(0, (numberIn(read, "events") ?? 1) - 1);
	return (
		<p class="held-links">
			<button
				type="button"
				class="button"
				onClick={() => showEvents(event, last, events)}
			>
				Show in the curve
			</button>
		</p>
	);
}

const OF_LINES = new Set([
	"snapshot-holders",
	"snapshot-leaks",
	"snapshot-allocations",
	"snapshot-diff",
]);

function Part(props: PartProps & { asked: AskedDevice }) {
	const { chosen, selected, read } = props;
	const { view, group } = selected;
	const event = numberIn(read, "event");
	const address = textIn(read, "address");
	const category = textIn(read, "category");
	if (view === "snapshot-timeline") return <StretchPart chosen={chosen} read={read} />;
	if (view === "snapshot-segments" && address)
		return <SegmentPart address={address} read={read} />;
	if (event !== null) return <EventPart chosen={chosen} event={event} />;
	if (group === "category" && category) return <CategoryPart category={category} />;
	if (OF_LINES.has(view) && group !== "call")
		return <StacksPart {...props} />;
	return <TextStack text={textIn(read, "stack")} />;
}

function titleOf(selected: RowSelection, read: Read): string {
	const event = numberIn(read, "event");
	const named = ["finding", "setting", "address", "line"].map((name) => textIn(read, name));
	const found = named.find((name) => name !== null);
	if (selected.view === "snapshot-allocations" && event !== null)
		return `${formatBytes(numberIn(read, "bytes"))}, ${textIn(read, "line") ?? "no stack"}`;
	if (selected.view === "snapshot-summary") return `device ${textIn(read, "device") ?? ""}`;
	if (found) return found;
	if (selected.group === "category") return textIn(read, "category") ?? "unknown";
	return event === null ? "Blocks without a stack" : `event ${formatCount(event)}`;
}

/* The device of the second snapshot of a comparison; without one what is shown. */
function afterOf(chosen: Chosen, asked: { run?: number; snapshot?: number }): AskedDevice {
	const shown = askedOf(chosen);
	if (asked.run) return { run: asked.run, snapshot: 0, device: shown.device };
	return { ...shown, snapshot: asked.snapshot ?? shown.snapshot };
}

function SnapshotRow({ selected }: { selected: RowSelection }) {
	const { job } = useOpened();
	const chosen = useChosen();
	const asked =
		selected.view === "snapshot-diff"
			? comparedOf(job, chosen)
			: chosen
				? askedOf(chosen)
				: {};
	const { loaded, retry } = useTable(selected.view, selected.view, selected.group, asked ?? {});
	const ready = loaded.value;
	const row = ready?.document.rows[selected.index];

	if (loaded.state === "failed") return <Failed error={loaded.error} retry={retry} />;
	if (!ready) return <Loading what="Looking up the row …" />;
	if (!row || !chosen) return <Nothing>This row is no longer in the table.</Nothing>;
	const read = cellReader(ready.document, row);
	const address = textIn(read, "address");
	if (selected.view === "snapshot-segments" && selected.group === "block" && address)
		return <BlockDetails selected={{ kind: "block", address, event: null }} />;
	const title = titleOf(selected, read);
	const of = afterOf(chosen, asked ?? {});
	const line = OF_LINES.has(selected.view) ? textIn(read, "line") : null;
	return (
		<div class="held-details row-details">
			<header>
				<h2 class="mono">{title}</h2>
				<Copy text={title} />
			</header>
			<RowFacts
				columns={ready.columns.filter(({ name }) => !APART.has(name))}
				row={row}
				title={title}
			/>
			<Part
				chosen={chosen}
				selected={selected}
				read={read}
				asked={of}
			/>
			{line ? <LinePage line={line} asked={of} /> : null}
		</div>
	);
}

export function AnyRowDetails({ selected }: { selected: RowSelection }) {
	if (!selected.view.startsWith("snapshot-")) return <RowDetails selected={selected} />;
	return <SnapshotRow key={`${selected.view} ${selected.index}`} selected={selected} />;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tip.tsx - a tooltip: what is under the pointer, in a sentence or two.
 */
import type { SliceAnswer } from "../core/types";
import { useEffect, useState } from "preact/hooks";
import { allCauses, COLOR_WORDS } from "../core/colors";
import type { Client } from "../core/client";
import { formatCount, formatNs, formatPercent } from "../core/format";
import { formatValue, valueAt } from "./draw/curves";
import { type Hover, isGap, labelOf } from "./pick";
import type { Stage } from "./stage";

/* A pointer that only passes asks nothing. */
const REST_MS = 70;

/* Room that it needs; it then goes to the other side of the pointer. */
const WIDE = 380;
const HIGH = 110;

interface Words {
	title: string;
	lines: string[];
}

/* "phase: backward", where colours say it. */
function paintOf(stage: Stage, hover: Hover): string[] {
	const { entry } = hover;
	const number = entry?.sheet.paint?.[entry.index];
	const name = number === undefined ? undefined : stage.colorNames.get(number);
	return name && entry && !isGap(entry) ? [`${stage.look.color}: ${name}`] : [];
}

function ofEntry(stage: Stage, hover: Hover): Words | null {
	const { entry } = hover;
	if (!entry) return null;
	const { sheet, index } = entry;
	const length = formatNs(sheet.dur[index]);
	const count = sheet.count[index] ?? 1;
	if (isGap(entry)) {
		const cause = allCauses()[sheet.cause[index] ?? -1];
		if (count > 1)
			return { title: `${formatCount(count)} gaps in ${length}`, lines: [] };
		return { title: `idle ${length}`, lines: cause ? [`${cause.name}: ${cause.about}`] : [] };
	}
	const label = labelOf(entry) ?? COLOR_WORDS[sheet.color[index] ?? 10] ?? "";
	const paint = paintOf(stage, hover);
	if (count === 1) return { title: label, lines: [length, ...paint] };
	const busy = formatPercent(((sheet.fill[index] ?? 0) * 100) / 255);
	return {
		title: `${formatCount(count)} slices in ${length}`,
		lines: [`busy ${busy} of that time; longest: ${label}`, ...paint],
	};
}

function ofRow(stage: Stage, hover: Hover): Words | null {
	const { row, ns } = hover;
	if (hover.flag) {
		const { flag } = hover.flag;
		return {
			title: `${flag.number}. ${flag.title}`,
			lines: ["Click to see the fix"],
		};
	}
	if (row.kind === "curve" && row.curve) {
		const held = stage.supply.curves.of(row.key)?.now;
		if (!held || ns < held.from || ns > held.to) return null;
		return {
			title: `${row.title}: ${formatValue(row.curve, valueAt(held, ns))}`,
			lines: [],
		};
	}
	const file = stage.job.files[row.file];
	if (row.kind !== "group" || !file) return null;
	const step = file.steps?.find((one) => one.start_ns <= ns && one.end_ns > ns);
	if (row.open && step) {
		const title = `step ${step.number}${step.name ? ` (${step.name})` : ""}`;
		const length = formatNs(step.end_ns - step.start_ns);
		return {
			title,
			lines: [step.dropped ? `${length}; excluded: ${step.dropped}` : length],
		};
	}
	if (row.open) return null;
	const held = stage.supply.strips.of(row.key)?.now;
	if (!held || ns < held.from || ns > held.to) return { title: row.title, lines: [] };
	const { block, index } = held;
	const x = Math.floor(((ns - held.from) / (held.to - held.from)) * block.pixels);
	const part = (at: number) => formatPercent(((block.values[index]?.[at] ?? 0) * 100) / 255);
	const where = step ? `, step ${step.number}` : "";
	return {
		title: `${row.title}${where}`,
		lines: [
			`compute ${part(x)} of this pixel's time`,
			`exposed communication ${part(block.pixels + x)}, ` +
				`of that waiting for other ranks ${part(2 * block.pixels + x)}`,
			"Click to open the rank",
		],
	};
}

/* What the core says of a slice beyond its name. */
function ofSlice(slice: SliceAnswer, merged: Words): Words {
	const { collective } = slice;
	const lines = [...merged.lines];
	if (collective) {
		const parts: string[] = [];
		if (collective.wait_ns !== null)
			parts.push(`waited ${formatNs(collective.wait_ns)}`);
		if (collective.transfer_ns !== null)
			parts.push(`transferred for ${formatNs(collective.transfer_ns)}`);
		if (parts.length) lines.push(parts.join(", "));
		if (collective.last_rank !== null)
			lines.push(
				collective.last_rank === slice.rank
					? "The others waited for this rank"
					: `All ranks waited for rank ${collective.last_rank}`,
			);
	}
	return { title: merged.title, lines };
}

async function more(client: Client, hover: Hover, known: Words): Promise<Words | null> {
	const { entry, row } = hover;
	if (!entry || !row.track) return null;
	const { sheet, index } = entry;
	const { file } = row;
	const number = sheet.row[index] ?? 0;
	if (isGap(entry)) {
		const asked = { file, track: row.track.track, gap: number };
		const gap = await client.json("gap", asked);
		if ((sheet.count[index] ?? 1) > 1)
			return { title: known.title, lines: [`longest: ${gap.says}`] };
		return { title: gap.says, lines: [] };
	}
	const slice = await client.json("slice", { file, row: number });
	if ((sheet.count[index] ?? 1) > 1)
		return {
			title: known.title,
			lines: [`longest: ${slice.name}, ${formatNs(slice.dur_ns)}`],
		};
	return ofSlice(slice, { title: slice.short ?? slice.name, lines: known.lines });
}

function keyOf(hover: Hover | null): string {
	if (!hover) return "";
	const { entry, row } = hover;
	const number = entry
		? `${entry.sheet.row[entry.index]} ${entry.sheet.count[entry.index]}`
		: "";
	return `${row.key} ${number}`;
}

export function Tip({ stage, hover }: { stage: Stage; hover: Hover | null }) {
	const known = hover ? (ofEntry(stage, hover) ?? ofRow(stage, hover)) : null;
	const [told, tell] = useState<{ key: string; words: Words } | null>(null);
	const key = keyOf(hover);

	useEffect(() => {
		if (!hover || !known) return;
		let live = true;
		const timer = setTimeout(() => {
			more(stage.client, hover, known).then(
				(words) => live && words && tell({ key, words }),
				() => {},
			);
		}, REST_MS);
		return () => {
			live = false;
			clearTimeout(timer);
		};
	}, [key]);
	if (!hover || !known) return null;
	const words = told?.key === key && hover.entry ? told.words : known;
	const left = hover.x + 14 + WIDE < stage.width ? hover.x + 14 : hover.x - 14;
	const top = hover.y + HIGH < stage.height ? hover.y + 18 : hover.y - 12;
	const side = [left < hover.x ? "to-left" : "", top < hover.y ? "to-top" : ""].join(" ");
	return (
		<div
			class={`tip ${side}`}
			role="presentation"
			style={{ left: `${left}px`, top: `${top}px` }}
		>
			<strong>{words.title}</strong>
			{words.lines.map((line) => (
				<div key={line}>{line}</div>
			))}
		</div>
	);
}

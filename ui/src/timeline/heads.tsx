/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heads.tsx - the row names to the left of the canvas: fold, pin, show all lanes.
 */
import type { CurveOffer, JobFile } from "../core/types";
import { formatCount, formatNs } from "../core/format";
import { plural } from "../core/words";
import { formatValue } from "./draw/curves";
import { type Row, rowsBetween } from "./model";
import type { Stage } from "./stage";

/* A lower row has no room for letters. */
const TEXT_LEAST = 12;

function clockWords(file: JobFile, alone: boolean): { text: string; title: string } | null {
	if (alone) return null;
	if (!file.aligned)
		return {
			text: "clock?",
			title: "The clock of this rank could not be aligned with the others",
		};
	const error = file.clock_error_ns;
	/* The others are compared with it, or they have one clock. */
	if (!error) return null;
	return {
		text: `±${formatNs(error)}`,
		title: `Its clock is aligned with the others to within ${formatNs(error)}`,
	};
}

function GroupHead({ stage, row }: { stage: Stage; row: Row }) {
	const file = stage.job.files[row.file];
	if (!file) return null;
	const clock = clockWords(file, stage.job.files.length === 1);
	const folds = row.open && !row.some;
	const act = row.some ? "Show all rows of" : folds ? "Fold" : "Open";
	return (
		<>
			<button
				type="button"
				class="head-fold"
				aria-expanded={folds}
				title={`${act} ${row.title}: ${row.about}`}
				onClick={() => stage.landing.toggle(row)}
			>
				<span class="head-mark" aria-hidden="true">
					{folds ? "▾" : "▸"}
				</span>
				<strong>{row.title}</strong>
				<span class="head-about">
					{file.problem ? "unreadable" : (file.device ?? "")}
				</span>
			</button>
			{clock ? (
				<span class="head-clock" title={clock.title}>
					{clock.text}
				</span>
			) : null}
		</>
	);
}

function Lanes({ stage, row }: { stage: Stage; row: Row }) {
	const deep = stage.look.deep.has(row.key);
	if (!row.hidden && !(deep && !stage.look.allDeep)) return null;
	const toggle = () => {
		const next = new Set(stage.look.deep);
		if (!next.delete(row.key)) next.add(row.key);
		stage.change({ deep: next });
	};
	return (
		<button
			type="button"
			class="head-more"
			aria-expanded={!row.hidden}
			onClick={toggle}
		>
			{row.hidden ? `▾ ${moreWords(stage, row)}` : "▴ fewer lanes"}
		</button>
	);
}

function moreWords(stage: Stage, row: Row): string {
	const frames = stage.supply.depths.get(row.key)?.hasFrames;
	return frames ? "Python frames" : plural(row.hidden, "more lane");
}

function RowHead({ stage, row }: { stage: Stage; row: Row }) {
	const pinned = stage.look.pins.includes(row.key);
	const toggle = () =>
		stage.change({
			pins: pinned
				? stage.look.pins.filter((key) => key !== row.key)
				: [...stage.look.pins, row.key],
		});
	const slices = row.track ? `, ${formatCount(row.track.slices)} ${wordOf(row)}` : "";
	return (
		<>
			<span
				class="head-name"
				title={`${row.title}${row.about ? `: ${row.about}` : ""}${slices}`}
			>
				{row.title}
				{row.curve ? (
					<span class="head-most">
						{mostWords(row.curve, stage.supply.mostOf(row))}
					</span>
				) : null}
			</span>
			<button
				type="button"
				class={pinned ? "head-pin on" : "head-pin"}
				aria-pressed={pinned}
				aria-label={`${pinned ? "Unpin" : "Pin"} ${row.title}`}
				title={pinned ? "Unpin" : "Pin to the top"}
				onClick={toggle}
			>
				{pinned ? "◆" : "◇"}
			</button>
			<Lanes stage={stage} row={row} />
		</>
	);
}

/* The top of the row. */
function mostWords(curve: CurveOffer, most: number): string {
	return curve.unit === "percent" ? `0 to ${most} %` : `0 to ${formatValue(curve, most)}`;
}

function wordOf(row: Row): string {
	return row.track?.kind === "idle" ? "gaps" : "slices";
}

function OthersHead({ stage, row }: { stage: Stage; row: Row }) {
	const toggle = () => {
		const deep = new Set(stage.look.deep);
		if (!deep.delete(row.key)) deep.add(row.key);
		stage.change({ deep });
	};
	return (
		<button
			type="button"
			class="head-others"
			aria-expanded={row.open}
			title={row.about}
			onClick={toggle}
		>
			{row.open ? "▾" : "▸"} {row.title}
		</button>
	);
}

function Head({
	stage,
	row,
	shift,
	kind,
}: {
	stage: Stage;
	row: Row;
	shift: number;
	kind: string;
}) {
	/* a thousand empty boxes would be laid out anew whenever something moves */
	if (row.kind === "note" || (row.kind === "group" && row.height < TEXT_LEAST)) return null;
	const classes = ["head", row.kind, kind, row.open ? "open" : ""].join(" ");
	return (
		<div
			class={classes}
			style={{ top: `${row.y + shift}px`, height: `${row.height}px` }}
		>
			{row.kind === "group" ? (
				<GroupHead stage={stage} row={row} />
			) : row.kind === "others" ? (
				<OthersHead stage={stage} row={row} />
			) : (
				<RowHead stage={stage} row={row} />
			)}
		</div>
	);
}

/* Folded ranks that are too low for letters: a name now and then. */
function Thin({ rows, shift }: { rows: Row[]; shift: number }) {
	let last = -Infinity;
	const named = rows.filter((row) => {
		if (row.kind !== "group" || row.height >= TEXT_LEAST || row.y - last < 28)
			return false;
		last = row.y;
		return true;
	});
	return (
		<>
			{named.map((row) => (
				<span
					key={row.key}
					class="head-thin"
					style={{ top: `${row.y + shift}px` }}
				>
					{row.title}
				</span>
			))}
		</>
	);
}

export function Heads({ stage }: { stage: Stage }) {
	const { visible, sticky, shift, layout, pinnedHeight } = stage;
	const pinned = rowsBetween(layout.pinned, 0, pinnedHeight);
	return (
		<div class="heads" role="group" aria-label="Rows">
			{visible.map((row) => (
				<Head key={row.key} stage={stage} row={row} shift={shift} kind="" />
			))}
			<Thin rows={visible} shift={shift} />
			{sticky ? (
				<Head stage={stage} row={sticky} shift={shift} kind="sticky" />
			) : null}
			{pinned.length ? (
				<div
					class="heads-pinned"
					style={{ top: `${stage.top}px`, height: `${pinnedHeight}px` }}
				>
					{pinned.map((row) => (
						<Head
							key={row.key}
							stage={stage}
							row={row}
							shift={0}
							kind="pinned"
						/>
					))}
				</div>
			) : null}
		</div>
	);
}

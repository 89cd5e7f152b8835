/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view-page.tsx - a row of a view that is no name: the same row on all ranks and in each step, the
 * operators of a module, and the SQL that gives it.
 */
import type { Job } from "../core/client";
import type { Cell, ColumnOffer, TableDocument, ViewOffer } from "../core/types";
import type { Client, Parameters } from "../core/client";
import { useLoaded, useOpened } from "../core/context";
import { formatCell } from "../core/format";
import { useView } from "../core/store";
import { stepCount } from "../core/words";
import { isNumeric } from "../parts/columns";
import { cellReader, type Read } from "../parts/place";
import { ranksOf } from "../parts/scope";
import { LineList, Query } from "./lists";
import { asText, figureOf, type Key, keysOf, summedBy, viewSql } from "./model";
import { type SmallBar, SmallBars } from "./small-bars";

/* Of more, the rows of all ranks, or one request per step, cost more than they show. */
const RANKS_MOST = 64;
const STEPS_MOST = 16;
const ROWS_MOST = 20_000;

/* Charts of a row. */
const FIGURES_MOST = 2;

export interface RowPlace {
	offer: ViewOffer;
	group: string;
	read: Read;
}

function keyOf(column: ColumnOffer, read: Read): Key[] {
	const value = read(column.name);
	return value === null ? [] : [[column.name, value]];
}

/* The figures that a chart shows: those that rows stand in the order of first, then times. */
function figuresOf(offer: ViewOffer, document: TableDocument): ColumnOffer[] {
	const weight = (column: ColumnOffer) =>
		offer.order.includes(column.name)
			? 0
			: column.type === "ns" || column.type === "bytes"
				? 1
				: column.type === "percent"
					? 2
					: 3;
	return offer.columns
		.filter((column) => isNumeric(column) && !column.detail && !column.place)
		.filter((column) => document.rows.some((row) => at(document, row, column.name)))
		.sort((a, b) => weight(a) - weight(b))
		.slice(0, FIGURES_MOST);
}

function at(document: TableDocument, row: Cell[], name: string): Cell {
	return figureOf(cellReader(document, row), name);
}

function isRow(document: TableDocument, row: Cell[], keys: Key[]): boolean {
	return keys.every(([name, value]) => at(document, row, name) === value);
}

interface Bars {
	title: string;
	bars: SmallBar[];
	format: (value: number) => string;
}

function barsOf(
	title: string,
	column: ColumnOffer,
	found: { label: string; value: Cell; of: string }[],
): Bars {
	const bars = found.flatMap(({ label, value, of }) =>
		typeof value === "number"
			? [{ label, value, says: `${of} ${label}: ${formatCell(value, column.type)}` }]
			: [],
	);
	/* the same everywhere: the row says it */
	const alike = bars.every((one) => one.value === bars[0]?.value);
	return { title, bars: alike ? [] : bars, format: (value) => formatCell(value, column.type) };
}

function titleOf(column: ColumnOffer): string {
	const words = column.name.replace(/_(ns|bytes|percent)$/, "").replaceAll("_", " ");
	return column.type === "percent" ? `${words} %` : words;
}

async function byRank(client: Client, job: Job, place: RowPlace, asked: Parameters) {
	const { offer, read } = place;
	const ranks = ranksOf(job).length;
	if (offer.of_job || ranks < 2 || ranks > RANKS_MOST) return [];
	const document = await client.view(offer.name, { ...asked, top: ROWS_MOST });
	const keys = keysOf(offer, read).filter(([name]) => name !== "device" && name !== "step");
	const rows = document.rows.filter((row) => isRow(document, row, keys));
	return figuresOf(offer, { ...document, rows }).map((column) =>
		barsOf(
			`${titleOf(column)} by rank`,
			column,
			rows.map((row) => ({
				label: asText(cellReader(document, row)("rank")),
				value: at(document, row, column.name),
				of: "rank",
			})),
		),
	);
}

async function byStep(client: Client, job: Job, place: RowPlace, asked: Parameters) {
	const { offer, read } = place;
	const file = job.files.find((one) => one.problem === null && one.steps?.length);
	const steps = file?.steps?.filter((step) => step.dropped === null) ?? [];
	const ofStep = read("step") !== null;
	if (offer.of_job || ofStep || steps.length < 2 || stepCount(job) > STEPS_MOST) return [];
	/* a digest has no tables of single steps */
	if (ranksOf(job).length > RANKS_MOST || job.files.some((one) => one.digest)) return [];
	const own = read("rank");
	const rank = own ?? (ranksOf(job).length > 1 ? "all" : null);
	const keys = keysOf(offer, read);
	const found = await Promise.all(
		steps.map(async ({ number }) => {
			const document = await client.view(offer.name, {
				...{ ...asked, rank, step: number, top: ROWS_MOST },
			});
			return { number, document };
		}),
	);
	const first = found[0]?.document;
	if (!first?.basis) return [];
	const all = found.flatMap(({ number, document }) => {
		const row = document.rows.find((one) => isRow(document, one, keys));
		return row ? [{ number, document, row }] : [];
	});
	const rows = all.map(({ row }) => row);
	return figuresOf(offer, { ...first, rows }).map((column) =>
		barsOf(
			`${titleOf(column)} by step`,
			column,
			all.map(({ number, document, row }) => ({
				label: String(number),
				value: at(document, row, column.name),
				of: "step",
			})),
		),
	);
}

/* The rows of another table that make up a row: those of this group that name it in `of`. */
type PartsOf = [title: string, view: string, group: string, of: string, figure: string];

const PARTS: Record<string, PartsOf> = {
	modules: ["Operators", "operators", "module", "module", "host_self_ns"],
	"critical-path": ["On the path", "critical-path", "name", "part", "path_ns"],
};

function Parts({ offer, read }: RowPlace) {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const [title = "", view = "", group = "", of = "", figure = ""] = PARTS[offer.name] ?? [];
	const cell = view ? read(of) : null;
	const name = typeof cell === "string" ? cell.trim() : null;
	const scope = offer.of_job ? {} : { rank, step };
	const loaded = useLoaded(
		async () => name && client.view(view, { ...scope, group, top: ROWS_MOST }),
		[client, view, name, rank, step],
	).value;
	if (!loaded) return null;
	/* of a class all instances */
	const isOf = ([one]: Cell[]) =>
		one === name || asText(one ?? null).replace(/_\d+$/, "") === name;
	return <LineList title={title} lines={summedBy(loaded, "name", figure, isOf, [of])} />;
}

/* The ranks with the least and the most, and the one between, where the row has them. */
function spreadOf({ offer, read }: RowPlace): Bars {
	const found = (offer.of_job ? ["min", "median", "max"] : []).map((label) => ({
		...{ label, value: read(`${label}_ns`), of: "rank" },
	}));
	const column = { name: "time by rank", type: "ns" } as ColumnOffer;
	return barsOf("Least, median and most of the ranks", column, found);
}

export function ViewQuery({ offer, group, read }: RowPlace) {
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const own = offer.columns.filter(({ name }) => name === "rank" || name === "step");
	const keys = [...own.flatMap((column) => keyOf(column, read)), ...keysOf(offer, read)];
	return <Query query={viewSql(offer, group, keys, { rank, step })} />;
}

export function ViewPage(place: RowPlace) {
	const { client, job } = useOpened();
	const step = useView((view) => view.step);
	const { offer, group, read } = place;
	const asked = {
		group: group && group !== offer.groups[0] ? group : null,
		step: offer.of_job ? null : step,
	};
	const row = JSON.stringify(offer.columns.flatMap((column) => keyOf(column, read)));
	const ranks = useLoaded(
		() => byRank(client, job, place, asked),
		[client, row, group, step],
	).value;
	const steps = useLoaded(
		() => byStep(client, job, place, asked),
		[client, row, group],
	).value;
	return (
		<div class="name-page">
			<div class="name-columns">
				{[spreadOf(place), ...(steps ?? []), ...(ranks ?? [])].map((one) => (
					<SmallBars key={one.title} {...one} />
				))}
				<Parts {...place} />
				<ViewQuery {...place} />
			</div>
		</div>
	);
}

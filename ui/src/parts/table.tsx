/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.tsx - the one table: virtual rows, sticky header, order, filter, keys. It does not
 * know where its rows come from; TableView does.
 */
import type { Cell } from "../core/types";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type DrawnColumn, drawColumn, fitTotals, type TableColumn } from "./columns";
import { arrange, type Order } from "./rows";
import { Header, Row, type Style, type Total, Totals } from "./table-row";
import { Toolbar } from "./table-tools";
import "./table.css";

export const ROW_PIXELS = 26;

/* A name is cut below this. */
const NAME_LEAST = 160;

/* Pixels of a scroll bar and the frame. */
const SCROLLBAR = 18;

/* A bar gets this multiple of the spare width of a number. */
const BAR_SHARE = 2;

/* Rows drawn beyond the window, so that a quick scroll does not show white. */
const BEYOND = 12;

export interface TableProps {
	label: string;
	columns: TableColumn[];
	rows: Cell[][];
	notes?: string[];
	/* Said when there are no rows. */
	empty?: string;
	order?: Order;
	onOrder?: (order: Order) => void;
	filter?: string;
	onFilter?: (filter: string) => void;
	/* Names of detail columns that are shown. */
	shown?: string[];
	onShown?: (names: string[]) => void;
	/* Index is the row's number in rows. */
	onRow?: (row: Cell[], index: number) => void;
	onShow?: (row: Cell[], index: number) => void;
	marked?: number | null;
	/* The whole table as the command prints it. */
	csv?: (order: Order, filter: string) => Promise<string>;
	/* Sums, which stay in sight below the rows. */
	totals?: Total[];
	/* What the file holds, where it is not that. */
	csvAbout?: string;
	/* Rows that the core has beyond these. */
	rowCount?: number;
	/* Group chips and the like, at the left of the toolbar. */
	children?: ComponentChildren;
	/* Rows that are seen at once; without it the table fills what is around it. */
	lines?: number;
}

const NO_TOTALS: Total[] = [];

/* The height of this number of rows. */
function pixels(rows: number, more = 0): string {
	return `${rows * ROW_PIXELS + more}px`;
}

/* Part of the rows that is in the window. */
function useWindow(count: number) {
	const box = useRef<HTMLDivElement>(null);
	const [seen, see] = useState({ top: 0, height: 600 });

	useLayoutEffect(() => {
		const element = box.current;
		if (!element) return;
		const look = () =>
			see((last) => {
				const next = {
					top: element.scrollTop,
					height: element.clientHeight,
				};
				return last.top === next.top && last.height === next.height
					? last
					: next;
			});
		const watch = new ResizeObserver(look);
		look();
		watch.observe(element);
		element.addEventListener("scroll", look, { passive: true });
		return () => {
			watch.disconnect();
			element.removeEventListener("scroll", look);
		};
	}, []);
	const first = Math.max(0, Math.floor(seen.top / ROW_PIXELS) - BEYOND);
	const last = Math.min(count, Math.ceil((seen.top + seen.height) / ROW_PIXELS) + BEYOND);
	return {
		box,
		first: Math.min(first, last),
		last,
		page: Math.floor(seen.height / ROW_PIXELS) - 2,
	};
}

function scrollTo(box: HTMLDivElement | null, line: number, totals: number): void {
	if (!box) return;
	const top = line * ROW_PIXELS;
	const room = box.clientHeight - (2 + totals) * ROW_PIXELS;
	if (top < box.scrollTop) box.scrollTop = top;
	else if (top > box.scrollTop + room) box.scrollTop = top - room;
}

/* Where an arrow leads; null: not a key of the table. */
function lineAfter(key: string, line: number, count: number, page: number): number | null {
	const steps: Record<string, number> = {
		ArrowDown: line + 1,
		ArrowUp: line - 1,
		PageDown: line + page,
		PageUp: line - page,
		Home: 0,
		End: count - 1,
	};
	const next = steps[key];
	return next === undefined ? null : Math.max(0, Math.min(count - 1, next));
}

/* Names give way where the window is narrow. Where it is wide all columns get more in the
 * measure of what they hold, long names and bars most. */
function templateOf(columns: DrawnColumn[]): Style {
	const least = (column: DrawnColumn) =>
		column.numeric ? column.pixels : Math.min(column.pixels, NAME_LEAST);
	const tracks = columns.map((column) => {
		const share = column.bar ? BAR_SHARE * column.pixels : column.room;
		return `minmax(${least(column)}px, ${Math.round(share)}fr)`;
	});
	return {
		gridTemplateColumns: tracks.join(" "),
		minWidth: `${columns.reduce((all, column) => all + least(column), 0)}px`,
	};
}

const NARROW = "(max-width: 720px)";

function useNarrow(): boolean {
	const [narrow, set] = useState(() => matchMedia(NARROW).matches);
	useEffect(() => {
		const media = matchMedia(NARROW);
		const tell = () => set(media.matches);
		media.addEventListener("change", tell);
		return () => media.removeEventListener("change", tell);
	}, []);
	return narrow;
}

/* What is measured, as counts and numbers of ranks are not. */
const MEASURED = new Set(["ns", "bytes", "percent", "number"]);

/* On a phone the name and its first figure are in view, and then everything else. */
export function narrowOrder<C extends { type: string }>(columns: C[]): C[] {
	const name = columns.find(({ type }) => type === "text");
	const figure = columns.find(({ type }) => MEASURED.has(type));
	if (!name || !figure) return columns;
	return [name, figure, ...columns.filter((one) => one !== name && one !== figure)];
}

function useDrawn(props: TableProps) {
	const narrow = useNarrow();
	const drawn = useMemo(
		() =>
			props.columns
				.map((column) => drawColumn(column, props.rows))
				.filter((column) => column !== null)
				.map((column) =>
					fitTotals(
						column,
						(props.totals ?? []).map(
							({ cells }) => cells[column.index] ?? null,
						),
					),
				),
		[props.columns, props.rows, props.totals],
	);
	const shown = (props.shown ?? []).join(",");
	const columns = useMemo(
		() => {
			const own = shown.split(",");
			const seen = drawn.filter(({ name, detail }) => !detail || own.includes(name));
			return narrow ? narrowOrder(seen) : seen;
		},
		[drawn, shown, narrow],
	);
	const style = useMemo(() => templateOf(columns), [columns]);
	return { drawn, columns, style };
}

/* State that its owner may keep instead. */
function useOwned<T>(given: T | undefined, empty: T, tell?: (value: T) => void) {
	const [own, change] = useState(empty);
	const set = (value: T) => {
		if (tell) tell(value);
		else change(() => value);
	};
	return [given ?? own, set] as const;
}

/* The rows that are in the window, at their height. */
function Rows(props: {
	id: string;
	rows: Cell[][];
	found: number[];
	first: number;
	last: number;
	columns: DrawnColumn[];
	style: Style;
	line: number;
	marked: number | null;
	onRow: ((line: number) => void) | null;
	onShow: ((line: number) => void) | null;
}) {
	const { first, onRow, onShow } = props;
	const whole = {
		height: pixels(props.found.length),
		minWidth: props.style.minWidth ?? "",
	};

	return (
		<div class="table-rows" style={whole}>
			<div class="table-window" style={{ top: pixels(first) }}>
				{props.found.slice(first, props.last).map((index, at) => (
					<Row
						key={index}
						id={`${props.id}-${first + at}`}
						line={first + at}
						row={props.rows[index] ?? []}
						columns={props.columns}
						style={props.style}
						active={first + at === props.line}
						marked={props.marked === index}
						onRow={onRow}
						onShow={onShow}
					/>
				))}
			</div>
		</div>
	);
}

function Notes({ notes }: { notes: string[] }) {
	if (!notes.length) return null;
	return (
		<ul class="table-notes" tabIndex={0} aria-label="Notes on the table">
			{notes.map((note) => (
				<li key={note}>{note}</li>
			))}
		</ul>
	);
}

/* Instead of rows: there are none, or none that the filter lets through. */
function Empty(props: { table: TableProps; filter: string; onClear: () => void }) {
	const { rows, empty } = props.table;
	if (!rows.length && !props.filter) return <p class="state">{empty ?? "No rows."}</p>;
	return (
		<p class="state">
			No name contains “{props.filter}”.{" "}
			<button type="button" class="button" onClick={props.onClear}>
				Clear filter
			</button>
		</p>
	);
}

/* What was chosen, the rows in their order, and the row that the keys are on. */
function useChosen(props: TableProps) {
	const [order, setOrder] = useOwned<Order>(props.order, "", props.onOrder);
	const [filter, setFilter] = useOwned<string>(props.filter, "", props.onFilter);
	const [shown, setShown] = useOwned<string[]>(props.shown, [], props.onShown);
	const [line, setLine] = useState(-1);
	const names = props.columns.map((column) => column.name);
	const found = useMemo(
		() => arrange(props.rows, names, order, filter),
		[props.rows, props.columns, order, filter],
	);
	return { order, setOrder, filter, setFilter, shown, setShown, line, setLine, found };
}

export function Table(props: TableProps) {
	const id = useId();
	const chosen = useChosen(props);
	const { order, filter, shown, line, setLine, found } = chosen;
	const { drawn, columns, style } = useDrawn({ ...props, shown });
	const { box, first, last, page } = useWindow(found.length);
	const totals = props.totals ?? NO_TOTALS;

	useEffect(() => {
		if (box.current) box.current.scrollTop = 0;
		setLine(-1);
	}, [props.rows, order, filter]);

	const open = (at: number, then?: (row: Cell[], index: number) => void) => {
		const index = found[at];
		const row = index === undefined ? undefined : props.rows[index];
		if (row && index !== undefined) then?.(row, index);
	};
	const onKeyDown = (event: KeyboardEvent) => {
		if (event.target !== box.current || event.ctrlKey || event.metaKey || event.altKey)
			return;
		const next = lineAfter(event.key, line, found.length, page);
		if (next !== null && found.length) {
			setLine(next);
			scrollTo(box.current, next, totals.length);
		} else if (event.key === "Enter") open(line, props.onRow ?? props.onShow);
		else if (event.key === "t") open(line, props.onShow);
		else return;
		event.preventDefault();
	};
	/* The same functions at every drawing, so that rows which stay are not drawn again. */
	const acts = useRef({ choose: (_: number) => {}, show: (_: number) => {} });
	acts.current.choose = (at) => {
		setLine(at);
		open(at, props.onRow);
	};
	acts.current.show = (at) => open(at, props.onShow);
	const [choose] = useState(() => (at: number) => acts.current.choose(at));
	const [show] = useState(() => (at: number) => acts.current.show(at));
	const { csv } = props;
	return (
		<section class={props.lines ? "table fixed" : "table"} aria-label={props.label}>
			<Toolbar
				label={props.label}
				filter={filter}
				onFilter={chosen.setFilter}
				details={drawn.filter((column) => column.detail)}
				shown={shown}
				onShown={chosen.setShown}
				csv={csv ? () => csv(order, filter) : null}
				csvAbout={props.csvAbout}
				found={found.length}
				rowCount={props.rowCount ?? props.rows.length}
			>
				{props.children}
			</Toolbar>
			<div
				ref={box}
				class="table-box"
				role="grid"
				hidden={!columns.length}
				tabIndex={0}
				aria-label={props.label}
				aria-rowcount={found.length + 1 + totals.length}
				aria-colcount={columns.length}
				aria-activedescendant={line >= 0 ? `${id}-${line}` : undefined}
				style={
					props.lines
						? {
								maxHeight: pixels(
									props.lines + 1 + totals.length,
									SCROLLBAR,
								),
							}
						: {}
				}
				onKeyDown={onKeyDown}
			>
				<Header
					columns={columns}
					style={style}
					order={order}
					onOrder={chosen.setOrder}
				/>
				<Rows
					{...{
						id,
						rows: props.rows,
						found,
						first,
						last,
						columns,
						style,
						line,
					}}
					marked={props.marked ?? null}
					onRow={props.onRow ? choose : null}
					onShow={props.onShow ? show : null}
				/>
				<Totals
					totals={totals}
					columns={columns}
					style={style}
					firstLine={found.length + 2}
				/>
			</div>
			{found.length ? null : (
				<Empty
					table={props}
					filter={filter}
					onClear={() => chosen.setFilter("")}
				/>
			)}
			<Notes notes={props.notes ?? []} />
		</section>
	);
}

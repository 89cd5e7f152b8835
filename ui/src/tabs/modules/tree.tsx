/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.tsx - the module tree: expand, collapse, sort, search.
 */
import type { Column, TableDocument } from "../../core/types";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCell } from "../../core/format";
import { type Branch, firstOpen, readTree, seen } from "./tree-model";

const ROW = 26;
/* Rows beyond the window that are there already. */
const BEYOND = 10;

const SHOWN: [string, string][] = [
	["share_percent", "share"],
	["device_total_ns", "device"],
	["device_self_ns", "device self"],
	["backward_ns", "backward"],
	["backward_self_ns", "backward self"],
	["host_total_ns", "host"],
	["host_self_ns", "host self"],
	["operators_ns", "operators"],
	["calls", "calls"],
];

interface Shown {
	column: Column;
	index: number;
	title: string;
}

/* Columns that the file has figures for. */
function columnsOf(table: TableDocument): Shown[] {
	return SHOWN.flatMap(([name, title]) => {
		const index = table.columns.findIndex((column) => column.name === name);
		const column = table.columns[index];
		const known = column && table.rows.some((row) => row[index] !== null);
		return known ? [{ column, index, title }] : [];
	});
}

function Figure({ shown, branch, bar }: { shown: Shown; branch: Branch; bar: boolean }) {
	const cell = branch.cells[shown.index] ?? null;
	return (
		<span role="gridcell" class="tree-figure">
			{bar ? (
				<i
					class="tree-bar"
					style={{ width: `${Math.min(100, Number(cell ?? 0))}%` }}
				/>
			) : null}
			<span>{formatCell(cell, shown.column.unit)}</span>
		</span>
	);
}

interface Order {
	column: number; /* -1: as the core has it */
	turned: boolean;
}

function Head(props: {
	shown: Shown;
	order: Order;
	setOrder: (change: (now: Order) => Order) => void;
}) {
	const { column, index, title } = props.shown;
	const { order, setOrder } = props;
	const chosen = order.column === index;
	const turned = (now: Order) => now.column === index && !now.turned;
	return (
		<span
			role="columnheader"
			aria-sort={!chosen ? "none" : order.turned ? "ascending" : "descending"}
		>
			<button
				type="button"
				title={column.about}
				onClick={() =>
					setOrder((now) => ({ column: index, turned: turned(now) }))
				}
			>
				{title} {chosen ? (order.turned ? "▴" : "▾") : ""}
			</button>
		</span>
	);
}

function Line(props: {
	branch: Branch;
	columns: Shown[];
	open: boolean;
	active: boolean;
	toggle: () => void;
	choose: () => void;
}) {
	const { branch, columns, open } = props;
	return (
		<div
			class={`tree-row ${props.active ? "active" : ""}`}
			role="row"
			aria-level={branch.depth + 1}
			aria-expanded={branch.children.length ? open : undefined}
			aria-selected={props.active}
			title={branch.path}
			onClick={props.choose}
			onDblClick={props.toggle}
		>
			<span
				role="gridcell"
				class="tree-name"
				style={{ paddingLeft: `${8 + branch.depth * 16}px` }}
			>
				{branch.children.length ? (
					<button
						type="button"
						tabIndex={-1}
						aria-hidden="true"
						onClick={props.toggle}
					>
						{open ? "▾" : "▸"}
					</button>
				) : (
					<i />
				)}
				<span>{branch.name}</span>
			</span>
			{columns.map((shown, i) => (
				<Figure
					key={shown.index}
					shown={shown}
					branch={branch}
					bar={i === 0}
				/>
			))}
		</div>
	);
}

/* Left closes or leads up, right opens or leads down, as trees do everywhere. */
function useKeys(
	rows: Branch[],
	open: Set<number>,
	setOpen: (index: number, open: boolean) => void,
	active: number,
	setActive: (at: number) => void,
) {
	return (event: KeyboardEvent) => {
		const branch = rows[active];
		const moves: Record<string, number> = {
			ArrowDown: active + 1,
			ArrowUp: active - 1,
			Home: 0,
			End: rows.length - 1,
			PageDown: active + 16,
			PageUp: active - 16,
		};
		const to = moves[event.key];
		if (to !== undefined) setActive(Math.max(0, Math.min(rows.length - 1, to)));
		else if (event.key === "ArrowRight" && branch) {
			if (branch.children.length && !open.has(branch.index))
				setOpen(branch.index, true);
			else if (branch.children.length) setActive(active + 1);
		} else if (event.key === "ArrowLeft" && branch) {
			if (open.has(branch.index)) setOpen(branch.index, false);
			else setActive(parentOf(rows, active));
		} else if (event.key === "Enter" && branch)
			setOpen(branch.index, !open.has(branch.index));
		else return;
		event.preventDefault();
		event.stopPropagation();
	};
}

function parentOf(rows: Branch[], at: number): number {
	const depth = rows[at]?.depth ?? 0;
	for (let i = at - 1; i >= 0; i--) if ((rows[i]?.depth ?? 0) < depth) return i;
	return at;
}

/* The rows in the window of a scrolling box, and the way to one of them. */
function useWindow(count: number) {
	const box = useRef<HTMLDivElement>(null);
	const [seen, see] = useState({ top: 0, height: 600 });
	useEffect(() => {
		const element = box.current;
		if (!element) return;
		const look = () => see({ top: element.scrollTop, height: element.clientHeight });
		const watch = new ResizeObserver(look);
		watch.observe(element);
		element.addEventListener("scroll", look, { passive: true });
		return () => {
			watch.disconnect();
			element.removeEventListener("scroll", look);
		};
	}, []);
	const first = Math.max(0, Math.floor(seen.top / ROW) - BEYOND);
	const last = Math.min(count, Math.ceil((seen.top + seen.height) / ROW) + BEYOND);
	const show = (at: number) => {
		const element = box.current;
		if (!element) return;
		const room = element.clientHeight - 2 * ROW;
		if (at * ROW < element.scrollTop) element.scrollTop = at * ROW;
		else if (at * ROW > element.scrollTop + room) element.scrollTop = at * ROW - room;
	};
	return { box, first, last, show };
}

export function ModuleTree({ table, search }: { table: TableDocument; search: string }) {
	const roots = useMemo(() => readTree(table), [table]);
	const columns = useMemo(() => columnsOf(table), [table]);
	const share = table.columns.findIndex((column) => column.name === "share_percent");
	const [open, change] = useState(() => firstOpen(roots, share));
	const [order, setOrder] = useState<Order>({ column: -1, turned: false });
	const [active, setActive] = useState(-1);
	const rows = useMemo(
		() => seen(roots, open, order.column, order.turned, search),
		[roots, open, order, search],
	);
	const { box, first, last, show } = useWindow(rows.length);
	const setOpen = (index: number, wanted: boolean) =>
		change((now) => {
			const next = new Set(now);
			if (wanted) next.add(index);
			else next.delete(index);
			return next;
		});
	const isOpen = (branch: Branch) => search !== "" || open.has(branch.index);
	const toggle = (branch: Branch) => setOpen(branch.index, !open.has(branch.index));
	const go = (at: number) => {
		setActive(at);
		show(at);
	};
	const keys = useKeys(rows, open, setOpen, active, go);
	const template = {
		gridTemplateColumns: `minmax(260px, 1fr) repeat(${columns.length}, 104px)`,
	};

	useEffect(() => change(firstOpen(roots, share)), [roots]);
	return (
		<div class="tree">
			<div
				class="tree-box"
				ref={box}
				role="treegrid"
				tabIndex={0}
				aria-label="Modules"
				aria-rowcount={rows.length}
				onKeyDown={keys}
			>
				<div class="tree-row tree-head" role="row" style={template}>
					<span role="columnheader">module</span>
					{columns.map((shown) => (
						<Head
							key={shown.index}
							shown={shown}
							order={order}
							setOrder={setOrder}
						/>
					))}
				</div>
				<div class="tree-rows" style={{ height: `${rows.length * ROW}px` }}>
					<div
						class="tree-window"
						style={{ ...template, top: `${first * ROW}px` }}
					>
						{rows.slice(first, last).map((branch, i) => (
							<Line
								key={branch.index}
								branch={branch}
								columns={columns}
								open={isOpen(branch)}
								active={first + i === active}
								toggle={() => toggle(branch)}
								choose={() => setActive(first + i)}
							/>
						))}
					</div>
				</div>
				{rows.length ? null : (
					<p class="state">No module name contains this text.</p>
				)}
			</div>
		</div>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.ts - keys, wheel and mouse of the timeline.
 */
import { store } from "../core/store";
import { listenForCommands } from "./commands";
import { type Action, keyOf } from "./keys";
import type { Row } from "./model";
import { entryAt, type Entry, isGap, pick } from "./pick";
import { draggedRows } from "./rows";
import { fitted, panned, type Span, zoomed } from "./span";
import { MINIMAP, type Stage } from "./stage";

/* A pixel of the wheel: 100 of them (one notch) zoom by a quarter. */
const WHEEL = 0.0022;

/* Held keys: screens (or e-folds) a second at first, and more for each second that they stay
 * down, up to a limit that eyes can follow. */
const PAN = { first: 0.9, more: 2.2, most: 5 };
const ZOOM = { first: 1.6, more: 2.4, most: 6 };
const SCROLL = { first: 500, more: 900, most: 2600 };

/* A key that is only tapped moves as far as if it was held so long. */
const TAP_MS = 80;

/* Less than this is a click that trembled. */
const TREMBLE = 4;

/* Pixels beside an end of the window in the minimap that take hold of it. */
const HANDLE = 6;

function speed(of: { first: number; more: number; most: number }, heldMs: number): number {
	return Math.min(of.most, of.first + (of.more * heldMs) / 1000);
}

function selectEntry(stage: Stage, row: Row, entry: Entry): void {
	const { file, track } = row;
	const number = entry.sheet.row[entry.index] ?? 0;
	stage.click(() => {
		if (isGap(entry) && track)
			store.set({
				selected: { kind: "gap", file, track: track.track, gap: number },
			});
		else store.set({ selected: { kind: "slice", file, row: number } });
	});
}

export class Input {
	private held = new Map<Action, number>();
	private last = 0;
	private ends: (() => void)[] = [];

	constructor(private stage: Stage) {
		const { canvas } = stage;
		this.listen(window, "keydown", (event) => this.keyDown(event));
		this.listen(window, "keyup", (event) => this.keyUp(event));
		this.listen(window, "blur", () => this.held.clear());
		this.listen(canvas, "pointermove", (event) => this.hover(event));
		this.listen(canvas, "pointerleave", () => this.leave());
		this.listen(canvas, "pointerdown", (event) => this.pointerDown(event));
		this.listen(canvas, "dblclick", (event) => this.doubleClick(event));
		const wheel = (event: WheelEvent) => this.wheel(event);
		canvas.addEventListener("wheel", wheel, { passive: false });
		this.ends.push(() => canvas.removeEventListener("wheel", wheel));
		this.ends.push(listenForCommands((action) => this.run(action)));
	}

	private listen<T extends keyof WindowEventMap>(
		target: EventTarget,
		type: T,
		on: (event: WindowEventMap[T]) => void,
	): void {
		target.addEventListener(type, on as EventListener);
		this.ends.push(() => target.removeEventListener(type, on as EventListener));
	}

	close(): void {
		for (const end of this.ends) end();
	}

	/* --- keys ---------------------------------------------------------------------- */

	private keyDown(event: KeyboardEvent): void {
		const target = event.target as HTMLElement | null;
		if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
		if (target?.closest("input, textarea, select, [contenteditable]")) return;
		const key = keyOf(event);
		if (!key) return;
		/* buttons have Enter; what is outside of the timeline has its arrows */
		const outside = target && target !== document.body && !target.closest(".timeline");
		if (event.key === "Enter" && target?.closest("button, a, summary")) return;
		if (outside && /^(Arrow|Enter)/.test(event.key)) return;
		if (key.action === "search") return; /* the header's */
		event.preventDefault();
		if (!key.held) return this.run(key.action);
		if (!this.held.has(key.action)) {
			this.held.set(key.action, performance.now());
			this.moveBy(key.action, TAP_MS / 1000, 0);
			this.move();
		}
	}

	private keyUp(event: KeyboardEvent): void {
		const pressed = event.key.toLowerCase();
		for (const action of [...this.held.keys()]) {
			const key = keyOf(new KeyboardEvent("keydown", { key: pressed }));
			if (!key || key.action === action) this.held.delete(action);
		}
	}

	private move(): void {
		this.last = performance.now();
		this.stage.mover = (now) => this.step(now);
		this.stage.redraw();
	}

	/* One frame of what held keys do. */
	private step(now: number): boolean {
		const passed = Math.min(50, Math.max(1, now - this.last)) / 1000;
		this.last = now;
		for (const [action, since] of this.held)
			this.moveBy(action, passed, Math.max(0, now - since));
		return this.held.size > 0;
	}

	private moveBy(action: Action, seconds: number, heldMs: number): void {
		const { stage } = this;
		const length = stage.span.to - stage.span.from;
		const by = length * speed(PAN, heldMs) * seconds;
		const zoom = Math.exp(speed(ZOOM, heldMs) * seconds);
		if (action === "left") stage.moveTo(panned(stage.span, -by, stage.whole));
		else if (action === "right") stage.moveTo(panned(stage.span, by, stage.whole));
		else if (action === "zoom-in") this.zoom(1 / zoom);
		else if (action === "zoom-out") this.zoom(zoom);
		else {
			const rows = speed(SCROLL, heldMs) * seconds * (action === "up" ? -1 : 1);
			stage.scrollTo(stage.scroller.scrollTop + rows);
		}
	}

	/* Around the pointer; without one around the middle. */
	private zoom(by: number): void {
		const { stage } = this;
		const x =
			stage.pointer && stage.pointer.y > MINIMAP
				? stage.pointer.x
				: stage.width / 2;
		stage.moveTo(zoomed(stage.span, stage.nsOf(x), by, stage.whole));
	}

	run(action: Action): void {
		const { stage } = this;
		const { focus, look } = stage;
		if (action === "fit") this.fit();
		else if (action === "reset") stage.moveTo({ ...stage.whole });
		else if (action === "mark") stage.change({ mark: focus.span() });
		else if (action === "keep") this.keep();
		else if (action === "note") this.note();
		else if (action === "hit-next") void this.walk(1);
		else if (action === "hit-previous") void this.walk(-1);
		else if (action === "next") this.near(1);
		else if (action === "previous") this.near(-1);
		else if (action === "lane-above") this.beside(-1);
		else if (action === "lane-below") this.beside(1);
		else if (action === "flow-next") focus.along(1);
		else if (action === "flow-previous") focus.along(-1);
		else if (action === "path") stage.change({ path: !look.path });
		else if (action === "clock") stage.change({ fromStart: !look.fromStart });
		else if (action === "python") stage.change({ allDeep: !look.allDeep });
		else if (action === "clear") this.clear();
	}

	private fit(): void {
		const { stage } = this;
		const span = stage.focus.span();
		stage.moveTo(span ? fitted(span.from, span.to, stage.whole) : { ...stage.whole });
	}

	private clear(): void {
		if (this.stage.look.mark) this.stage.change({ mark: null });
		store.set({ selected: null });
	}

	/* Adds the selection to the marks that stay; takes it away when it is there already. */
	private keep(): void {
		const { look, focus } = this.stage;
		const span = focus.span() ?? look.mark;
		if (!span) return this.stage.change({ kept: [], mark: null });
		const same = (one: Span) =>
			Math.round(one.from) === Math.round(span.from) &&
			Math.round(one.to) === Math.round(span.to);
		const without = look.kept.filter((one) => !same(one));
		const had = without.length < look.kept.length;
		this.stage.change({ kept: had ? without : [...without, span], mark: null });
	}

	/* On the selection, else on the mark, else at the pointer or in the middle. */
	private note(): void {
		const { stage } = this;
		const { pointer, focus, look, run } = stage;
		const moment = stage.nsOf(pointer && pointer.y > MINIMAP ? pointer.x : stage.width / 2);
		const span = focus.span() ?? look.mark ?? { from: moment, to: moment };
		const inside = (ns: number) => Math.round(Math.min(run.to, Math.max(0, ns)));
		const [from, to] = [inside(span.from), inside(span.to)];
		stage.click(() => store.set({ selected: { kind: "note", from, to } }));
	}

	private async walk(by: 1 | -1): Promise<void> {
		const { stage } = this;
		const hit = await stage.hits.walk(by, stage.span.from);
		if (!hit) return;
		store.set({ selected: { kind: "slice", file: hit.file, row: hit.row } });
		stage.tell();
	}

	private near(by: 1 | -1): void {
		const { focus } = this.stage;
		const kind = focus.selected?.kind;
		if (kind === "slice" || kind === "gap") void focus.near(by);
		else this.selectFirst();
	}

	/* Without a selection: the first thing on the screen. */
	private selectFirst(): void {
		const { stage } = this;
		for (const row of stage.visible) {
			const held =
				row.kind === "track" ? stage.supply.tiles.of(row.key)?.now : null;
			if (!held) continue;
			const entry = entryAt(row, held, 0, stage.span.from, Infinity);
			if (entry) return selectEntry(stage, row, entry);
		}
	}

	/* What runs at the same time in the row above or below. */
	private beside(by: 1 | -1): void {
		const { stage } = this;
		const [spot] = stage.focus.spots();
		if (!spot) return this.selectFirst();
		const rows = stage.layout.rows.filter((row) => row.kind === "track");
		let at = rows.findIndex((row) => row.key === `${spot.file}.${spot.track}`);
		const own = rows[at];
		let lane = (own ? stage.laneOf(own, spot) : spot.lane) + by;
		const ns = Math.max(spot.start_ns, stage.span.from) + 1;
		while (at >= 0 && at < rows.length) {
			const row = rows[at];
			const held = row ? stage.supply.tiles.of(row.key)?.now : null;
			for (; row && held && lane >= 0 && lane < row.lanes; lane += by) {
				const entry = entryAt(
					row,
					held,
					lane,
					ns,
					(stage.span.to - stage.span.from) / 50,
				);
				if (!entry) continue;
				selectEntry(stage, row, entry);
				return stage.show(this.spotOf(row, lane, entry));
			}
			at += by;
			lane = by > 0 ? 0 : (rows[at]?.lanes ?? 1) - 1;
		}
	}

	private spotOf(row: Row, lane: number, { sheet, index }: Entry) {
		const start_ns = sheet.start[index] ?? 0;
		const dur_ns = sheet.dur[index] ?? 0;
		return { file: row.file, track: row.track?.track ?? 0, lane, start_ns, dur_ns };
	}

	/* --- wheel --------------------------------------------------------------------- */

	private wheel(event: WheelEvent): void {
		const { stage } = this;
		event.preventDefault();
		const unit = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
		const perPixel = (stage.span.to - stage.span.from) / stage.width;
		const across = event.deltaX * unit;
		const down = event.deltaY * unit;
		if (event.shiftKey) {
			stage.moveTo(panned(stage.span, (across || down) * perPixel, stage.whole));
			return;
		}
		if (Math.abs(across) > Math.abs(down)) {
			stage.moveTo(panned(stage.span, across * perPixel, stage.whole));
			return;
		}
		/* a pinch comes as small steps with Ctrl */
		const pinch = event.ctrlKey && Math.abs(down) < 50 ? 5 : 1;
		const by = Math.exp(Math.max(-400, Math.min(400, down * pinch)) * WHEEL);
		stage.moveTo(zoomed(stage.span, stage.nsOf(event.offsetX), by, stage.whole));
	}

	/* --- mouse --------------------------------------------------------------------- */

	private hover(event: PointerEvent): void {
		const { stage } = this;
		stage.pointer = { x: event.offsetX, y: event.offsetY };
		stage.isPressed = event.buttons !== 0;
		stage.redraw();
	}

	private leave(): void {
		this.stage.pointer = null;
		this.stage.redraw();
	}

	private pointerDown(event: PointerEvent): void {
		if (event.button !== 0 && event.button !== 1) return;
		const { canvas } = this.stage;
		canvas.focus({ preventScroll: true });
		const move =
			event.offsetY < MINIMAP ? this.dragMinimap(event) : this.dragRows(event);
		const { clientX, clientY } = event;
		let moved = false;
		const onMove = (now: PointerEvent) => {
			const x = now.clientX - clientX;
			const y = now.clientY - clientY;
			moved ||= Math.abs(x) + Math.abs(y) > TREMBLE;
			if (moved) move.to(x, y);
		};
		const onEnd = () => {
			canvas.removeEventListener("pointermove", onMove);
			canvas.removeEventListener("pointerup", onEnd);
			canvas.removeEventListener("pointercancel", onEnd);
			if (moved) move.end();
			else move.click();
		};
		canvas.setPointerCapture(event.pointerId);
		canvas.addEventListener("pointermove", onMove);
		canvas.addEventListener("pointerup", onEnd);
		canvas.addEventListener("pointercancel", onEnd);
	}

	private dragMinimap(event: PointerEvent) {
		const { stage } = this;
		const { whole } = stage;
		const perPixel = (whole.to - whole.from) / stage.width;
		const ns = whole.from + event.offsetX * perPixel;
		const begun = { ...stage.span };
		const near = HANDLE * perPixel;
		const wide = begun.to - begun.from > 3 * near;
		const left = wide && Math.abs(ns - begun.from) < near;
		const right = wide && Math.abs(ns - begun.to) < near;
		if (!left && !right && (ns < begun.from || ns > begun.to)) {
			const half = (begun.to - begun.from) / 2;
			begun.from = ns - half;
			begun.to = ns + half;
			stage.moveTo(begun);
		}
		const to = (x: number) => {
			const by = x * perPixel;
			if (left)
				stage.moveTo({
					from: Math.min(begun.from + by, begun.to - near),
					to: begun.to,
				});
			else if (right)
				stage.moveTo({
					from: begun.from,
					to: Math.max(begun.to + by, begun.from + near),
				});
			else stage.moveTo(panned(begun, by, whole));
		};
		return { to, end: () => {}, click: () => {} };
	}

	private dragRows(event: PointerEvent) {
		const { stage } = this;
		const x0 = event.offsetX;
		const all = event.offsetY < stage.top; /* the axis and notes have no rows */
		const range = event.shiftKey || all;
		const begun = stage.span;
		const ns = stage.nsOf(x0);
		const top = stage.scroller.scrollTop;
		const to = (x: number, y: number) => {
			if (range) {
				const other = stage.nsOf(
					Math.min(stage.width, Math.max(0, x0 + x)),
				);
				const y0 = event.offsetY;
				const rows = all
					? undefined
					: draggedRows(this.zones, stage.job, y0, y0 + y);
				stage.drag = {
					from: Math.min(ns, other),
					to: Math.max(ns, other),
					...(rows ? { rows } : {}),
				};
				stage.redraw();
				return;
			}
			const perPixel = (begun.to - begun.from) / stage.width;
			stage.moveTo(panned(begun, -x * perPixel, stage.whole));
			stage.scrollTo(top - y);
		};
		const end = () => {
			const { drag } = stage;
			stage.drag = null;
			if (drag && range) this.selectRange(drag);
		};
		return { to, end, click: () => this.click(event) };
	}

	private get zones() {
		const { layout, top, rowsTop, shift } = this.stage;
		return { layout, top, rowsTop, shift };
	}

	private selectRange(span: Span & { rows?: string }): void {
		const from = Math.max(0, Math.floor(span.from));
		const to = Math.min(this.stage.run.to, Math.ceil(span.to));
		const rows = span.rows ? { rows: span.rows } : {};
		if (to > from) store.set({ selected: { kind: "range", from, to, ...rows } });
	}

	private click(event: PointerEvent): void {
		const { stage } = this;
		const hover = pick(stage, event.offsetX, event.offsetY);
		if (event.shiftKey) return this.extend(stage.nsOf(event.offsetX), event.offsetY);
		if (hover?.flag) {
			const { number } = hover.flag.flag;
			return stage.click(() =>
				store.set({ selected: { kind: "finding", number } }),
			);
		}
		if (hover?.row.kind === "group" && !hover.row.open)
			return stage.change({
				open: new Set([...stage.look.open, hover.row.file]),
			});
		if (hover?.entry) return selectEntry(stage, hover.row, hover.entry);
		if (stage.focus.selected) store.set({ selected: null });
	}

	/* The stretch grows or shrinks to here and keeps its rows; a slice becomes a stretch. */
	private extend(ns: number, y: number): void {
		const { focus, job, top } = this.stage;
		const span = focus.span();
		const kept =
			focus.selected?.kind === "range"
				? focus.selected.rows
				: y < top
					? undefined
					: draggedRows(this.zones, job, y, y);
		const rows = kept ? { rows: kept } : {};
		if (!span) return this.selectRange({ from: ns, to: ns + 1, ...rows });
		const [from, to] =
			ns < (span.from + span.to) / 2 ? [ns, span.to] : [span.from, ns];
		this.selectRange({ from, to, ...rows });
	}

	private doubleClick(event: MouseEvent): void {
		const { stage } = this;
		const hover = pick(stage, event.offsetX, event.offsetY);
		if (hover?.entry) {
			const { sheet, index } = hover.entry;
			const start = sheet.start[index] ?? 0;
			stage.moveTo(fitted(start, start + (sheet.dur[index] ?? 0), stage.whole));
		} else if (hover?.row.kind === "group") {
			const steps = stage.job.files[hover.row.file]?.steps ?? [];
			const step = steps.find(
				(one) => one.start_ns <= hover.ns && one.end_ns > hover.ns,
			);
			if (step) stage.moveTo(fitted(step.start_ns, step.end_ns, stage.whole));
		}
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.ts - the timeline itself: what is visible, what to request, when to draw. It draws only
 * when something changed, at most once per screen frame.
 */
import type { Job } from "../core/client";
import type { JobFile } from "../core/types";
import type { Client } from "../core/client";
import { coloringOf } from "../core/colors";
import { store, type View } from "../core/store";
import { countedSteps } from "./draw/axis";
import { drawFrame } from "./draw/frame";
import { Minimap } from "./draw/minimap";
import type { FlagBox, Spotted } from "./draw/overlay";
import { Batch, type Pen } from "./draw/pen";
import { StripPictures } from "./draw/strips";
import { Feed } from "./feed";
import { Focus } from "./focus";
import { Hits } from "./hits";
import { Landing } from "./landing";
import { Loads } from "./loads";
import { type Look, readLook, restoreLook, writeLook } from "./look";
import {
	GROUP,
	laneTop,
	type Layout,
	layOut,
	othersKey,
	type Row,
	rowsBetween,
	trackKey,
} from "./model";
import { type Hover, pick, shownLane } from "./pick";
import { beginProbe } from "./probe";
import { Supply } from "./sheets";
import { NOTE_ROW, noteRows, placeNotes, type Placed } from "./notes";
import { bounded, fitted, type Span, wholeOf } from "./span";
import { Theme } from "./theme";

export const MINIMAP = 30;
export const AXIS = 24;
export const TOP = MINIMAP + AXIS;

/* The address and the other tabs follow a moment after the window stands still. */
const SETTLE_MS = 150;

/* Less than that, or the window would never stand still before it settles. */
const MOVING_MS = 120;

export class Stage {
	look: Look;
	layout: Layout;
	readonly run: Span; /* what the files hold */
	readonly whole: Span; /* and how far one can look */
	span: Span;
	width = 1;
	height = 1;
	scroll = 0;
	pointer: { x: number; y: number } | null = null;
	isPressed = false; /* the pointer drags */
	hover: Hover | null = null;
	drag: (Span & { rows?: string }) | null = null; /* a range while it is drawn */
	/* what colours mean that are not those of the category; by number */
	colorNames = new Map<number, string>();
	flagBoxes: FlagBox[] = [];
	placed: Placed[] = []; /* notes, in their rows */
	/* called with every frame */
	moved: (() => void) | null = null;
	readonly loads = new Loads(this);
	readonly supply = new Supply();
	readonly minimap = new Minimap();
	readonly pictures = new StripPictures();
	readonly batch = new Batch();
	readonly focus: Focus;
	readonly hits: Hits;
	readonly landing: Landing;
	readonly feed: Feed;
	theme: Theme;
	/* called when something else came under the pointer */
	hovers: (() => void) | null = null;
	/* called while frames go on; false ends it */
	mover: ((now: number) => boolean) | null = null;
	private context: CanvasRenderingContext2D;
	private frameId = 0;
	private settleTimer = 0;
	private told = "";
	private pending: Spotted | null = null;
	private ends: (() => void)[] = [];
	private probe = beginProbe();
	private written: Pick<View, "from" | "to" | "step" | "rank">;
	private clicked = false;
	private movedAt = -Infinity;
	private notes = store.view.notes;
	private seekLater = false; /* the selection is not known yet, but must stay in view */

	constructor(
		readonly canvas: HTMLCanvasElement,
		readonly scroller: HTMLElement,
		readonly client: Client,
		readonly job: Job,
		private changed: () => void,
	) {
		const context = canvas.getContext("2d", { alpha: false });
		if (!context) throw new Error("this browser has no canvas");
		restoreLook();
		this.context = context;
		this.theme = new Theme(context, devicePixelRatio);
		this.run = { from: 0, to: Math.max(1, job.span_ns) };
		this.whole = wholeOf(this.run.to);
		this.look = readLook(job);
		this.placed = placeNotes(store.view.notes);
		this.paint();
		this.landing = new Landing(this);
		this.landing.follow(this.look.jump);
		this.layout = this.layOut(600);
		this.feed = new Feed(client, () => this.fed());
		this.hits = new Hits(client, () => this.tell());
		const focused = () => {
			if (this.seekLater && this.focus.spots().length) {
				this.seekLater = false;
				this.keepInView();
			}
			this.tell();
		};
		this.focus = new Focus(
			client,
			focused,
			(spot) => this.show(spot),
			(spot) => this.isSeen(spot),
			() => this.landing.isHere,
		);
		const { from, to, step, rank } = store.view;
		this.written = { from, to, step, rank };
		this.span = this.spanOf(from, to, step);
		this.begin();
	}

	private begin(): void {
		this.ends.push(store.subscribe(() => this.follow()));
		const themes = new MutationObserver(() => this.retheme());
		themes.observe(document.documentElement, { attributes: true });
		this.ends.push(() => themes.disconnect());
		const sizes = new ResizeObserver(() => this.resize());
		sizes.observe(this.scroller);
		this.ends.push(() => sizes.disconnect());
		const scrolled = () => {
			this.scroll = this.scroller.scrollTop;
			this.tell();
		};
		this.scroller.addEventListener("scroll", scrolled);
		this.ends.push(() => this.scroller.removeEventListener("scroll", scrolled));
		this.hits.ask(store.view.search);
		this.focus.follow(store.view.selected, false);
		void this.loads.loadMinimap();
		void this.loads.loadFlags();
		this.resize();
	}

	close(): void {
		cancelAnimationFrame(this.frameId);
		clearTimeout(this.settleTimer);
		this.loads.close();
		this.settle();
		this.feed.close();
		for (const end of this.ends) end();
	}

	/* --- what is shown ------------------------------------------------------------- */

	/* The file whose steps the axis counts: of the scope, else the first that is open. */
	get leader(): JobFile | undefined {
		const { rank } = store.view;
		const { files } = this.job;
		const first = (holds: (file: JobFile) => boolean) =>
			files.find((file) => file.problem === null && holds(file));
		return (
			(rank === null ? undefined : first((file) => file.rank === rank)) ??
			first((file) => this.layout.find.get(String(file.file))?.open === true) ??
			first(() => true)
		);
	}

	private spanOf(from: number | null, to: number | null, step: number | null): Span {
		if (from !== null && to !== null) {
			/* a place near an end of the run has less around it */
			const { whole } = this;
			const inside = {
				from: Math.max(from, whole.from),
				to: Math.min(to, whole.to),
			};
			return bounded(inside.from < inside.to ? inside : { from, to }, whole);
		}
		const own = this.leader?.steps?.find((one) => one.number === step);
		if (own) return fitted(own.start_ns, own.end_ns, this.whole);
		return { ...this.whole };
	}

	/* The store changed: by this stage, by another part of the page, by the address. */
	private follow(): void {
		const { from, to, step, rank, search, selected, notes } = store.view;
		if (!this.isChosen) return;
		this.look = readLook(this.job);
		this.paint();
		if (notes !== this.notes) {
			this.notes = notes;
			this.placed = placeNotes(notes);
		}
		this.landing.follow(this.look.jump);
		this.relayout();
		if (from !== this.written.from || to !== this.written.to)
			this.span = this.spanOf(from, to, step);
		else if (step !== this.written.step && step !== null) this.lookAtStep(step);
		const newRank = rank !== this.written.rank ? rank : null;
		this.written = { from, to, step, rank };
		if (newRank !== null) this.openRank(newRank);
		this.hits.ask(search);
		this.focus.follow(selected, this.clicked);
		this.landing.settle();
		this.tell();
	}

	private paint(): void {
		const { color } = this.look;
		this.supply.setColor(color === coloringOf("").name ? null : color);
	}

	private openRank(rank: number): void {
		const file = this.job.files.find((one) => one.rank === rank)?.file;
		if (file === undefined) return;
		if (!this.isOpen(file)) this.change({ open: new Set([...this.look.open, file]) });
		const group = this.layout.find.get(String(file));
		if (group) this.scrollTo(group.y);
	}

	private isOpen(file: number): boolean {
		return this.layout.find.get(String(file))?.open ?? false;
	}

	private lookAtStep(step: number): void {
		const own = this.leader?.steps?.find((one) => one.number === step);
		if (own) this.moveTo(fitted(own.start_ns, own.end_ns, this.whole));
	}

	/* Selects what is in view already. */
	click(select: () => void): void {
		this.clicked = true;
		select();
		this.clicked = false;
	}

	/* What an answer changes that comes when another tab was chosen is not written: the
	 * parameters in the address are that tab's by then. */
	change(look: Partial<Look>): void {
		if (this.isChosen) writeLook(look);
	}

	get isChosen(): boolean {
		return store.view.tab === "timeline";
	}

	moveTo(span: Span): void {
		this.span = bounded(span, this.whole);
		this.movedAt = performance.now();
		clearTimeout(this.settleTimer);
		this.settleTimer = window.setTimeout(() => this.settle(), SETTLE_MS);
		this.redraw();
	}

	private settle(): void {
		const isWhole =
			this.span.from === this.whole.from && this.span.to === this.whole.to;
		const from = isWhole ? null : Math.round(this.span.from);
		const to = isWhole ? null : Math.round(this.span.to);
		this.redraw();
		if (from === this.written.from && to === this.written.to) return;
		this.written = { ...this.written, from, to };
		store.set({ from, to });
	}

	scrollTo(top: number): void {
		this.scroller.scrollTop = top;
	}

	/* --- geometry ------------------------------------------------------------------ */

	/* Where the rows begin: below the axis and the notes. */
	get top(): number {
		return TOP + noteRows(this.placed) * NOTE_ROW;
	}

	get pinnedHeight(): number {
		return Math.min(this.layout.pinnedHeight, Math.floor((this.height - this.top) / 2));
	}

	get rowsTop(): number {
		return this.top + this.pinnedHeight;
	}

	get shift(): number {
		return this.rowsTop - this.scroll;
	}

	get visible(): Row[] {
		const { scroll } = this;
		return rowsBetween(this.layout.rows, scroll, scroll + this.height - this.rowsTop);
	}

	/* The row of the rank that is scrolled through stays at the top. */
	get sticky(): Row | null {
		const { groups } = this.layout;
		let at = 0;
		while (at + 1 < groups.length && (groups[at + 1]?.y ?? 0) <= this.scroll) at++;
		const group = groups[at];
		if (!group?.open || group.y >= this.scroll) return null;
		const next = groups[at + 1]?.y ?? Infinity;
		return { ...group, y: Math.min(this.scroll, next - GROUP) };
	}

	laneOf(row: Row, spot: Spotted): number {
		const kept = this.supply.tiles.of(row.key);
		return shownLane(row, kept?.now, spot.lane, spot.start_ns);
	}

	nsOf(x: number): number {
		return this.span.from + (x / this.width) * (this.span.to - this.span.from);
	}

	private layOut(viewport: number): Layout {
		const { job, loads, look, supply, landing } = this;
		return layOut(job, loads.tracks, look, supply.depths, viewport, landing.jump.now);
	}

	relayout(): void {
		this.layout = this.layOut(this.height - this.top);
		for (const row of this.layout.groups)
			if (row.open) void this.loads.loadTracks(row.file);
		for (const key of this.look.pins)
			void this.loads.loadTracks(Number(key.split(".")[0]));
	}

	private resize(): void {
		const last = this.height;
		const box = this.scroller.getBoundingClientRect();
		const head = Number.parseFloat(getComputedStyle(this.canvas).left) || 0;
		this.width = Math.max(1, Math.floor(this.scroller.clientWidth - head));
		this.height = Math.max(1, Math.floor(box.height));
		const scale = devicePixelRatio;
		this.canvas.width = Math.round(this.width * scale);
		this.canvas.height = Math.round(this.height * scale);
		this.canvas.style.width = `${this.width}px`;
		this.canvas.style.height = `${this.height}px`;
		if (scale !== this.theme.scale) this.theme = new Theme(this.context, scale);
		this.relayout();
		this.tell();
		this.draw();
		/* the drawer opened over what was selected */
		if (this.height < last) this.keepInView();
	}

	private keepInView(): void {
		const [spot] = this.focus.spots();
		if (this.landing.isHere) this.landing.again();
		else if (!spot) this.seekLater = true;
		else if (!this.pending) {
			this.pending = spot;
			this.settlePending();
		}
	}

	private retheme(): void {
		this.theme = new Theme(this.context, devicePixelRatio);
		this.redraw();
	}

	/* --- bringing into view -------------------------------------------------------- */

	/* Opens the rank and the lanes that it is in, scrolls and pans as far as is needed. */
	show(spot: Spotted): void {
		if (this.landing.isHere) return this.landing.settle();
		const { from, to } = this.span;
		const end = spot.start_ns + spot.dur_ns;
		if (
			end < from ||
			spot.start_ns > to ||
			(spot.start_ns < from && end < from + (to - from) / 20)
		) {
			const half = (to - from) / 2;
			const middle = Math.min(
				spot.start_ns + spot.dur_ns / 2,
				spot.start_ns + half,
			);
			this.moveTo({ from: middle - half, to: middle + half });
		}
		if (!this.isOpen(spot.file)) this.change({ jump: this.landing.textTo(spot) });
		this.pending = spot;
		this.settlePending();
		this.redraw();
	}

	/* In the window, and in a rank that is open. */
	private isSeen(spot: Spotted): boolean {
		const { from, to } = this.span;
		if (!this.isOpen(spot.file)) return false;
		return spot.start_ns < to && spot.start_ns + spot.dur_ns > from;
	}

	settlePending(): void {
		const spot = this.pending;
		if (!spot || !this.isChosen) return;
		const key = trackKey(spot.file, spot.track);
		const row = this.layout.find.get(key);
		const others = othersKey(spot.file);
		if (!row && this.unfold(spot)) return this.settlePending();
		if (!row && this.loads.tracks.has(spot.file) && !this.look.deep.has(others)) {
			this.pending = null;
			this.change({ deep: new Set([...this.look.deep, others]) });
			this.pending = spot;
			return this.settlePending();
		}
		if (!row) return;
		const lane = this.laneOf(row, spot);
		if ((lane < 0 || lane >= row.lanes) && row.hidden) {
			this.pending = null;
			this.change({ deep: new Set([...this.look.deep, key]) });
			this.pending = spot;
			return this.settlePending();
		}
		this.pending = null;
		const top = laneTop(row, lane);
		const viewport = this.height - this.rowsTop;
		const seen = top >= this.scroll + GROUP && top + row.lane <= this.scroll + viewport;
		if (!seen) this.scrollTo(Math.max(0, top - viewport / 3));
	}

	/* Without coming back here by what that changes. */
	private unfold(spot: Spotted): boolean {
		this.pending = null;
		const unfolds = this.landing.unfold(spot.file);
		this.pending = spot;
		return unfolds;
	}

	/* --- requests ------------------------------------------------------------------ */

	/* An answer came; rows may have become higher. */
	private fed(): void {
		if (this.supply.deepened) {
			this.supply.deepened = false;
			this.relayout();
		}
		this.landing.settle();
		this.tell();
	}

	private ask(): void {
		const { span, width, run } = this;
		const seen = [...this.layout.pinned, ...this.visible];
		const isMoving = performance.now() - this.movedAt < MOVING_MS;
		const wants = this.supply.wants(
			seen,
			{ span, width, whole: run, isMoving },
			this.feed,
		);
		if (!wants.length && !this.feed.busy)
			wants.push(...this.supply.baseWants(seen, width, run));
		this.feed.want(wants);
		this.loads.loadPath();
	}

	/* --- frames -------------------------------------------------------------------- */

	redraw(): void {
		if (!this.frameId) this.frameId = requestAnimationFrame((now) => this.frame(now));
	}

	/* Something changed that is shown around the canvas, too. */
	tell(): void {
		this.redraw();
		const { scroll, layout, focus, hits } = this;
		const told = [
			...[scroll, this.height, this.width, focus.says, hits.count, hits.index],
			...[this.supply.scales, this.feed.problem, this.loads.path?.length_ns],
		].join(" ");
		if (told === this.told && this.lastLayout === layout) return;
		this.told = told;
		this.lastLayout = layout;
		this.changed();
	}

	private lastLayout: Layout | null = null;
	countsFromStep = false;

	private frame(now: number): void {
		this.frameId = 0;
		const begun = performance.now();
		const goesOn = this.mover?.(now) ?? false;
		if (!goesOn) this.mover = null;
		this.point();
		this.draw();
		this.moved?.();
		this.ask();
		this.tellAxis();
		this.probe(begun, this.context);
		if (goesOn) this.redraw();
	}

	/* What the axis counts from changes with the zoom, and stands beside it in words. */
	private tellAxis(): void {
		const { span, width, look } = this;
		const perNs = width / (span.to - span.from);
		const steps = countedSteps({ span, perNs }, this.leader?.steps ?? [], look.fromStart);
		const counts = steps.length > 0;
		if (counts === this.countsFromStep) return;
		this.countsFromStep = counts;
		this.changed();
	}

	/* The window may move under a pointer that stands still. */
	private point(): void {
		const { pointer, hover } = this;
		const hides =
			!pointer || this.isPressed || performance.now() - this.movedAt < MOVING_MS;
		const now = hides ? null : pick(this, pointer.x, pointer.y);
		const same =
			now?.x === hover?.x &&
			now?.y === hover?.y &&
			now?.row.key === hover?.row.key &&
			now?.entry?.sheet === hover?.entry?.sheet &&
			now?.entry?.index === hover?.entry?.index &&
			now?.flag?.flag === hover?.flag?.flag;
		if (same) return;
		this.hover = now;
		this.hovers?.();
	}

	private draw(): void {
		const { scale } = this.theme;
		this.context.setTransform(scale, 0, 0, scale, 0, 0);
		this.drawOn(this.context);
	}

	drawOn(context: Pen["context"]): void {
		const { theme, width, height, span } = this;
		const perNs = width / (span.to - span.from);
		drawFrame(this, { context, theme, width, height, scale: theme.scale, span, perNs });
	}
}

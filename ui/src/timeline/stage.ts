/*
 * stage.ts - the timeline itself: what is seen, what is asked for, when it is drawn. It
 * draws only when something changed, at most once per frame of the screen.
 */
import type { Client } from "../core/client";
import { store } from "../core/store";
import type { Job, JobFile, Tracks } from "../core/types";
import type { FlagsAnswer, PathAnswer } from "./answers";
import { decodeStrips } from "./decode";
import { drawFrame } from "./draw/frame";
import { Minimap } from "./draw/minimap";
import type { FlagBox, Spotted } from "./draw/overlay";
import { Batch, type Pen } from "./draw/pen";
import { StripPictures } from "./draw/strips";
import { Feed } from "./feed";
import { Focus } from "./focus";
import { Hits } from "./hits";
import { type Look, readLook, restoreLook, writeLook } from "./look";
import { GROUP, laneTop, type Layout, layOut, othersKey, type Row, rowsBetween, trackKey } from "./model";
import { type Hover, shownLane } from "./pick";
import { beginProbe } from "./probe";
import { levelOf, Supply } from "./sheets";
import { bounded, fitted, type Span, wholeOf } from "./span";
import { Theme } from "./theme";

export const MINIMAP = 30;
export const AXIS = 24;
export const TOP = MINIMAP + AXIS;

/* The address and the other tabs follow a moment after the window stands still. */
const SETTLE_MS = 150;

/* Less than that, or the window would never stand still before it settles. */
const MOVING_MS = 120;

/* Of more ranks the minimap shows the mean of so many, evenly picked. */
const MINIMAP_FILES = 64;

/* The replay takes its time: it is asked when the window stands still. */
const PATH_MS = 200;

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
	hover: Hover | null = null;
	drag: Span | null = null; /* a range while it is drawn */
	flagBoxes: FlagBox[] = [];
	path: (PathAnswer & { level: number; window: Span }) | null = null;
	readonly tracks = new Map<number, Tracks>();
	readonly supply = new Supply();
	readonly minimap = new Minimap();
	readonly pictures = new StripPictures();
	readonly batch = new Batch();
	readonly focus: Focus;
	readonly hits: Hits;
	readonly feed: Feed;
	theme: Theme;
	/* called while frames go on; false ends it */
	mover: ((now: number) => boolean) | null = null;
	private context: CanvasRenderingContext2D;
	private frameId = 0;
	private settleTimer = 0;
	private pathTimer = 0;
	private told = "";
	private pending: Spotted | null = null;
	private asked = new Set<number>();
	private ends: (() => void)[] = [];
	private probe = beginProbe();
	private written: { from: number | null; to: number | null; step: number | null };
	private clicked = false;
	private movedAt = -Infinity;
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
		this.layout = layOut(job, this.tracks, this.look, this.supply.depths, 600);
		this.feed = new Feed(client, () => this.fed());
		this.hits = new Hits(client, () => this.tell());
		const focused = () => {
			if (this.seekLater && this.focus.spots().length) {
				this.seekLater = false;
				this.keepInView();
			}
			this.tell();
		};
		this.focus = new Focus(client, focused, (spot) => this.show(spot));
		const { from, to, step } = store.view;
		this.written = { from, to, step };
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
		void this.loadMinimap();
		void this.loadFlags();
		this.resize();
	}

	close(): void {
		cancelAnimationFrame(this.frameId);
		clearTimeout(this.settleTimer);
		clearTimeout(this.pathTimer);
		this.settle();
		this.feed.close();
		for (const end of this.ends) end();
	}

	/* --- what is shown ------------------------------------------------------------- */

	/* The file whose steps the axis counts: of the scope, else the first that is open. */
	get leader(): JobFile | undefined {
		const { rank } = store.view;
		const readable = this.job.files.filter((file) => file.problem === null);
		return (
			readable.find((file) => rank !== null && file.rank === rank) ??
			readable.find((file) => this.look.open.has(file.file)) ??
			readable[0]
		);
	}

	private spanOf(from: number | null, to: number | null, step: number | null): Span {
		if (from !== null && to !== null) return bounded({ from, to }, this.whole);
		const own = this.leader?.steps?.find((one) => one.number === step);
		if (own) return fitted(own.start_ns, own.end_ns, this.whole);
		return { ...this.whole };
	}

	/* The store changed: by this stage, by another part of the page, by the address. */
	private follow(): void {
		const { from, to, step, search, selected, tab } = store.view;
		if (tab !== "timeline") return;
		this.look = readLook(this.job);
		this.relayout();
		if (from !== this.written.from || to !== this.written.to) this.span = this.spanOf(from, to, step);
		else if (step !== this.written.step && step !== null) this.lookAtStep(step);
		this.written = { from, to, step };
		this.hits.ask(search);
		this.focus.follow(selected, this.clicked);
		this.tell();
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

	change(look: Partial<Look>): void {
		writeLook(look);
	}

	moveTo(span: Span): void {
		this.span = bounded(span, this.whole);
		this.movedAt = performance.now();
		clearTimeout(this.settleTimer);
		this.settleTimer = window.setTimeout(() => this.settle(), SETTLE_MS);
		this.redraw();
	}

	private settle(): void {
		const isWhole = this.span.from === this.whole.from && this.span.to === this.whole.to;
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

	get pinnedHeight(): number {
		return Math.min(this.layout.pinnedHeight, Math.floor((this.height - TOP) / 2));
	}

	get rowsTop(): number {
		return TOP + this.pinnedHeight;
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

	relayout(): void {
		const viewport = this.height - TOP;
		this.layout = layOut(this.job, this.tracks, this.look, this.supply.depths, viewport);
		for (const row of this.layout.groups) if (row.open) void this.loadTracks(row.file);
		for (const key of this.look.pins) void this.loadTracks(Number(key.split(".")[0]));
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
		if (!spot) this.seekLater = true;
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
		const { from, to } = this.span;
		const end = spot.start_ns + spot.dur_ns;
		if (end < from || spot.start_ns > to || (spot.start_ns < from && end < from + (to - from) / 20)) {
			const half = (to - from) / 2;
			const middle = Math.min(spot.start_ns + spot.dur_ns / 2, spot.start_ns + half);
			this.moveTo({ from: middle - half, to: middle + half });
		}
		if (!this.look.open.has(spot.file))
			this.change({ open: new Set([...this.look.open, spot.file]) });
		this.pending = spot;
		this.settlePending();
		this.redraw();
	}

	private settlePending(): void {
		const spot = this.pending;
		if (!spot) return;
		const key = trackKey(spot.file, spot.track);
		const row = this.layout.find.get(key);
		const others = othersKey(spot.file);
		if (!row && this.tracks.has(spot.file) && !this.look.deep.has(others)) {
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

	/* --- requests ------------------------------------------------------------------ */

	private async loadTracks(file: number): Promise<void> {
		if (this.asked.has(file) || this.job.files[file]?.problem !== null) return;
		this.asked.add(file);
		try {
			this.tracks.set(file, await this.client.json<Tracks>("tracks", { file }));
			this.relayout();
			this.settlePending();
			this.tell();
		} catch (error) {
			this.feed.problem = error instanceof Error ? error.message : String(error);
			this.tell();
		}
	}

	private async loadMinimap(): Promise<void> {
		const readable = this.job.files.filter((file) => file.problem === null);
		const every = Math.ceil(readable.length / MINIMAP_FILES);
		const files = readable.filter((_, i) => i % every === 0).map((file) => file.file);
		if (!files.length) return;
		try {
			const reply = await this.client.bytes("strips", {
				files: files.join(","),
				...this.run,
				pixels: 1024,
			});
			this.minimap.show(decodeStrips(reply.bytes));
			this.redraw();
		} catch {
			/* the minimap then has steps and the window alone */
		}
	}

	private async loadFlags(): Promise<void> {
		try {
			this.focus.flags = (await this.client.json<FlagsAnswer>("flags")).flags;
			const [place] = this.focus.selected?.kind === "finding" ? this.focus.spots() : [];
			if (place) this.show(place);
			this.tell();
		} catch {
			/* without a diagnosis there are no flags */
		}
	}

	private loadPath(): void {
		if (!this.look.path) return;
		const level = levelOf(this.span, this.width);
		const { path, span } = this;
		if (
			path &&
			path.level === level &&
			path.window.from <= Math.max(span.from, 0) &&
			path.window.to >= Math.min(span.to, this.run.to)
		)
			return;
		clearTimeout(this.pathTimer);
		this.pathTimer = window.setTimeout(() => void this.askPath(level), PATH_MS);
	}

	private async askPath(level: number): Promise<void> {
		const length = this.span.to - this.span.from;
		const window = {
			from: Math.max(0, Math.floor(this.span.from - length / 2)),
			to: Math.min(this.run.to, Math.ceil(this.span.to + length / 2)),
		};
		const pixels = Math.max(1, Math.min(8192, Math.ceil((window.to - window.from) / level)));
		try {
			const answer = await this.client.json<PathAnswer>("path", { ...window, pixels });
			this.path = { ...answer, level, window };
		} catch (error) {
			this.feed.problem = error instanceof Error ? error.message : String(error);
			this.change({ path: false });
		}
		this.tell();
	}

	/* An answer came; rows may have become higher. */
	private fed(): void {
		if (this.supply.deepened) {
			this.supply.deepened = false;
			this.relayout();
		}
		this.tell();
	}

	private ask(): void {
		const { span, width, run } = this;
		const seen = [...this.layout.pinned, ...this.visible];
		const isMoving = performance.now() - this.movedAt < MOVING_MS;
		const wants = this.supply.wants(seen, { span, width, whole: run, isMoving }, this.feed);
		if (!wants.length && !this.feed.busy) wants.push(...this.supply.baseWants(seen, width, run));
		this.feed.want(wants);
		this.loadPath();
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
			...[this.supply.scales, this.feed.problem, this.path?.length_ns],
		].join(" ");
		if (told === this.told && this.lastLayout === layout) return;
		this.told = told;
		this.lastLayout = layout;
		this.changed();
	}

	private lastLayout: Layout | null = null;

	private frame(now: number): void {
		this.frameId = 0;
		const begun = performance.now();
		const goesOn = this.mover?.(now) ?? false;
		if (!goesOn) this.mover = null;
		this.draw();
		this.ask();
		this.probe(begun, this.context);
		if (goesOn) this.redraw();
	}

	private draw(): void {
		const { context, theme, width, height, span } = this;
		const scale = theme.scale;
		context.setTransform(scale, 0, 0, scale, 0, 0);
		const perNs = width / (span.to - span.from);
		const pen: Pen = { context, theme, width, height, scale, span, perNs };
		drawFrame(this, pen);
	}
}

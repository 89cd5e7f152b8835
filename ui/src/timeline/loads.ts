/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loads.ts - what the timeline requests besides the contents of its rows: the list of rows, the
 * minimap, the flags of findings, the critical path.
 */
import type { PathAnswer, TracksAnswer } from "../core/types";
import { decodeStrips } from "./decode";
import { levelOf } from "./sheets";
import type { Span } from "./span";
import type { Stage } from "./stage";

/* With more ranks than this the minimap shows the mean of this number, evenly picked. */
const MINIMAP_FILES = 64;
const MINIMAP_PIXELS = 1024;

/* The replay takes its time: it is asked when the window stands still. */
const PATH_MS = 200;
const PATH_PIXELS = 8192;

interface Path extends PathAnswer {
	level: number;
	window: Span;
}

function sentence(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

export class Loads {
	path: Path | null = null;
	readonly tracks = new Map<number, TracksAnswer>();
	private asked = new Set<number>();
	private pathTimer = 0;

	constructor(private stage: Stage) {}

	close(): void {
		clearTimeout(this.pathTimer);
	}

	/* The rows of a file, once. */
	async loadTracks(file: number): Promise<void> {
		const { stage } = this;
		const about = stage.job.files[file];
		if (this.asked.has(file) || about?.problem !== null || about.digest) return;
		this.asked.add(file);
		try {
			this.tracks.set(file, await stage.client.json("tracks", { file }));
			stage.relayout();
			stage.settlePending();
			stage.landing.settle();
		} catch (error) {
			stage.feed.problem = sentence(error);
		}
		stage.tell();
	}

	async loadMinimap(): Promise<void> {
		const { stage } = this;
		const readable = stage.job.files.filter((file) => file.problem === null);
		const every = Math.ceil(readable.length / MINIMAP_FILES);
		const files = readable.filter((_, i) => i % every === 0).map((file) => file.file);
		if (!files.length) return;
		try {
			const asked = {
				files: files.join(","),
				...stage.run,
				pixels: MINIMAP_PIXELS,
			};
			const reply = await stage.client.bytes("strips", asked);
			stage.minimap.show(decodeStrips(reply.bytes));
			stage.redraw();
		} catch {
			/* the minimap then has steps and the window alone */
		}
	}

	async loadFlags(): Promise<void> {
		const { stage } = this;
		const { focus } = stage;
		try {
			focus.flags = (await stage.client.json("flags")).flags;
			if (focus.selected?.kind === "finding") focus.revealFinding();
			stage.tell();
		} catch {
			/* without a diagnosis there are no flags */
		}
	}

	/* The critical path of the window, when it is shown and not here yet. */
	loadPath(): void {
		const { path, stage } = this;
		if (!stage.look.path) return;
		const { span, run } = stage;
		const level = levelOf(span, stage.width);
		const covers =
			path &&
			path.level === level &&
			path.window.from <= Math.max(span.from, 0) &&
			path.window.to >= Math.min(span.to, run.to);
		if (covers) return;
		clearTimeout(this.pathTimer);
		this.pathTimer = window.setTimeout(() => void this.askPath(level), PATH_MS);
	}

	private async askPath(level: number): Promise<void> {
		const { stage } = this;
		const { span, run } = stage;
		const length = span.to - span.from;
		const window = {
			from: Math.max(0, Math.floor(span.from - length / 2)),
			to: Math.min(run.to, Math.ceil(span.to + length / 2)),
		};
		const pixels = Math.ceil((window.to - window.from) / level);
		const asked = { ...window, pixels: Math.max(1, Math.min(PATH_PIXELS, pixels)) };
		try {
			const answer = await stage.client.json("path", asked);
			this.path = { ...answer, level, window };
		} catch (error) {
			stage.feed.problem = sentence(error);
			stage.change({ path: false });
		}
		stage.tell();
	}
}

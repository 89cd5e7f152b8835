/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hits.ts - search matches: their number, and stepping through them. Pages are requested when
 * needed; labels on screen are matched locally.
 */
import type { SearchAnswer } from "../core/types";
import type { Client } from "../core/client";
import type { Sheet } from "./decode";
import type { Span } from "./span";

const PAGE = 200;

/* Of the run, so that the minimap shows all hits wherever they are. */
const MARKS = 1024;

type Found = SearchAnswer["hits"][number];

/* As the core does it: letters of either case; with * or ? the whole name has that form. */
function matcher(query: string): (text: string) => boolean {
	const wanted = query.toLowerCase();
	if (!/[*?]/.test(wanted)) return (text) => text.toLowerCase().includes(wanted);
	const escaped = wanted.replace(/[.+^${}()|[\]\\]/g, "\\$&");
	const form = new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
	return (text) => form.test(text.toLowerCase());
}

export class Hits {
	query = "";
	count: number | null = null;
	total = 0;
	index = -1;
	problem: string | null = null;
	private marks: number[] = [];
	private pages = new Map<number, Found[]>();
	private labels = new WeakMap<Sheet, { query: string; found: Uint8Array }>();

	constructor(
		private client: Client,
		private changed: () => void,
	) {}

	ask(query: string): void {
		if (query === this.query) return;
		this.query = query;
		this.count = null;
		this.total = 0;
		this.index = -1;
		this.problem = null;
		this.marks = [];
		this.pages.clear();
		if (query) void this.page(0);
		this.changed();
	}

	private async page(number: number): Promise<Found[]> {
		const known = this.pages.get(number);
		const { query } = this;
		if (known || !query) return known ?? [];
		try {
			const answer = await this.client.json("search", {
				q: query,
				limit: PAGE,
				offset: number * PAGE,
				pixels: number ? null : MARKS,
			});
			if (query !== this.query) return [];
			if (answer.marks) this.marks = answer.marks;
			this.count = answer.count;
			this.total = answer.total_ns;
			this.pages.set(number, answer.hits);
			this.changed();
			return answer.hits;
		} catch (error) {
			if (query === this.query) {
				this.problem =
					error instanceof Error ? error.message : String(error);
				this.count = 0;
				this.changed();
			}
			return [];
		}
	}

	/* The next (1) or previous (-1) one, around the ends; at first the first after `ns`. */
	async walk(by: number, ns: number): Promise<Found | null> {
		await this.page(0);
		if (!this.count) return null;
		if (this.index < 0) this.index = await this.nextAfter(ns);
		else this.index = (this.index + by + this.count) % this.count;
		const page = await this.page(Math.floor(this.index / PAGE));
		return page[this.index % PAGE] ?? null;
	}

	/* The place of the first hit from a moment on; where there is none the first of all. */
	private async nextAfter(ns: number): Promise<number> {
		const from = Math.max(0, Math.round(ns));
		const asked = { q: this.query, limit: 0, from };
		const answer = await this.client.json("search", asked);
		return answer.next ?? 0;
	}

	/* Where in the run there are hits, all of them, for the minimap. */
	starts(run: Span): number[] {
		const pixel = (run.to - run.from) / MARKS;
		return this.marks.flatMap((count, i) => (count ? [run.from + (i + 0.5) * pixel] : []));
	}

	/* Of each label of a sheet: 1 where it is a hit. */
	labelsOf(sheet: Sheet): Uint8Array | null {
		if (!this.query) return null;
		const known = this.labels.get(sheet);
		if (known?.query === this.query) return known.found;
		const matches = matcher(this.query);
		const found = new Uint8Array(sheet.labels.length);
		sheet.labels.forEach((label, i) => {
			found[i] = matches(label) ? 1 : 0;
		});
		this.labels.set(sheet, { query: this.query, found });
		return found;
	}
}

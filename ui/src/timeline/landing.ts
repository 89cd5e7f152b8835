/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landing.ts - brings the target of a jump into view: window, hidden lanes, scroll position.
 */
import { store, writeSelection } from "../core/store";
import type { Spotted } from "./draw/overlay";
import { foldKey, isFoldKey } from "./fold";
import { Jump } from "./jump";
import { GROUP, laneTop, type Row, trackKey } from "./model";
import { fitted } from "./span";
import type { Stage } from "./stage";

export class Landing {
	readonly jump: Jump;
	private due = false; /* what a jump led to is not in view yet */

	constructor(private stage: Stage) {
		this.jump = new Jump(stage.client, () => this.known());
	}

	follow(text: string): void {
		if (this.jump.follow(text)) this.due = true;
	}

	/* The selection is what the last jump led to. */
	get isHere(): boolean {
		const { selected } = store.view;
		return selected !== null && this.jump.isTo(writeSelection(selected));
	}

	/* What a jump needs is known: rows and window hold all of it. */
	private known(): void {
		const { stage } = this;
		const span = this.jump.span();
		const isIn = span && span.from >= stage.span.from && span.to <= stage.span.to;
		if (store.jumped && span && !isIn)
			stage.moveTo(fitted(span.from, span.to, stage.whole));
		if (store.jumped) {
			const deep = [...stage.look.deep].filter((key) => !isFoldKey(key));
			if (deep.length < stage.look.deep.size)
				stage.change({ deep: new Set(deep) });
		}
		store.jumped = false;
		stage.relayout();
		this.again();
		stage.tell();
	}

	/* The window became lower. */
	again(): void {
		this.due = true;
		this.settle();
	}

	/* Opens hidden lanes, and scrolls as far as is needed for all that a jump led to. */
	settle(): void {
		const { stage } = this;
		if (!this.due || !stage.isChosen) return;
		const found = this.jump.spots().flatMap((spot) => {
			const row = stage.layout.find.get(trackKey(spot.file, spot.track));
			return row ? [{ spot, row }] : [];
		});
		const hidden = found.find(({ spot, row }) => this.isHidden(spot, row));
		if (hidden)
			return stage.change({
				deep: new Set([...stage.look.deep, hidden.row.key]),
			});
		if (!found.length) return;
		/* lanes without Python frames are known when the slices are here, and slices come
		 * of rows that are in view: until then the top of the row counts */
		const isKnown = (row: Row) => Boolean(stage.supply.tiles.of(row.key)?.now);
		const tops = found.map(({ spot, row }) =>
			laneTop(row, isKnown(row) ? Math.max(0, stage.laneOf(row, spot)) : 0),
		);
		const top = Math.min(...tops);
		const bottom = Math.max(...tops.map((one, i) => one + (found[i]?.row.lane ?? 0)));
		const viewport = stage.height - stage.rowsTop;
		const free = viewport - GROUP - (bottom - top);
		if (top < stage.scroll + GROUP || bottom > stage.scroll + viewport)
			stage.scrollTo(Math.max(0, top - GROUP - Math.max(0, free / 3)));
		this.due = !found.every(({ row }) => isKnown(row));
	}

	private isHidden(spot: Spotted, row: Row): boolean {
		const lane = this.stage.laneOf(row, spot);
		if (lane >= 0 && lane < row.lanes) return false;
		return row.hidden > 0 && !this.stage.look.deep.has(row.key);
	}

	/* What opens the rank of a spot; of a member of the collective that is shown its row, beside
	 * the others. */
	textTo(spot: Spotted): string {
		const { selected } = store.view;
		const isMember = selected && this.jump.now?.order && this.jump.has(spot);
		return isMember ? writeSelection(selected) : `file.${spot.file}`;
	}

	/* Rows of a rank that the jump folded are shown again. */
	unfold(file: number): boolean {
		const { stage } = this;
		const some = stage.layout.find.get(String(file))?.some;
		const isFolded = stage.layout.find.get(foldKey(file))?.open === false;
		if (some) stage.change({ jump: `file.${file}` });
		else if (isFolded)
			stage.change({ deep: new Set([...stage.look.deep, foldKey(file)]) });
		return some === true || isFolded;
	}

	/* A rank of which the jump shows some rows is opened whole first. */
	toggle({ file, open, some }: Row): void {
		const { look } = this.stage;
		const { now } = this.jump;
		const files = new Set(look.open);
		const deep = new Set(look.deep);
		deep.delete(foldKey(file));
		if (some) deep.add(foldKey(file));
		if (!open || some) files.add(file);
		else files.delete(file);
		/* the rank that a jump alone has opened */
		const ends = open && !some && now?.files.has(file) && !now.order;
		this.stage.change({ open: files, deep, ...(ends ? { jump: "" } : {}) });
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawer.tsx - details of the selection, above the status bar. Its height is remembered.
 */
import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { type Selection, store, useView } from "../core/store";
import { Boundary } from "./boundary";
import { DETAILS } from "./details";
import { keep, readKept } from "./theme";

const KEY = "stepscope-drawer";
const LEAST = 96;
const USUAL = 280;

/* Pages of rows and names have charts. */
const PAGES = ["row", "name"];
const SHARE_OF_PAGE = 0.46;

/* Pixels of an arrow key. */
const STRIDE = 24;

/* The tab above keeps a third of the window. */
function fitting(height: number): number {
	return Math.round(Math.max(LEAST, Math.min(height, innerHeight * 0.66)));
}

function useHeight(kind: string) {
	const [kept, change] = useState(() => Number(readKept(KEY)));
	const usual = PAGES.includes(kind) ? Math.max(USUAL, innerHeight * SHARE_OF_PAGE) : USUAL;
	const set = (next: number) => {
		change(fitting(next));
		keep(KEY, String(fitting(next)));
	};
	return [fitting(kept || usual), set] as const;
}

function Edge({ height, set }: { height: number; set: (height: number) => void }) {
	return (
		<div
			class="drawer-edge"
			role="separator"
			aria-orientation="horizontal"
			aria-label="Height of the details"
			aria-valuenow={height}
			aria-valuemin={LEAST}
			tabIndex={0}
			onPointerDown={(event) => {
				const edge = event.currentTarget;
				const bottom = event.clientY + height;
				const move = (moved: PointerEvent) => set(bottom - moved.clientY);
				edge.setPointerCapture(event.pointerId);
				edge.addEventListener("pointermove", move);
				const end = () => edge.removeEventListener("pointermove", move);
				edge.addEventListener("pointerup", end, { once: true });
				edge.addEventListener("pointercancel", end, { once: true });
				event.preventDefault();
			}}
			onKeyDown={(event) => {
				if (event.key === "ArrowUp") set(height + STRIDE);
				else if (event.key === "ArrowDown") set(height - STRIDE);
				else return;
				event.preventDefault();
				event.stopPropagation();
			}}
		/>
	);
}

export function Drawer() {
	const selected = useView((view) => view.selected);
	const [height, set] = useHeight(selected?.kind ?? "");
	const details = selected ? DETAILS[selected.kind] : undefined;

	if (!selected || !details) return null;
	const Body = details.component as ComponentType<{ selected: Selection }>;
	return (
		<aside class="drawer" aria-label={details.title} style={{ height: `${height}px` }}>
			<Edge height={height} set={set} />
			<button
				type="button"
				class="button quiet drawer-close"
				aria-label="Close the details (Esc)"
				title="Close (Esc)"
				onClick={() => store.set({ selected: null })}
			>
				✕
			</button>
			<div class="drawer-body">
				<Boundary key={JSON.stringify(selected)}>
					<Body selected={selected} />
				</Boundary>
			</div>
		</aside>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gestures.ts - pointer, wheel and keys on a chart: zoom and pan.
 */
import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import { LEFT } from "./drawing";
import { clampWindow, type Window } from "./model";

/* A hand that clicks moves less than this. */
const CLICK_PIXELS = 4;

/* A pixel of the wheel: 100 of them (one notch) zoom by a quarter, as on the timeline. */
const WHEEL = 0.0022;

export type Jump = "peak" | "next-failure" | "previous-failure";

interface Plot {
	window: Window;
	length: number;
	zoom: (window: Window) => void;
	jump: (to: Jump) => void;
}

export interface Point {
	x: number;
	y: number;
}

/* Where a drag began: with the window of then it moves it, else it chooses a stretch. */
interface Drag {
	x: number;
	window: Window | null;
}

function keysOf(plot: Plot, go: (next: Window) => void, scale: (factor: number) => void) {
	const { from, to } = plot.window;
	const step = (to - from) / 4;
	const back = () => go({ from: from - step, to: to - step });
	const on = () => go({ from: from + step, to: to + step });
	const all = () => go({ from: 0, to: plot.length });
	const keys: Record<string, () => void> = {
		ArrowLeft: back,
		a: back,
		ArrowRight: on,
		d: on,
		"+": () => scale(0.5),
		w: () => scale(0.5),
		"-": () => scale(2),
		s: () => scale(2),
		r: all,
		Home: all,
		p: () => plot.jump("peak"),
		o: () => plot.jump("next-failure"),
		O: () => plot.jump("previous-failure"),
	};
	return (event: KeyboardEvent) => {
		const act = keys[event.key] ?? keys[event.key.toLowerCase()];
		if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		act();
	};
}

export function useGestures(
	canvas: RefObject<HTMLCanvasElement | null>,
	width: number,
	plot: Plot,
	click: (at: Point) => void,
) {
	const [hover, point] = useState<Point | null>(null);
	const [select, mark] = useState<[number, number] | null>(null);
	const drag = useRef<Drag | null>(null);
	const { from, to } = plot.window;

	const placeOf = (event: MouseEvent): Point => {
		const box = canvas.current?.getBoundingClientRect();
		const x = event.clientX - (box?.left ?? 0) - LEFT;
		return {
			x: Math.min(Math.max(0, x), width - 1),
			y: event.clientY - (box?.top ?? 0),
		};
	};
	const go = (next: Window) => plot.zoom(clampWindow(next, plot.length));
	const scale = (factor: number, at = 0.5) => {
		const center = from + (to - from) * at;
		go({ from: center - (center - from) * factor, to: center + (to - center) * factor });
	};
	const moveBy = (start: Window, pixels: number) => {
		const by = ((start.to - start.from) * pixels) / width;
		go({ from: start.from + by, to: start.to + by });
	};
	const leave = () => {
		point(null);
		drag.current = null;
		mark(null);
	};
	const onMouseUp = (event: MouseEvent) => {
		const at = placeOf(event);
		const begun = drag.current;
		drag.current = null;
		mark(null);
		if (!begun) return;
		const value = (x: number) => from + ((to - from) * x) / width;
		if (Math.abs(at.x - begun.x) < CLICK_PIXELS) click(at);
		else if (!begun.window)
			go({ from: value(Math.min(at.x, begun.x)), to: value(Math.max(at.x, begun.x)) });
	};
	const onMouseMove = (event: MouseEvent) => {
		const at = placeOf(event);
		const begun = drag.current;
		point(at);
		if (begun?.window) moveBy(begun.window, begun.x - at.x);
		else if (begun) mark([begun.x, at.x]);
	};
	const onWheel = (event: WheelEvent) => {
		/* the page scrolls unless the chart was chosen */
		const chosen = document.activeElement === canvas.current;
		if (!chosen && !event.ctrlKey && !event.shiftKey) return;
		event.preventDefault();
		/* with Shift some browsers turn the wheel sideways */
		const turn = event.deltaY || event.deltaX;
		if (event.shiftKey) moveBy(plot.window, turn);
		else scale(Math.exp(turn * WHEEL), placeOf(event).x / width);
	};
	const handlers = {
		onMouseUp,
		onMouseMove,
		onWheel,
		onMouseLeave: leave,
		onKeyDown: keysOf(plot, go, scale),
		onMouseDown: (event: MouseEvent) => {
			if (event.button !== 0) return;
			drag.current = {
				x: placeOf(event).x,
				window: event.shiftKey ? plot.window : null,
			};
		},
		onDblClick: () => go({ from: 0, to: plot.length }),
	};
	return { hover, select, handlers };
}

/*
 * gestures.ts - pointer, wheel and keys on a chart: a window that moves and zooms.
 */
import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import { LEFT } from "./drawing";
import { clampWindow, type Window } from "./model";

/* A hand that clicks moves less than this. */
const CLICK_PIXELS = 4;

interface Plot {
	window: Window;
	length: number;
	zoom: (window: Window) => void;
}

function keysOf(plot: Plot, go: (next: Window) => void, scale: (factor: number) => void) {
	const { from, to } = plot.window;
	const step = (to - from) / 4;
	const back = () => go({ from: from - step, to: to - step });
	const on = () => go({ from: from + step, to: to + step });
	const keys: Record<string, () => void> = {
		ArrowLeft: back,
		a: back,
		ArrowRight: on,
		d: on,
		"+": () => scale(0.5),
		w: () => scale(0.5),
		"-": () => scale(2),
		s: () => scale(2),
		Home: () => go({ from: 0, to: plot.length }),
	};
	return (event: KeyboardEvent) => {
		const act = keys[event.key];
		if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		act();
	};
}

export function useGestures(
	canvas: RefObject<HTMLCanvasElement | null>,
	width: number,
	plot: Plot,
	click: (x: number, y: number) => void,
) {
	const [hover, point] = useState<number | null>(null);
	const [select, mark] = useState<[number, number] | null>(null);
	const drag = useRef<number | null>(null);
	const { from, to } = plot.window;

	const xOf = (event: MouseEvent) => {
		const box = canvas.current?.getBoundingClientRect();
		return Math.min(Math.max(0, event.clientX - (box?.left ?? 0) - LEFT), width - 1);
	};
	const go = (next: Window) => plot.zoom(clampWindow(next, plot.length));
	const scale = (factor: number, at = 0.5) => {
		const center = from + (to - from) * at;
		go({ from: center - (center - from) * factor, to: center + (to - center) * factor });
	};
	const leave = () => {
		point(null);
		drag.current = null;
		mark(null);
	};
	const onMouseUp = (event: MouseEvent) => {
		const x = xOf(event);
		const begun = drag.current;
		leave();
		if (begun === null) return;
		const at = (value: number) => from + ((to - from) * value) / width;
		if (Math.abs(x - begun) >= CLICK_PIXELS)
			go({ from: at(Math.min(x, begun)), to: at(Math.max(x, begun)) });
		else click(x, event.clientY - (canvas.current?.getBoundingClientRect().top ?? 0));
	};
	const handlers = {
		onMouseUp,
		onMouseLeave: leave,
		onKeyDown: keysOf(plot, go, scale),
		onMouseMove: (event: MouseEvent) => {
			const x = xOf(event);
			point(x);
			if (drag.current !== null) mark([drag.current, x]);
		},
		onMouseDown: (event: MouseEvent) => {
			if (event.button === 0) drag.current = xOf(event);
		},
		onDblClick: () => go({ from: 0, to: plot.length }),
		onWheel: (event: WheelEvent) => {
			/* the page scrolls unless the chart was chosen */
			const chosen = document.activeElement === canvas.current;
			if (!chosen && !event.ctrlKey) return;
			event.preventDefault();
			scale(event.deltaY > 0 ? 1.25 : 0.8, xOf(event) / width);
		},
	};
	return { hover, select, handlers };
}

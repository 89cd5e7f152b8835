/* SPDX-License-Identifier: Apache-2.0 */
/*
 * surface.ts - canvases for charts: they fit their container, are sharp on every screen and
 * redraw when the theme changes.
 */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { parseColor } from "../core/colors";

/* The width of an element, as it changes, but this much at least; first what is usual. */
export function useWidth<T extends HTMLElement>(
	least = 0,
	usual = 0,
): [RefObject<T | null>, number] {
	const ref = useRef<T>(null);
	const [width, change] = useState(usual);
	useLayoutEffect(() => {
		const element = ref.current;
		if (!element) return;
		const look = () => change(Math.max(least, Math.floor(element.clientWidth)));
		const watch = new ResizeObserver(look);
		look();
		watch.observe(element);
		return () => watch.disconnect();
	}, []);
	return [ref, width];
}

/* Another number each time the theme changes. */
export function useTheme(): number {
	const [count, change] = useState(0);
	useEffect(() => {
		const watch = new MutationObserver(() => change((last) => last + 1));
		watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
		return () => watch.disconnect();
	}, []);
	return count;
}

export function tokenOf(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function rgbOf(token: string): [number, number, number] {
	return parseColor(tokenOf(token));
}

/* A context whose units are CSS pixels. */
export function beginDrawing(
	canvas: HTMLCanvasElement,
	width: number,
	height: number,
): CanvasRenderingContext2D | null {
	const ratio = devicePixelRatio || 1;
	canvas.width = Math.max(1, Math.round(width * ratio));
	canvas.height = Math.max(1, Math.round(height * ratio));
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	const context = canvas.getContext("2d");
	context?.scale(ratio, ratio);
	context?.clearRect(0, 0, width, height);
	return context;
}

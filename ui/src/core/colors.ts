/*
 * colors.ts - what colours mean, everywhere the same: the numbers of docs/formats/viewer.md.
 * The values are in style.css (--c-compute ...), one set a theme; Okabe and Ito's palette,
 * darkened or lightened to 3:1 against the background.
 */
export const COLORS = [
	"compute",
	"communication",
	"copy",
	"operator",
	"runtime",
	"python",
	"input",
	"optimizer",
	"range",
	"idle",
	"other",
] as const;

export const COLOR_WORDS = [
	"compute kernel",
	"communication",
	"copy",
	"host operator",
	"runtime call",
	"Python",
	"input",
	"optimizer",
	"range of the program",
	"idle",
	"other",
] as const;

export const CAUSES = [
	"profiler",
	"input",
	"allocator",
	"compile",
	"gc",
	"sync",
	"launch",
	"latency",
	"dependency",
	"unknown",
] as const;

/* The colours of the theme that is on, for canvases. */
export function readPalette(): string[] {
	const style = getComputedStyle(document.documentElement);
	return COLORS.map((name) => style.getPropertyValue(`--c-${name}`).trim());
}

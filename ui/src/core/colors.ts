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

/*
 * Whose work the device waited for, in the colour of that work: the host's operators launch
 * too slowly, a runtime call takes its time, another rank or stream is late.
 */
export const CAUSE_COLORS: Record<(typeof CAUSES)[number], (typeof COLORS)[number]> = {
	profiler: "other",
	input: "input",
	allocator: "runtime",
	compile: "python",
	gc: "python",
	sync: "idle",
	launch: "operator",
	latency: "runtime",
	dependency: "communication",
	unknown: "other",
};

/* The view gaps spells two causes out. */
export function causeColor(name: string): (typeof COLORS)[number] {
	const spelled: Record<string, string> = {
		"launch-bound": "launch",
		"launch latency": "latency",
	};
	const found = CAUSES.find((cause) => cause === (spelled[name] ?? name));
	return found ? CAUSE_COLORS[found] : "idle";
}

/* Red, green, blue of #rrggbb; built pages have the short form, #fff. */
export function parseColor(color: string): [number, number, number] {
	const long = color.replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3");
	const hex = /^#([0-9a-f]{6})$/i.exec(long)?.[1];
	if (!hex) return [128, 128, 128];
	const value = Number.parseInt(hex, 16);
	return [value >> 16, (value >> 8) & 255, value & 255];
}

/* The colours of the theme that is on, for canvases. */
export function readPalette(): string[] {
	const style = getComputedStyle(document.documentElement);
	return COLORS.map((name) => style.getPropertyValue(`--c-${name}`).trim());
}

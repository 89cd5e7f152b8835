/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colors.ts - what colours mean, the same everywhere: the numbers of docs/formats/viewer.md.
 * The values are in style.css (--c-compute ...), one set per theme: Okabe and Ito's palette,
 * darkened or lightened to 3:1 against the background and moved as little as it takes so that any
 * two are at least 12 apart in CIELAB for protan and deutan readers (tests/colors.mjs). The extra
 * hues were chosen so that any two are at least 16 apart under three simulated kinds of colour
 * blindness.
 */
import type { Cause, Coloring, PartLook } from "./types";

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
	"user annotation",
	"idle",
	"other",
] as const;

/* Why a device was idle, as the core tells it: the number of a gap's cause is the place here. */
let causes: readonly Cause[] = [];

/* Called when a run is open, before anything is drawn. */
export function learnCauses(told: readonly Cause[]): void {
	causes = told;
}

export function allCauses(): readonly Cause[] {
	return causes;
}

export function causeOf(name: string): Cause | undefined {
	return causes.find((cause) => cause.name === name);
}

export function causeColor(name: string): (typeof COLORS)[number] {
	return COLORS[causeOf(name)?.color ?? COLORS.indexOf("idle")] ?? "idle";
}

/* What can give slices of the timeline their colour; the first is the default. */
let colorings: readonly Coloring[] = [{ name: "category", about: "" }];

export function learnColorings(told: readonly Coloring[]): void {
	if (told.length) colorings = told;
}

export function allColorings(): readonly Coloring[] {
	return colorings;
}

/* One that is not known is the default. */
export function coloringOf(name: string | undefined): Coloring {
	return (
		colorings.find((one) => one.name === name) ??
		colorings[0] ?? { name: "category", about: "" }
	);
}

/* Colours of what has no meaning of its own, behind those above: eight, and the rest. */
const HUES = ["hue-1", "hue-2", "hue-3", "hue-4", "hue-5", "hue-6", "hue-7", "hue-8", "hue-rest"];

/* The token of a colour's number, as `color` and `paint` of tiles have it. */
export function colorToken(number: number): string {
	return `--c-${COLORS[number] ?? HUES[number - COLORS.length] ?? "other"}`;
}

/* A part of a step as charts draw it. */
export function kindOf(look: PartLook) {
	return { ...look, color: COLORS[look.color] ?? "other" };
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
	return [...COLORS, ...HUES].map((_, i) => style.getPropertyValue(colorToken(i)).trim());
}

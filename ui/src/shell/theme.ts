/* SPDX-License-Identifier: Apache-2.0 */
/*
 * theme.ts - light or dark: the system's choice, unless the user chose here.
 */
export type Theme = "system" | "light" | "dark";

const KEY = "stepscope-theme";

/* Heard by those who draw on canvases. */
export const THEME_EVENT = "stepscope-theme";

const dark = matchMedia("(prefers-color-scheme: dark)");

/* Storage is refused in some pages from disk: then the choice lasts as long as the page. */
export function readKept(key: string): string | null {
	try {
		return localStorage.getItem(key);
	} catch {
		return null;
	}
}

export function keep(key: string, value: string): void {
	try {
		localStorage.setItem(key, value);
	} catch {
		return;
	}
}

export function readTheme(): Theme {
	const kept = readKept(KEY);
	return kept === "light" || kept === "dark" ? kept : "system";
}

function apply(theme: Theme): void {
	const now = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
	document.documentElement.dataset.theme = now;
	dispatchEvent(new Event(THEME_EVENT));
}

export function setTheme(theme: Theme): void {
	keep(KEY, theme);
	apply(theme);
}

export function beginTheme(): void {
	apply(readTheme());
	dark.addEventListener("change", () => apply(readTheme()));
}

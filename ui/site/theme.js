/* SPDX-License-Identifier: Apache-2.0 */
/*
 * theme.js - the theme that the reader chose, before anything is drawn.
 */
try {
	const theme = localStorage.getItem("stepscope-site-theme");
	if (theme) document.documentElement.dataset.theme = theme;
} catch {
	/* no storage: the theme is that of the system */
}

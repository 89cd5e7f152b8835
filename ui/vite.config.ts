/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vite.config.ts - one self-contained page: script, style, worker and core inline.
 *
 *     STEPSCOPE_WASM=stepscope.wasm vite build
 *
 * Without the variable the page has no core of its own: it can only talk to a server.
 */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { checkBundled } from "./bundled.ts";

/* The core as text: base64 of gzip, in an element that is no script. */
function embedCore(path: string | undefined): Plugin {
	return {
		name: "embed-core",
		transformIndexHtml: {
			order: "post",
			handler(html) {
				if (!path) return html;
				const text = gzipSync(readFileSync(path), { level: 9 }).toString("base64");
				const open = '<script type="application/x-wasm" id="stepscope-core">';
				return html.replace("</body>", () => `\t${open}${text}</script>\n\t</body>`);
			},
		},
	};
}

const bundled = checkBundled();

export default defineConfig({
	base: "./",
	plugins: [...bundled.page, viteSingleFile(), embedCore(process.env.STEPSCOPE_WASM)],
	worker: { plugins: () => bundled.worker },
	build: {
		target: "es2022",
		outDir: "dist",
		emptyOutDir: true,
		reportCompressedSize: false,
		modulePreload: false,
	},
	oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
	server: { host: "127.0.0.1", strictPort: true },
});

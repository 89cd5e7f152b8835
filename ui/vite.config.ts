/*
 * vite.config.ts - one self-contained page: script, style and everything else inline.
 */
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
	base: "./",
	plugins: [viteSingleFile()],
	build: { target: "es2022", outDir: "dist", emptyOutDir: true, reportCompressedSize: false },
	oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
	server: { host: "127.0.0.1", strictPort: true },
});

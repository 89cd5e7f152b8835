/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.mjs - modules of the page as Node can run them, for tests without a browser.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/* What a file of src/ exports. */
export async function load(path) {
	const out = mkdtempSync(join(tmpdir(), "stepscope-unit-"));
	try {
		await build({
			root: ROOT,
			configFile: false,
			logLevel: "silent",
			oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
			build: {
				ssr: join(ROOT, "src", path),
				outDir: out,
				emptyOutDir: false,
				target: "node20",
			},
			ssr: { noExternal: true },
		});
		const name = `${basename(path).replace(/\.tsx?$/, "")}`;
		const made = [`${name}.js`, `${name}.mjs`].map((one) => join(out, one));
		for (const file of made)
			try {
				return await import(pathToFileURL(file).href);
			} catch (error) {
				if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
			}
		throw new Error(`${path} was not built`);
	} finally {
		rmSync(out, { recursive: true, force: true });
	}
}

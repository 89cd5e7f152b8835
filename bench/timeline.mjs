/*
 * timeline.mjs - runs timeline_costs.wasm: node bench/timeline.mjs TIMELINE_COSTS_WASM SLICES
 */
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const [path, slices] = process.argv.slice(2);
if (!slices) {
	console.error("usage: node bench/timeline.mjs TIMELINE_COSTS_WASM SLICES");
	process.exit(2);
}
const wasi = new WASI({ version: "preview1", args: ["timeline_costs", slices] });
const module = await WebAssembly.compile(readFileSync(path));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));

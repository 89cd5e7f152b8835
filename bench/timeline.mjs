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
const imports = wasi.getImportObject();
let memory;
/*
 * CPU time. Node's own function was seen to break Node itself (20.20 dies at the end, "Invalid
 * bytecode") after thousands of calls on a memory that had grown.
 */
imports.wasi_snapshot_preview1.clock_time_get = (clock, precision, at) => {
	const { user, system } = process.cpuUsage();
	new DataView(memory.buffer).setBigUint64(at, BigInt(user + system) * 1000n, true);
	return 0;
};
const module = await WebAssembly.compile(readFileSync(path));
const instance = await WebAssembly.instantiate(module, imports);
memory = instance.exports.memory;
process.exitCode = wasi.start(instance);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.mjs - runs timeline_costs.wasm: node bench/timeline.mjs TIMELINE_COSTS_WASM SLICES
 *
 * The few functions of WASI that it needs stand here, as a page would have them: with
 * those of node:wasi Node 20.20 often died at the end ("Invalid bytecode") with large traces.
 */
import { readFileSync, writeSync } from "node:fs";

const [path, slices] = process.argv.slice(2);
if (!slices) {
	console.error("usage: node bench/timeline.mjs TIMELINE_COSTS_WASM SLICES");
	process.exit(2);
}

let exports;
const view = () => new DataView(exports.memory.buffer);
const args = ["timeline_costs\0", `${slices}\0`];

class Exit extends Error {
	constructor(code) {
		super(`exit ${code}`);
		this.code = code;
	}
}

const functions = {
	args_sizes_get(count, bytes) {
		view().setUint32(count, args.length, true);
		view().setUint32(bytes, args.join("").length, true);
		return 0;
	},
	args_get(pointers, bytes) {
		for (const arg of args) {
			view().setUint32(pointers, bytes, true);
			new Uint8Array(exports.memory.buffer).set(Buffer.from(arg), bytes);
			pointers += 4;
			bytes += arg.length;
		}
		return 0;
	},
	/* CPU time, whatever the clock */
	clock_time_get(clock, precision, at) {
		const { user, system } = process.cpuUsage();
		view().setBigUint64(at, BigInt(user + system) * 1000n, true);
		return 0;
	},
	fd_write(fd, pieces, count, written) {
		let sum = 0;
		for (let i = 0; i < count; i++) {
			const from = view().getUint32(pieces + 8 * i, true);
			const length = view().getUint32(pieces + 8 * i + 4, true);
			writeSync(fd, new Uint8Array(exports.memory.buffer, from, length));
			sum += length;
		}
		view().setUint32(written, sum, true);
		return 0;
	},
	proc_exit(code) {
		throw new Exit(code);
	},
};

const module = await WebAssembly.compile(readFileSync(path));
const imports = {};
/* 52: not supported; the program gets along without the others */
for (const { name } of WebAssembly.Module.imports(module))
	imports[name] = functions[name] ?? (() => 52);
exports = (await WebAssembly.instantiate(module, { wasi_snapshot_preview1: imports })).exports;
try {
	exports._start();
} catch (error) {
	if (!(error instanceof Exit))
		throw error;
	process.exitCode = error.code;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wasm.mjs - the WebAssembly module answers byte for byte as the command does.
 *
 *     node tests/wasm.mjs STEPSCOPE_WASM STEPSCOPE_NATIVE [TRACE...]
 *
 * Every trace (.json or .json.gz) is unpacked to a plain file, and packed by the command, which
 * reads both; the module reads copies in memory that go by the same paths. Without a trace that
 * exists, a small one is made up. At the end a trace of 100 MB is loaded by both, for the ratio of
 * their times.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { performance } from "node:perf_hooks";
import { gunzipSync } from "node:zlib";

const VIEWS = ["files", "devices", "categories", "tracks", "steps", "quality"];
const BIG_BYTES = 100e6;

/* No traces: dropped on the page they end in the sentence that the command has for them. */
const WRONG = [
	["plot.png", "\x89PNG\r\n\x1a\n"],
	["page.html", "<!DOCTYPE html><html></html>"],
	["run.nsys-rep", "\x01\x02\x03\x04"],
	["pointer.json", "version https://git-lfs.github.com/spec/v1\n"],
	["model.pt", "PK\x03\x04archive/data.pkl"],
	["train.log", "step 1 loss 2.31\n"],
	["empty.json", ""],
];

/* The module behind functions that take and give strings and bytes. */
class Module {
	static async load(path) {
		const module = await WebAssembly.compile(readFileSync(path));
		const self = new Module();
		const stepscope = {
			read: (at, room) => self.read(at >>> 0, room >>> 0),
			progress: () => 1,
			work: () => {},
		};
		const imports = { wasi_snapshot_preview1: self.wasi(module), stepscope };
		const instance = await WebAssembly.instantiate(module, imports);
		self.exports = instance.exports;
		self.exports._initialize();
		return self;
	}

	/* As the page does it: a clock, and no files (EBADF). */
	wasi(module) {
		const calls = {};
		for (const wanted of WebAssembly.Module.imports(module))
			if (wanted.module === "wasi_snapshot_preview1")
				calls[wanted.name] = () => 8;
		calls.clock_time_get = (_clock, _precision, at) => {
			const ns = BigInt(Math.round(performance.now() * 1e6));
			new DataView(this.exports.memory.buffer).setBigUint64(at >>> 0, ns, true);
			return 0;
		};
		return calls;
	}

	/* The next bytes of the file that is being added. */
	read(at, room) {
		const part = this.pulled.subarray(0, room);
		this.pulled = this.pulled.subarray(part.length);
		new Uint8Array(this.exports.memory.buffer).set(part, at);
		return part.length;
	}

	withText(text, use) {
		const bytes = Buffer.from(`${text}\0`);
		const at = this.exports.ss_wasm_alloc(bytes.length) >>> 0;
		if (at === 0)
			throw new Error(`no room for ${bytes.length} bytes`);
		/* the view on its memory is made after the last growth */
		new Uint8Array(this.exports.memory.buffer).set(bytes, at);
		try {
			return use(at);
		} finally {
			this.exports.ss_wasm_free(at);
		}
	}

	error(handle) {
		const bytes = new Uint8Array(this.exports.memory.buffer);
		const at = this.exports.ss_wasm_error(handle) >>> 0;
		return Buffer.from(bytes.subarray(at, bytes.indexOf(0, at))).toString();
	}

	/* A run of one file. What went wrong stands in the error of the handle. */
	open(bytes, name) {
		const handle = this.exports.ss_wasm_new();
		this.exports.ss_wasm_begin(handle);
		this.pulled = bytes;
		const added = this.withText(name, (at) =>
			this.exports.ss_wasm_add(handle, at, bytes.length));
		if (added)
			this.exports.ss_wasm_end(handle);
		return handle;
	}

	/* NULL when it failed. */
	ask(handle, target) {
		const result = this.withText(target, (at) => this.exports.ss_wasm_ask(handle, at));
		if (result === 0)
			return null;
		const memory = this.exports.memory.buffer;
		const [at, length] = new Uint32Array(memory, result >>> 0, 2);
		return Buffer.from(new Uint8Array(memory, at, length));
	}

	close(handle) {
		this.exports.ss_wasm_close(handle);
	}
}

function native(command, view, path, ...options) {
	const args = [view, "--format", "json", ...options, path];
	const result = spawnSync(command, args, { maxBuffer: 1 << 30 });
	if (result.error)
		throw result.error;
	return result;
}

function timed(work) {
	const begin = performance.now();
	const result = work();
	return [result, performance.now() - begin];
}

/* One line of each text around the first byte that differs. */
function firstDifference(ours, theirs) {
	let at = 0;
	while (at < ours.length && at < theirs.length && ours[at] === theirs[at])
		at++;
	const from = Math.max(0, at - 60);
	const near = (bytes) => JSON.stringify(bytes.subarray(from, at + 60).toString());
	return `  byte ${at}\n  wasm:   ${near(ours)}\n  native: ${near(theirs)}`;
}

class Comparison {
	constructor(module, command) {
		this.module = module;
		this.command = command;
		this.equal = 0;
		this.wasmMs = 0;
		this.nativeMs = 0;
	}

	fail(path, view, detail) {
		throw new Error(`${view} of ${path} differs\n${detail}`);
	}

	/* All views of one plain file. The module opens it anew for each, as the command does. */
	file(path) {
		const bytes = readFileSync(path);
		for (const view of VIEWS) {
			const [theirs, nativeMs] = timed(() =>
				native(this.command, view, path, "--threads", "1"));
			const [ours, wasmMs] = timed(() => this.answer(bytes, path, view));
			this.wasmMs += wasmMs;
			this.nativeMs += nativeMs;
			this.compare(path, view, ours, theirs);
		}
	}

	answer(bytes, path, view) {
		const handle = this.module.open(bytes, path);
		const refused = this.module.error(handle);
		const output = refused ? null : this.module.ask(handle, `view/${view}`);
		const error = refused || this.module.error(handle);
		this.module.close(handle);
		return { output, error };
	}

	compare(path, view, ours, theirs) {
		if (ours.output === null) {
			/* the command puts its own words around the sentence */
			const said = theirs.stderr.toString().trim();
			if (theirs.status === 0 || ours.error === "" || !said.includes(ours.error))
				this.fail(path, view, `  wasm: ${ours.error}\n  native: ${said}`);
		} else if (theirs.status !== 0) {
			this.fail(path, view, `  native: ${theirs.stderr}`);
		} else if (!ours.output.equals(theirs.stdout)) {
			this.fail(path, view, firstDifference(ours.output, theirs.stdout));
		}
		this.equal++;
	}
}

/* Events of some steps: an operator, its launch and its kernel, again and again. */
function* madeUpEvents(stepCount, opsPerStep) {
	const event = (cat, name, tid, ts, dur, args) =>
		JSON.stringify({ ph: "X", cat, name, pid: tid % 100, tid, ts, dur, args });
	const stepTime = opsPerStep * 30;
	let id = 0;
	for (let step = 0; step < stepCount; step++) {
		const begin = 1e6 + step * stepTime;
		const name = `ProfilerStep#${step}`;
		yield event("user_annotation", name, 100, begin, stepTime - 5, {});
		for (let op = 0; op < opsPerStep; op++) {
			const ts = begin + 1 + op * 29;
			id++;
			yield event("cpu_op", `aten::op_${op % 37}`, 100, ts, 20.125, {
				"External id": id, "Input Dims": [[op % 8, 64], [64, 64]] });
			yield event("cuda_runtime", "cudaLaunchKernel", 100, ts + 3, 5.5, {
				correlation: id, "External id": id });
			yield event("kernel", `void k_${op % 23}<int>(int)`, 7, ts + 12, 15.031, {
				device: 0, stream: 7, correlation: id, grid: [op % 9, 1, 1],
				block: [128, 1, 1], "registers per thread": 32 });
		}
	}
}

function madeUpTrace(bytesMin) {
	const parts = [];
	let length = 0;
	const stepCount = bytesMin ? 1e6 : 4;
	for (const event of madeUpEvents(stepCount, bytesMin ? 2000 : 40)) {
		parts.push(event);
		length += event.length + 2;
		if (bytesMin && length >= bytesMin)
			break;
	}
	const head = '{"schemaVersion": 1, "distributedInfo": {"rank": 3, "world_size": 8},';
	return `${head}\n"traceEvents": [\n${parts.join(",\n")}\n]}\n`;
}

/* A plain copy of the trace in the folder; .gz is taken off. */
function plainCopy(trace, folder, index) {
	const bytes = readFileSync(trace);
	const gzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
	const path = join(folder, `${index}_${basename(trace).replace(/\.gz$/, "")}`);
	writeFileSync(path, gzipped ? gunzipSync(bytes) : bytes);
	return path;
}

/* The command's pack of a plain file: both read the same bytes. */
function packOf(plain, command) {
	const result = spawnSync(command, ["pack", "--plain", "--force", plain]);
	if (result.status !== 0)
		throw new Error(`pack: ${result.stderr}`);
	return plain.replace(/\.json$/, ".stepscope");
}

/* The demo is simulated inside the module: its ranks are there, and it has a verdict. */
function demo(module) {
	const handle = module.exports.ss_wasm_new();
	module.exports.ss_wasm_begin(handle);
	const went = module.exports.ss_wasm_demo(handle) && module.exports.ss_wasm_end(handle);
	if (!went)
		throw new Error(`the demo: ${module.error(handle)}`);
	const job = JSON.parse(module.ask(handle, "job"));
	const verdict = JSON.parse(module.ask(handle, "view/diagnose"));
	if (job.files.length !== 8 || !verdict.findings.length)
		throw new Error(`the demo has ${job.files.length} ranks and no findings`);
	if (module.ask(handle, "nothing") !== null || !module.error(handle).includes("request"))
		throw new Error("a route that is not there is not refused");
	module.close(handle);
	const first = verdict.findings[0].rule;
	console.log(`wasm: the demo has ${job.files.length} ranks, first ${first}`);
}

/* The ratio of loading alone: the fastest of three, since others use the machine too. */
function loadRatio(module, command, folder) {
	const path = join(folder, "big.json");
	writeFileSync(path, madeUpTrace(BIG_BYTES));
	const bytes = readFileSync(path);
	let wasmMs = Infinity;
	let nativeMs = Infinity;
	for (let i = 0; i < 3; i++) {
		const [handle, openMs] = timed(() => module.open(bytes, path));
		if (module.error(handle) !== "")
			throw new Error(module.error(handle));
		module.close(handle);
		wasmMs = Math.min(wasmMs, openMs);
		nativeMs = Math.min(nativeMs,
			timed(() => native(command, "files", path, "--threads", "1"))[1]);
	}
	const rate = (ms) => (bytes.length / 1e3 / ms).toFixed(0);
	console.log(`wasm: ${(bytes.length / 1e6).toFixed(0)} MB load: ${wasmMs.toFixed(0)} ms ` +
		`(${rate(wasmMs)} MB/s), native with one thread ${nativeMs.toFixed(0)} ms ` +
		`(${rate(nativeMs)} MB/s), ratio ${(wasmMs / nativeMs).toFixed(2)}`);
}

async function main(wasmPath, command, traces) {
	const folder = mkdtempSync(join(tmpdir(), "stepscope-wasm-"));
	try {
		const module = await Module.load(wasmPath);
		const comparison = new Comparison(module, command);
		const made = join(folder, "made_up_rank3.json");
		writeFileSync(made, madeUpTrace(0));
		comparison.file(made);
		comparison.file(packOf(made, command));
		for (const [name, bytes] of WRONG) {
			writeFileSync(join(folder, name), Buffer.from(bytes, "latin1"));
			comparison.file(join(folder, name));
		}
		traces.filter((trace) => existsSync(trace)).forEach((trace, index) => {
			const plain = plainCopy(trace, folder, index);
			comparison.file(plain);
			comparison.file(packOf(plain, command));
		});
		const ratio = comparison.wasmMs / comparison.nativeMs;
		console.log(`wasm: ${comparison.equal} outputs equal, time wasm/native ` +
			`${ratio.toFixed(2)} (the command's start included)`);
		demo(module);
		loadRatio(module, command, folder);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

const [wasmPath, command, ...traces] = process.argv.slice(2);
if (!command) {
	console.error("usage: node tests/wasm.mjs STEPSCOPE_WASM STEPSCOPE_NATIVE [TRACE...]");
	process.exit(2);
}
main(wasmPath, command, traces).catch((error) => {
	console.error(`wasm: ${error.message}`);
	process.exitCode = 1;
});

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.ts - the C core as a WebAssembly module: see src/wasm/main.c for what it exports.
 */
import type { Work } from "../core/transport";

interface Exports {
	memory: WebAssembly.Memory;
	_initialize(): void;
	ss_wasm_alloc(bytes: number): number;
	ss_wasm_free(at: number): void;
	ss_wasm_new(): number;
	ss_wasm_begin(handle: number): number;
	ss_wasm_add(handle: number, name: number, bytes: number): number;
	ss_wasm_end(handle: number): number;
	ss_wasm_demo(handle: number): number;
	ss_wasm_ask(handle: number, target: number): number;
	ss_wasm_type(handle: number): number;
	ss_wasm_error(handle: number): number;
	ss_wasm_status(handle: number): number;
}

/* The next bytes of the file that is being added, no more than there is room; none at its end. */
export type Reader = (room: number) => Uint8Array | Promise<Uint8Array>;

export type Told = (events: number) => void;

export type Works = (work: Work) => void;

const NONE = new Uint8Array(0);

/* SS_ERR_LIMIT */
const LIMIT = 3;

/* WASI's EBADF */
const NO_FILE = 8;

const TOO_LARGE =
	"The files need more memory than a page can use (4 GB). Run `stepscope serve PATH` on the " +
	"machine that has the files; it has no such limit.";

type Call = (...numbers: number[]) => number;

/* The parts of WebAssembly by which a call waits for a promise of JavaScript. */
const waiting = WebAssembly as unknown as {
	Suspending?: new (call: (at: number, room: number) => Promise<number>) => Call;
	promising(call: Call): (...numbers: number[]) => Promise<number>;
};

/* Chromium 137 can, Firefox 140 cannot: there readers give bytes at once. */
export const CAN_WAIT = waiting.Suspending !== undefined;

class CoreError extends Error {}

/* What went wrong, for people: a page that is too small says what to do instead. */
export function sentenceOf(error: unknown): string {
	if (error instanceof RangeError) return `${error.message}. ${TOO_LARGE}`;
	if (error instanceof WebAssembly.RuntimeError)
		return `The core crashed: ${error.message}. Try \`stepscope PATH\` on these files.`;
	return error instanceof Error ? error.message : String(error);
}

export class Core {
	private exports: Exports;
	private handle: number;
	private reader: Reader = () => NONE;
	private told: Told = () => {};
	private works: Works = () => {};

	static async load(bytes: BufferSource): Promise<Core> {
		return new Core(await WebAssembly.compile(bytes));
	}

	private constructor(module: WebAssembly.Module) {
		const imports: WebAssembly.Imports = {
			stepscope: {
				read: waiting.Suspending
					? new waiting.Suspending(async (at, room) =>
							this.put(at, await this.reader(room)),
						)
					: (at: number, room: number) =>
							this.put(at, this.reader(room) as Uint8Array),
				progress: (_done: number, _total: number, events: number) => {
					this.told(events);
					return 1;
				},
				work: (doing: number, done: number, count: number, share: number) =>
					this.works({ doing: this.text(doing), done, count, share }),
			},
			wasi_snapshot_preview1: this.wasi(module),
		};
		const instance = new WebAssembly.Instance(module, imports);
		this.exports = instance.exports as unknown as Exports;
		this.exports._initialize();
		this.handle = this.exports.ss_wasm_new();
	}

	/* The clock is real; there are no files, and all else says so. */
	private wasi(module: WebAssembly.Module): WebAssembly.ModuleImports {
		const calls: WebAssembly.ModuleImports = {};
		for (const wanted of WebAssembly.Module.imports(module))
			if (wanted.module === "wasi_snapshot_preview1") calls[wanted.name] = () => NO_FILE;
		calls.clock_time_get = (_clock: number, _precision: bigint, at: number) => {
			const ns = BigInt(Math.round(performance.now() * 1e6));
			new DataView(this.exports.memory.buffer).setBigUint64(at >>> 0, ns, true);
			return 0;
		};
		return calls;
	}

	private bytes(at: number, length: number): Uint8Array {
		return new Uint8Array(this.exports.memory.buffer, at >>> 0, length >>> 0);
	}

	private put(at: number, bytes: Uint8Array): number {
		this.bytes(at, bytes.length).set(bytes);
		return bytes.length;
	}

	private text(at: number): string {
		const memory = new Uint8Array(this.exports.memory.buffer);
		const from = at >>> 0;
		return new TextDecoder().decode(memory.subarray(from, memory.indexOf(0, from)));
	}

	private keepText(text: string): number {
		const bytes = new TextEncoder().encode(`${text}\0`);
		const at = this.exports.ss_wasm_alloc(bytes.length);
		if (!at) throw new CoreError(TOO_LARGE);
		this.put(at, bytes);
		return at;
	}

	private check(result: number): void {
		if (result) return;
		const sentence = this.text(this.exports.ss_wasm_error(this.handle));
		const limited = this.exports.ss_wasm_status(this.handle) === LIMIT;
		throw new CoreError(limited ? `${sentence}. ${TOO_LARGE}` : sentence);
	}

	/* Of the core alone: what the browser unpacks is beside it. */
	memoryBytes(): number {
		return this.exports.memory.buffer.byteLength;
	}

	begin(): void {
		this.check(this.exports.ss_wasm_begin(this.handle));
	}

	async add(name: string, bytes: number, reader: Reader, told: Told): Promise<void> {
		const add = this.exports.ss_wasm_add as Call;
		const at = this.keepText(name);
		this.reader = reader;
		this.told = told;
		try {
			this.check(
				await (CAN_WAIT ? waiting.promising(add) : add)(this.handle, at, bytes),
			);
		} finally {
			this.reader = () => NONE;
			this.told = () => {};
			this.exports.ss_wasm_free(at);
		}
	}

	end(): void {
		this.check(this.exports.ss_wasm_end(this.handle));
	}

	demo(): void {
		this.check(this.exports.ss_wasm_demo(this.handle));
	}

	ask(target: string, works: Works): { bytes: ArrayBuffer; type: string } {
		this.works = works;
		const asked = this.keepText(target);
		const result = this.exports.ss_wasm_ask(this.handle, asked);
		this.exports.ss_wasm_free(asked);
		this.check(result);
		const [at = 0, length = 0] = new Uint32Array(
			this.exports.memory.buffer,
			result >>> 0,
			2,
		);
		return {
			bytes: this.bytes(at, length).slice().buffer as ArrayBuffer,
			type: this.text(this.exports.ss_wasm_type(this.handle)),
		};
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.ts - the bytes of dropped files, for a core that reads them synchronously.
 *
 * Plain files are read slice by slice as the core asks. The browser unpacks compressed files
 * first, one at a time; their pieces are freed as soon as the core has taken them.
 */
import type { Reader } from "./module";

/* Large enough that the calls cost nothing, small beside what a trace takes. */
const SLICE_BYTES = 4 << 20;

async function isGzip(file: Blob): Promise<boolean> {
	const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
	return head[0] === 0x1f && head[1] === 0x8b;
}

function plainReader(file: Blob): Reader {
	const reader = new FileReaderSync();
	let at = 0;
	return (into) => {
		const end = Math.min(at + Math.min(into.length, SLICE_BYTES), file.size);
		if (end === at) return 0;
		into.set(new Uint8Array(reader.readAsArrayBuffer(file.slice(at, end))));
		const length = end - at;
		at = end;
		return length;
	};
}

function piecesReader(pieces: Uint8Array[]): Reader {
	let next = 0;
	let taken = 0;
	return (into) => {
		const piece = pieces[next];
		if (!piece) return 0;
		const part = piece.subarray(taken, taken + into.length);
		into.set(part);
		taken += part.length;
		if (taken === piece.length) {
			pieces[next++] = new Uint8Array(0);
			taken = 0;
		}
		return part.length;
	};
}

/* All of a gzip stream; where it breaks off, what came before. */
async function unpack(file: Blob, told: (done: number) => void): Promise<Uint8Array[]> {
	const pieces: Uint8Array[] = [];
	let packed = 0;
	const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
		transform(piece, out) {
			packed += piece.length;
			told(packed);
			out.enqueue(piece);
		},
	});
	const plain = file
		.stream()
		.pipeThrough(counted)
		.pipeThrough(new DecompressionStream("gzip"));
	const reader = plain.getReader();
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return pieces;
			if (value.length) pieces.push(value);
		}
	} catch (error) {
		if (!pieces.length || error instanceof RangeError) throw error;
		return pieces; /* the core says that the trace breaks off */
	}
}

export interface Pulled {
	reader: Reader;
	bytes: number; /* that the reader gives */
}

export async function pull(file: Blob, told: (done: number) => void): Promise<Pulled> {
	if (!(await isGzip(file))) return { reader: plainReader(file), bytes: file.size };
	const pieces = await unpack(file, told);
	const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
	return { reader: piecesReader(pieces), bytes };
}

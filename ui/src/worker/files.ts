/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.ts - the bytes of dropped files, for a core that reads them synchronously.
 *
 * Files are read slice by slice as the core asks. The browser unpacks gzip first, one file at a
 * time; the pieces are freed as soon as the core has taken them.
 */
import type { Reader } from "./module";

/* How much of a file is unpacked, and into how much. */
type Told = (done: number, unpacked: number) => void;

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
async function unpack(file: Blob, told: Told): Promise<Uint8Array[]> {
	const pieces: Uint8Array[] = [];
	let packed = 0;
	let plainBytes = 0;
	const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
		transform(piece, out) {
			packed += piece.length;
			told(packed, plainBytes);
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
			plainBytes += value.length;
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
	waits(): number; /* bytes in memory that the reader has yet to give */
}

/* zstd, packs and plain files are read as they are: the core knows them. */
export async function pull(file: Blob, told: Told): Promise<Pulled> {
	if (!(await isGzip(file)))
		return { reader: plainReader(file), bytes: file.size, waits: () => 0 };
	const pieces = await unpack(file, told);
	const sum = () => pieces.reduce((all, piece) => all + piece.length, 0);
	return { reader: piecesReader(pieces), bytes: sum(), waits: sum };
}

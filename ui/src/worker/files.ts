/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.ts - the bytes of dropped files for the core, piece by piece as it asks.
 *
 * Where a core can wait (module.ts), a file streams through the browser, which unpacks gzip.
 * Elsewhere it is read synchronously, and gzip is unpacked into memory first; the pieces are freed
 * as soon as the core has taken them.
 */
import { CAN_WAIT, type Reader } from "./module";

const GZIP = [0x1f, 0x8b];

const NONE = new Uint8Array(0);

/* Large enough that the calls cost nothing, small beside what a trace takes. */
const SLICE_BYTES = 4 << 20;

export interface Pulled {
	reader: Reader;
	bytes: number; /* of the file as the core reads it; of a stream: on the disk */
	share(): number; /* of the file that was read */
	waits(): number; /* bytes in memory that the reader has yet to give */
}

type Told = (share: number, unpacked: number) => void;

async function isGzip(file: Blob): Promise<boolean> {
	const head = new Uint8Array(await file.slice(0, GZIP.length).arrayBuffer());
	return GZIP.every((byte, i) => head[i] === byte);
}

/* The file as a stream, and how many of its bytes have left the disk. */
function streamOf(file: Blob, gzip: boolean, told: (bytes: number) => void) {
	let bytes = 0;
	const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
		transform(piece, out) {
			bytes += piece.length;
			told(bytes);
			out.enqueue(piece);
		},
	});
	const stream = file.stream().pipeThrough(counted);
	return gzip ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
}

/* Where a gzip stream breaks off, the core says so of what came before. */
function streamed(file: Blob, gzip: boolean): Pulled {
	let packed = 0;
	let given = 0;
	let rest: Uint8Array = NONE;
	const source = streamOf(file, gzip, (bytes) => (packed = bytes)).getReader();
	const reader = async (room: number) => {
		try {
			while (!rest.length) {
				const { done, value } = await source.read();
				if (done) return NONE;
				rest = value;
			}
		} catch (error) {
			if (!given || error instanceof RangeError) throw error;
			return NONE;
		}
		const part = rest.subarray(0, room);
		rest = rest.subarray(part.length);
		given += part.length;
		return part;
	};
	const share = () => (file.size ? packed / file.size : 1);
	return { reader, bytes: file.size, share, waits: () => rest.length };
}

function plain(file: Blob): Pulled {
	const whole = new FileReaderSync();
	let at = 0;
	const reader = (room: number) => {
		const end = Math.min(at + Math.min(room, SLICE_BYTES), file.size);
		const bytes = new Uint8Array(whole.readAsArrayBuffer(file.slice(at, end)));
		at = end;
		return bytes;
	};
	return { reader, bytes: file.size, share: () => at / file.size, waits: () => 0 };
}

/* Unpacking is half of the way, reading the other half. */
async function unpacked(file: Blob, told: Told): Promise<Pulled> {
	const pieces: Uint8Array[] = [];
	const pulled = streamed(file, true);
	let bytes = 0;
	for (;;) {
		const piece = await pulled.reader(SLICE_BYTES);
		if (!piece.length) break;
		pieces.push(piece);
		bytes += piece.length;
		told(pulled.share() / 2, bytes);
	}
	let given = 0;
	const reader = (room: number) => {
		const piece = pieces[0] ?? NONE;
		const part = piece.subarray(0, room);
		given += part.length;
		if (part.length === piece.length) pieces.shift();
		else pieces[0] = piece.subarray(part.length);
		return part;
	};
	const share = () => (bytes ? 0.5 + given / bytes / 2 : 1);
	return { reader, bytes, share, waits: () => bytes - given };
}

/* zstd, packs and plain files are read as they are: the core knows them. */
export async function pull(file: Blob, told: Told): Promise<Pulled> {
	const gzip = await isGzip(file);
	if (CAN_WAIT) return streamed(file, gzip);
	return gzip ? unpacked(file, told) : plain(file);
}

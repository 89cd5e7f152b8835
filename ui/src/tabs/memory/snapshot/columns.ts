/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.ts - reads the columns of a binary answer, one after another.
 */

/* Behind the head of an answer: magic number, sizes and the window. */
export const HEAD_BYTES = 32;

export class Columns {
	private readonly bytes: ArrayBuffer;
	at = HEAD_BYTES;

	constructor(bytes: ArrayBuffer) {
		this.bytes = bytes;
	}

	doubles(length: number): Float64Array {
		return new Float64Array(this.bytes, this.pass(8 * length), length);
	}

	numbers(length: number): Uint32Array {
		return new Uint32Array(this.bytes, this.pass(4 * length), length);
	}

	addresses(length: number): BigUint64Array {
		return new BigUint64Array(this.bytes, this.pass(8 * length), length);
	}

	private pass(bytes: number): number {
		const before = this.at;
		this.at += bytes;
		return before;
	}
}

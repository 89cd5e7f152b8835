/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.ts - messages between the page and the worker.
 */
import type { Progress, Work } from "../core/transport";

/* A file: dropped, or embedded in the page (base64 of gzip). */
export interface Source {
	name: string;
	blob?: Blob;
	base64?: string;
}

export type Order =
	| { id: number; kind: "load"; core: string }
	| { id: number; kind: "open"; sources: Source[] }
	| { id: number; kind: "demo" }
	| { id: number; kind: "ask"; target: string };

export type News =
	| { id: number; kind: "done"; bytes?: ArrayBuffer; type?: string }
	| { id: number; kind: "failed"; error: string }
	| { id: number; kind: "progress"; progress: Progress }
	| { id: number; kind: "work"; work: Work };

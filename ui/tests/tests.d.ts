/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests.d.ts - what the types of libraries do not say about tests.
 */
import "playwright-core";

declare global {
	/* a test knows which element it is, or fails when it runs */
	interface ParentNode {
		querySelector(selectors: string): any;
		querySelectorAll(selectors: string): NodeListOf<any>;
	}
	/* bytes of a program's output are text, too */
	interface JSON {
		parse(text: string | Uint8Array): any;
	}
	interface Window {
		got: any; /* perfetto.mjs: what the stand-in was sent */
		__stepscope: any; /* timeline/probe.ts */
		lastFrames: any;
		placed: any;
		axe: any; /* axe-core, where a test puts it */
	}
}

declare module "playwright-core" {
	interface Page {
		problems: string[]; /* harness.mjs: what went wrong in the page */
		pending: number; /* answers that it waits for */
		changedAt: number;
	}
}

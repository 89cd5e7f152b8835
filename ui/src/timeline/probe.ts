/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.ts - measures frames: script and drawing time in ms of the last frames. Tests read it as
 * `__stepscope.frames`; with `flush` set a pixel is read back, so that the time includes
 * deferred canvas work.
 */
interface Probe {
	frames: number[];
	flush: boolean;
}

declare global {
	interface Window {
		__stepscope?: Probe;
	}
}

const KEPT = 2000;

export function beginProbe(): (begun: number, context: CanvasRenderingContext2D) => void {
	const probe = window.__stepscope ?? { frames: [], flush: false };
	window.__stepscope = probe;
	return (begun, context) => {
		if (probe.flush) context.getImageData(0, 0, 1, 1);
		probe.frames.push(performance.now() - begun);
		if (probe.frames.length > KEPT) probe.frames.splice(0, probe.frames.length - KEPT);
	};
}

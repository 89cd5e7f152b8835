/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.tsx - a stack frame by frame: complete in the drawer, shortened next to the pointer.
 */
import type { Frame, StackAnswer } from "../../../core/types";
import { useEffect, useState } from "preact/hooks";
import { useOpened } from "../../../core/context";
import { formatBytes, formatCount } from "../../../core/format";
import { Copy } from "../../../parts/copy";
import { countOf } from "./model";

/* Lines of a stack beside the pointer. */
const SHORT = 14;

/* A pointer that only passes by asks for nothing. */
const REST_MS = 60;

/* Frames of C++ have no file where no symbols were found. */
function fileOf(frame: Frame): string | null {
	return frame.file && frame.file !== "??" ? frame.file : null;
}

export function frameText(frame: Frame): string {
	const file = fileOf(frame);
	return `${file ? `${file}:${frame.line} ` : ""}${frame.name ?? "no name"}`;
}

/* File, line and function: what one looks for when there is little room. */
function shortFrame(frame: Frame): string {
	const file = fileOf(frame);
	return frameText(file ? { ...frame, file: file.split(/[/\\]/).pop() ?? file } : frame);
}

/* What one reads first: Python where there is any; without it all but the interpreter's own. */
export function mainFrames(frames: Frame[]): Frame[] {
	const python = frames.filter((frame) => /\.pyx?$|^</.test(frame.file ?? ""));
	if (python.length) return python;
	const told = frames.filter((frame) => !frame.noise);
	return told.length ? told : frames;
}

function kindOf(frame: Frame): string {
	return frame.own ? "own" : frame.noise ? "noise" : "";
}

/* A stack in one sentence. */
export function holdsWords(stack: StackAnswer): string {
	const parts: string[] = [];
	const add = (bytes: number | undefined, blocks: number | undefined, when: string) => {
		if (bytes !== undefined)
			parts.push(`${formatBytes(bytes)} in ${countOf(blocks ?? 0, "block")} ${when}`);
	};
	add(stack.peak_bytes, stack.peak_blocks, "at the peak");
	add(stack.end_bytes, stack.end_blocks, "at the end");
	const made = stack.made
		? ` It made ${formatCount(stack.made)} allocations; ${formatCount(stack.freed)} were freed.`
		: "";
	const what = stack.frames.length ? "This stack holds" : "Blocks without a stack hold";
	return `${what} ${parts.join(", ")}.${made}`;
}

export function Frames({ frames }: { frames: Frame[] }) {
	const [all, show] = useState(false);
	const main = mainFrames(frames);
	const shown = all ? frames : main;
	if (!frames.length) return <p class="soft">Its stack was not recorded.</p>;
	return (
		<section class="frames" aria-label="Stack">
			<h3>
				StackAnswer, innermost first{" "}
				{main.length < frames.length ? (
					<button type="button" class="button quiet" onClick={() => show(!all)}>
						{all
							? "show the main frames"
							: `show all ${countOf(frames.length, "frame")}`}
					</button>
				) : null}
				<Copy text={frames.map(frameText).join("\n")} label="copy all" />
			</h3>
			<ol>
				{shown.map((frame, i) => (
					<li key={i} class={kindOf(frame)}>
						{frameText(frame)}
					</li>
				))}
			</ol>
		</section>
	);
}

/* The stack under the pointer; the last one goes at once. */
export function useStack(asked: { snapshot: number; device: string | null }, stack: number) {
	const { client } = useOpened();
	const [found, set] = useState<StackAnswer | null>(null);
	const { snapshot, device } = asked;
	useEffect(() => {
		let live = true;
		const timer = setTimeout(() => {
			if (!stack) return;
			client.json("stack", { snapshot, device, stack }).then(
				(reply) => live && set(reply),
				() => undefined,
			);
		}, REST_MS);
		return () => {
			live = false;
			clearTimeout(timer);
		};
	}, [client, snapshot, device, stack]);
	return found?.stack === stack ? found : null;
}

export function ShortStack({ stack }: { stack: StackAnswer }) {
	const frames = mainFrames(stack.frames);
	const more = stack.frames.length - Math.min(frames.length, SHORT);
	if (!stack.frames.length) return <p class="soft">Its stack was not recorded.</p>;
	return (
		<>
			<ol class="frames-short">
				{frames.slice(0, SHORT).map((frame, i) => (
					<li key={i} class={kindOf(frame)}>
						{shortFrame(frame)}
					</li>
				))}
			</ol>
			{more > 0 ? <p class="soft">{countOf(more, "more frame")}: click to see all</p> : null}
		</>
	);
}

/*
 * frames.tsx - a stack frame by frame: whole in the drawer, short beside the pointer.
 */
import { useEffect, useState } from "preact/hooks";
import { useOpened } from "../../../core/context";
import { formatBytes, formatCount } from "../../../core/format";
import { Copy } from "../../../parts/copy";
import { countOf, type Frame, type Stack } from "./model";

/* Lines of a stack beside the pointer. */
const SHORT = 14;

/* A pointer that only passes by asks for nothing. */
const REST_MS = 60;

function hasPlace(frame: Frame): boolean {
	return frame.file !== "" && frame.file !== "??";
}

export function frameText(frame: Frame): string {
	return `${hasPlace(frame) ? `${frame.file}:${frame.line} ` : ""}${frame.name}`;
}

/* File, line and function: what one looks for when there is little room. */
function shortFrame(frame: Frame): string {
	const file = frame.file.split(/[/\\]/).pop() ?? frame.file;
	return hasPlace(frame) ? `${file}:${frame.line} ${frame.name}` : frame.name;
}

function kindOf(frame: Frame): string {
	return frame.own ? "own" : frame.noise ? "noise" : "";
}

/* What is said of a stack in a sentence. */
export function holdsWords(stack: Stack): string {
	const parts: string[] = [];
	const add = (bytes: number | undefined, blocks: number | undefined, when: string) => {
		if (bytes !== undefined)
			parts.push(`${formatBytes(bytes)} in ${countOf(blocks ?? 0, "block")} ${when}`);
	};
	add(stack.peak_bytes, stack.peak_blocks, "at the peak");
	add(stack.end_bytes, stack.end_blocks, "at the end");
	const made = stack.made
		? ` It allocated ${formatCount(stack.made)} times; ${formatCount(stack.freed)} were freed.`
		: "";
	const what = stack.frames.length ? "This stack holds" : "Blocks without a stack hold";
	return `${what} ${parts.join(", ")}.${made}`;
}

export function Frames({ frames }: { frames: Frame[] }) {
	const [all, show] = useState(false);
	const noise = frames.filter((frame) => frame.noise).length;
	const shown = all ? frames : frames.filter((frame) => !frame.noise);
	if (!frames.length) return <p class="soft">Its stack was not recorded.</p>;
	return (
		<section class="frames" aria-label="Stack">
			<h3>
				Stack, innermost first{" "}
				<Copy text={frames.map(frameText).join("\n")} label="copy all" />
				{noise ? (
					<button type="button" class="button quiet" onClick={() => show(!all)}>
						{all ? "hide" : "show"} {formatCount(noise)} frames of the interpreter
					</button>
				) : null}
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
	const [found, set] = useState<Stack | null>(null);
	const { snapshot, device } = asked;
	useEffect(() => {
		let live = true;
		const timer = setTimeout(() => {
			if (!stack) return;
			client.json<Stack>("stack", { snapshot, device, stack }).then(
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

/* Python and sources first of all; without them what there is. */
export function ShortStack({ stack }: { stack: Stack }) {
	const told = stack.frames.filter((frame) => !frame.noise);
	const placed = told.filter(hasPlace);
	const frames = placed.length ? placed : told;
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
			{more > 0 ? <p class="soft">{formatCount(more)} more frames: click</p> : null}
		</>
	);
}

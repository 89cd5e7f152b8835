/*
 * stack.tsx - a stack frame by frame, the user's own code first to see, and what it holds.
 */
import { useLoaded, useOpened } from "../../../core/context";
import { formatBytes, formatCount } from "../../../core/format";
import { Copy } from "../../../parts/copy";
import { Failed, Loading } from "../../../parts/state";
import type { Frame, Stack } from "./model";

function frameText(frame: Frame): string {
	const place = frame.file && frame.file !== "??" ? `${frame.file}:${frame.line} ` : "";
	return `${place}${frame.name}`;
}

function holds(stack: Stack): string {
	const parts: string[] = [];
	const add = (bytes: number | undefined, blocks: number | undefined, when: string) => {
		if (bytes !== undefined)
			parts.push(`${formatBytes(bytes)} in ${formatCount(blocks)} blocks ${when}`);
	};
	add(stack.peak_bytes, stack.peak_blocks, "at the peak");
	add(stack.end_bytes, stack.end_blocks, "at the end");
	const made = stack.made
		? ` It allocated ${formatCount(stack.made)} times, ${formatCount(stack.freed)} were freed.`
		: "";
	return `This stack holds ${parts.join(", ")}.${made}`;
}

export function StackPanel(props: {
	snapshot: number;
	device: string | null;
	stack: number;
	close: () => void;
}) {
	const { client } = useOpened();
	const { snapshot, device, stack } = props;
	const loaded = useLoaded(
		() => client.json<Stack>("stack", { snapshot, device, stack }),
		[client, snapshot, device, stack],
	);
	const found = loaded.value;
	return (
		<section class="stack-panel" aria-label="Stack">
			<header>
				<b>{found?.line ?? "Stack"}</b>
				{found ? <Copy text={found.frames.map(frameText).join("\n")} /> : null}
				<button type="button" class="button" onClick={props.close}>
					Close
				</button>
			</header>
			{loaded.state === "failed" ? <Failed error={loaded.error} /> : null}
			{found ? (
				<>
					<p>{holds(found)}</p>
					<ol>
						{found.frames.map((frame, i) => (
							<li
								key={i}
								class={frame.own ? "own" : frame.noise ? "noise" : ""}
							>
								{frameText(frame)}
							</li>
						))}
					</ol>
				</>
			) : (
				<Loading what="Reading the stack …" />
			)}
		</section>
	);
}

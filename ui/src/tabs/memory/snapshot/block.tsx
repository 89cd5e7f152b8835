/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block.tsx - drawer: a block of the map: size, lifetime, stack, segment.
 */
import type { Block, Segment } from "../../../core/types";
import { useMemo } from "preact/hooks";
import { useLoaded, useOpened } from "../../../core/context";
import { formatBytes, formatCount } from "../../../core/format";
import type { Selection } from "../../../core/store";
import { Copy } from "../../../parts/copy";
import { Failed, Loading, Nothing } from "../../../parts/state";
import { askedOf, type Chosen, showInMap, useChosen } from "./chosen";
import { Frames, holdsWords } from "./frames";
import { Life, LifeLinks, useEvent } from "./life";
import { findBlock, stateWords } from "./model";
import { useWholeStack } from "./stack";

type BlockSelection = Extract<Selection, { kind: "block" }>;

function Facts({ segment, block }: { segment: Segment; block: Block }) {
	const [offset, bytes, , , requested] = block;
	const kind = [segment.type, segment.expandable ? "expandable" : ""].filter(Boolean);
	return (
		<dl>
			<dt>state</dt>
			<dd>{stateWords(block)}</dd>
			<dt>size</dt>
			<dd>
				{formatBytes(bytes)}{" "}
				<span class="soft">
					{formatCount(bytes)} B
					{requested === null || requested < 0
						? ""
						: `, ${formatCount(requested)} B requested`}
				</span>
			</dd>
			<dt>segment</dt>
			<dd>
				{segment.address}, {formatBytes(segment.bytes)}
				{kind.length ? ` (${kind.join(", ")})` : ""}{" "}
				<span class="soft">
					offset {formatBytes(offset)}
					{segment.stream === undefined ? "" : `, stream ${segment.stream}`}
				</span>
			</dd>
		</dl>
	);
}

function Used({ chosen, block }: { chosen: Chosen; block: Block }) {
	const life = useEvent(chosen, block[6] ?? null);
	const whole = useWholeStack(askedOf(chosen), block[5]);
	return (
		<>
			{life.value ? (
				<>
					<Life found={life.value} />
					<p class="held-links">
						<LifeLinks found={life.value} chosen={chosen} />
					</p>
				</>
			) : block[6] === null ? (
				<p>It was allocated before the first recorded event.</p>
			) : null}
			{life.state === "failed" ? <Failed error={life.error} /> : null}
			{whole.value ? (
				<>
					<p>{holdsWords(whole.value)}</p>
					<Frames frames={whole.value.frames} />
				</>
			) : null}
		</>
	);
}

function Body(props: { chosen: Chosen; selected: BlockSelection; found: [Segment, Block] }) {
	const { chosen, selected } = props;
	const [segment, block] = props.found;
	const stack = block[5];
	const free = block[2] === "free";
	return (
		<div class="held-details">
			<header>
				<h2>
					{free ? "Free" : "Block of"} {formatBytes(block[1])}{" "}
					<span class="mono">{selected.address}</span>
				</h2>
				<Copy text={selected.address} />
				{stack ? (
					<button
						type="button"
						class="button"
						onClick={() => showInMap(selected.event, String(stack))}
					>
						Mark all blocks of this stack
					</button>
				) : null}
			</header>
			<Facts segment={segment} block={block} />
			{free ? null : <Used chosen={chosen} block={block} />}
		</div>
	);
}

export function BlockDetails({ selected }: { selected: BlockSelection }) {
	const { client } = useOpened();
	const chosen = useChosen();
	const { snapshot, device } = chosen ? askedOf(chosen) : { snapshot: 0, device: null };
	const loaded = useLoaded(
		() => client.json("blocks", { snapshot, device, event: selected.event }),
		[client, snapshot, device, selected.event],
	);
	const found = useMemo(
		() => (loaded.value ? findBlock(loaded.value, selected.address) : null),
		[loaded.value, selected.address],
	);
	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	if (!loaded.value) return <Loading what="Looking up the block …" />;
	if (!found || !chosen) return <Nothing>No block starts at this address at this time.</Nothing>;
	return <Body chosen={chosen} selected={selected} found={found} />;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.tsx - drawer: a stack selected in the curve, complete, and what it holds.
 */
import { targetOf } from "../../../core/client";
import { useLoaded, useOpened } from "../../../core/context";
import type { Selection } from "../../../core/store";
import { Failed, Loading, Nothing } from "../../../parts/state";
import { type AskedDevice, askedOf, showInCurve, showInMap, useChosen } from "./chosen";
import { Frames, holdsWords } from "./frames";

type HeldSelection = Extract<Selection, { kind: "held" }>;

export function useWholeStack(asked: AskedDevice | null, stack: number | null) {
	const { client } = useOpened();
	const key = asked && stack !== null ? targetOf("stack", { ...asked, stack }) : null;
	return useLoaded(
		async () => (key ? client.json("stack", { ...asked, stack }) : null),
		[client, key],
	);
}

export function HeldDetails({ selected }: { selected: HeldSelection }) {
	const chosen = useChosen();
	const loaded = useWholeStack(chosen && askedOf(chosen), selected.stack);
	const found = loaded.value;
	if (!chosen) return <Nothing>No snapshot is open.</Nothing>;
	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	if (!found) return <Loading what="Reading the stack …" />;
	const { line } = found;
	return (
		<div class="held-details">
			<header>
				<h2>{line ?? "Blocks without a stack"}</h2>
				{line ? (
					<button
						type="button"
						class="button"
						onClick={() => showInCurve("line", line)}
					>
						Show its line in the curve
					</button>
				) : null}
				<button
					type="button"
					class="button"
					disabled={!chosen.device?.segments}
					onClick={() => showInMap(selected.event, String(selected.stack))}
				>
					Show in the block map
				</button>
			</header>
			<p>{holdsWords(found)}</p>
			<Frames frames={found.frames} />
		</div>
	);
}

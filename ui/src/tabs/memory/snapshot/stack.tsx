/*
 * stack.tsx - drawer: a stack that was clicked in the curve, whole, and what it holds.
 */
import { useLoaded, useOpened } from "../../../core/context";
import type { Selection } from "../../../core/store";
import { Failed, Loading, Nothing } from "../../../parts/state";
import { askedOf, type Chosen, showInCurve, showInMap, useChosen } from "./chosen";
import { Frames, holdsWords } from "./frames";
import type { Stack } from "./model";

type HeldSelection = Extract<Selection, { kind: "held" }>;

export function useWholeStack(chosen: Chosen | null, stack: number | null) {
	const { client } = useOpened();
	const { snapshot, device } = chosen ? askedOf(chosen) : { snapshot: 0, device: null };
	return useLoaded(
		async () =>
			stack === null
				? null
				: client.json<Stack>("stack", { snapshot, device, stack }),
		[client, snapshot, device, stack],
	);
}

export function HeldDetails({ selected }: { selected: HeldSelection }) {
	const chosen = useChosen();
	const loaded = useWholeStack(chosen, selected.stack);
	const found = loaded.value;
	if (!chosen) return <Nothing>There is no snapshot.</Nothing>;
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

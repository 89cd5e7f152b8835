/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocation.tsx - drawer: an allocation selected in the curve: its lifetime and stack.
 */
import { formatBytes } from "../../../core/format";
import type { Selection } from "../../../core/store";
import { Failed, Loading, Nothing } from "../../../parts/state";
import { askedOf, showInMap, useChosen } from "./chosen";
import { Frames, holdsWords } from "./frames";
import { Life, LifeLinks, useEvent } from "./life";
import { words } from "./model";
import { useWholeStack } from "./stack";

type AllocationSelection = Extract<Selection, { kind: "allocation" }>;

export function AllocationDetails({ selected }: { selected: AllocationSelection }) {
	const chosen = useChosen();
	const life = useEvent(chosen, selected.event);
	const found = life.value;
	const whole = useWholeStack(chosen && askedOf(chosen), found ? found.stack : null);
	if (life.state === "failed") return <Failed error={life.error} />;
	if (!chosen || !found) return <Loading what="Looking up the allocation …" />;
	if (found.action !== "alloc") return <Nothing>This event allocated nothing.</Nothing>;
	return (
		<div class="held-details">
			<header>
				<h2>
					{formatBytes(found.bytes)}, {words(found.category ?? "unknown")}:{" "}
					{found.line ?? "no stack was recorded"}
				</h2>
				<LifeLinks found={found} chosen={chosen} />
				{found.stack && chosen.device?.segments ? (
					<button
						type="button"
						class="button"
						onClick={() =>
							showInMap(
								chosen.device?.exact ? found.event : null,
								String(found.stack),
							)
						}
					>
						Mark all blocks of this stack
					</button>
				) : null}
			</header>
			<Life found={found} />
			{whole.value ? (
				<>
					<p>{holdsWords(whole.value)}</p>
					<Frames frames={whole.value.frames} />
				</>
			) : null}
		</div>
	);
}

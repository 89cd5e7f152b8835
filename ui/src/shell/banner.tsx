/* SPDX-License-Identifier: Apache-2.0 */
/*
 * banner.tsx - shown when the core no longer responds.
 */
import { useEffect, useState } from "preact/hooks";
import { useOpened } from "../core/context";

/* True while the core is gone; the second counts how often it came back. */
export function useGone(): [boolean, number] {
	const { client } = useOpened();
	const [state, change] = useState<[boolean, number]>([false, 0]);

	useEffect(
		() =>
			client.watch((gone) =>
				change(([, returns]) => [gone, gone ? returns : returns + 1]),
			),
		[client],
	);
	return state;
}

export function Banner() {
	const { client } = useOpened();
	const [asking, ask] = useState(false);

	return (
		<div class="banner" role="alert">
			<span>
				The server is not responding. You can still read what is
				on screen. To continue, start{" "}
				<code>stepscope serve</code> again and open
				the new link.
			</span>
			<button
				type="button"
				class="button"
				disabled={asking}
				onClick={() => {
					ask(true);
					client.bytes("job").then(
						() => ask(false),
						() => ask(false),
					);
				}}
			>
				{asking ? "Trying…" : "Try again"}
			</button>
		</div>
	);
}

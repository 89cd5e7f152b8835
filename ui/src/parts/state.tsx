/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.tsx - placeholders: loading, nothing to show, an error.
 */
import type { ComponentChildren } from "preact";
import { useWork } from "../core/context";
import { formatCount } from "../core/format";
import type { Work } from "../core/transport";
import "./state.css";

/* "Examining the ranks: 345 of 1,024", and how much of the whole is done. */
export function WorkBar({ work }: { work: Work }) {
	const { doing, done, count, share } = work;
	return (
		<span class="state-work" aria-live="off">
			<progress
				value={share}
				aria-label={doing}
				aria-valuetext={`${Math.round(share * 100)} %`}
			/>
			<span>
				{doing}: {formatCount(done)} of {formatCount(count)}
			</span>
		</span>
	);
}

export function Loading({ what }: { what: string }) {
	const work = useWork(true);
	return (
		<p class="state" role="status" aria-live="polite">
			<span class="state-dot" aria-hidden="true" /> {what}
			{work ? <WorkBar work={work} /> : null}
		</p>
	);
}

export function Nothing({ children }: { children: ComponentChildren }) {
	return <p class="state state-empty">{children}</p>;
}

export function Failed({ error, retry }: { error: string; retry?: () => void }) {
	return (
		<p class="state state-failed" role="alert">
			{error}{" "}
			{retry ? (
				<button type="button" class="button" onClick={retry}>
					Try again
				</button>
			) : null}
		</p>
	);
}

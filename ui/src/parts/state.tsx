/*
 * state.tsx - what stands where something is not there: loading, nothing, an error.
 */
import type { ComponentChildren } from "preact";
import "./state.css";

export function Loading({ what }: { what: string }) {
	return (
		<p class="state" role="status" aria-live="polite">
			<span class="state-dot" aria-hidden="true" /> {what}
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

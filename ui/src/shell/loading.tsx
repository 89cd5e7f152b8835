/*
 * loading.tsx - while files load: bytes, events, which file of how many; and a way out.
 */
import { formatBytes, formatCount } from "../core/format";
import type { Progress } from "../core/transport";
import "./loading.css";

export function LoadingScreen(props: {
	progress: Progress | null;
	error: string | null;
	onCancel: (() => void) | null;
}) {
	const { progress, error } = props;
	const known = progress !== null && progress.totalBytes > 0;
	const share = known ? Math.min(1, progress.doneBytes / progress.totalBytes) : null;

	return (
		<main class="loading">
			<h1>{error ? "This could not be opened" : "Reading the traces"}</h1>
			{error ? (
				<p class="state-failed" role="alert">
					{error}
				</p>
			) : (
				<>
					<progress
						aria-label="Bytes read"
						{...(share === null ? {} : { value: share })}
					/>
					<p aria-live="off">
						{known
							? `${formatBytes(progress.doneBytes)} of ${formatBytes(progress.totalBytes)}`
							: "beginning…"}
						{progress?.events
							? ` · ${formatCount(progress.events)} events`
							: ""}
						{progress && progress.files > 1
							? ` · rank ${Math.min(progress.file + 1, progress.files)} of ${progress.files}`
							: ""}
					</p>
					<p class="soft loading-path mono">{progress?.path ?? ""}</p>
				</>
			)}
			{props.onCancel ? (
				<button type="button" class="button" onClick={props.onCancel}>
					{error ? "Back" : "Cancel"}
				</button>
			) : null}
		</main>
	);
}

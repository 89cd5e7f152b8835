/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add-run.tsx - only one run is open: how to add the other.
 */
import { useRef, useState } from "preact/hooks";
import { useOpened } from "../../core/context";
import { formatBytes } from "../../core/format";
import type { Picked, Progress } from "../../core/transport";
import { runName } from "../../core/words";
import { CopyBox } from "../../parts/copy-box";
import { chosenFiles, droppedFiles } from "../../welcome/files";

function sayProgress(progress: Progress): string {
	const files = progress.files > 1 ? `file ${progress.file + 1} of ${progress.files}, ` : "";
	const done = `${formatBytes(progress.doneBytes)} of ${formatBytes(progress.totalBytes)}`;
	return `Reading ${files}${done} …`;
}

function DropZone({ onAdded }: { onAdded: () => void }) {
	const { client } = useOpened();
	const input = useRef<HTMLInputElement>(null);
	const [over, setOver] = useState(false);
	const [said, say] = useState("");

	async function take(files: Picked[]): Promise<void> {
		if (!files.length) return say("No traces found there.");
		try {
			await client.transport.compare?.(files, (progress) =>
				say(sayProgress(progress)),
			);
			onAdded();
		} catch (error) {
			say(error instanceof Error ? error.message : String(error));
		}
	}

	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: the buttons in it do it by keys
		<div
			class={`compare-drop ${over ? "over" : ""}`}
			onDragOver={(event) => {
				event.preventDefault();
				setOver(true);
			}}
			onDragLeave={() => setOver(false)}
			onDrop={(event) => {
				event.preventDefault();
				event.stopPropagation();
				setOver(false);
				if (!event.dataTransfer) return;
				droppedFiles(event.dataTransfer).then(take, (error: unknown) =>
					say(error instanceof Error ? error.message : String(error)),
				);
			}}
		>
			<p>Drop the traces of the other run here: one file or all ranks.</p>
			<button
				type="button"
				class="button main"
				onClick={() => input.current?.click()}
			>
				Choose files
			</button>
			<input
				ref={input}
				type="file"
				multiple
				hidden
				aria-label="Traces of the other run"
				onChange={(event) => {
					const { files } = event.currentTarget;
					if (files) void take(chosenFiles(files, false));
				}}
			/>
			<p class="soft compare-said" role="status">
				{said || "Your files stay on this machine."}
			</p>
		</div>
	);
}

export function AddRun({ onAdded }: { onAdded: () => void }) {
	const { client, job } = useOpened();
	return (
		<div class="page compare-add">
			<h2>Compare {runName(job)} with another run</h2>
			<p>
				Before and after a change, two machines or two versions: see what got
				faster and what got slower, operator by operator.
			</p>
			{client.transport.compare ? (
				<DropZone onAdded={onAdded} />
			) : (
				<>
					<p>Start the viewer with both runs:</p>
					<CopyBox
						label="command"
						text="stepscope serve BEFORE --compare AFTER"
					/>
				</>
			)}
		</div>
	);
}

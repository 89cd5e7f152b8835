/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digests.tsx - a job of digests: says what it has, and opens a rank's trace where it lies.
 */
import type { Job } from "../core/client";
import type { JobFile } from "../core/types";
import { useState } from "preact/hooks";
import { useOpened } from "../core/context";
import { useView } from "../core/store";
import { plural } from "../core/words";
import { addressOf } from "../fleet/stored";
import "./digests.css";

/* Files without events. */
function digestsOf(job: Job): JobFile[] {
	return job.files.filter((file) => file.digest);
}

/* The number of the file, as the server has it. */
function idOf(file: JobFile): string {
	return file.file.toString(16).padStart(16, "0");
}

/* The page without a server, and a report, cannot reach the files of others. */
const NO_SERVER = "`stepscope serve DIGESTS` opens the trace of a rank where it lies.";

function Opener({ files }: { files: JobFile[] }) {
	const { client } = useOpened();
	const scope = useView((view) => view.rank);
	const [chosen, choose] = useState<string | null>(null);
	const [said, say] = useState("");
	const usual = files.find((one) => one.rank === scope) ?? files[0];
	const file = files.find((one) => String(one.file) === chosen) ?? usual;
	if (!file) return null;
	const open = async () => {
		say(`Opening ${file.path} …`);
		try {
			const answer = await client.bytes("open", { id: idOf(file) });
			const text = new TextDecoder().decode(answer.bytes);
			const { error } = JSON.parse(text) as { error: string | null };
			if (error) say(error);
			else location.href = `${addressOf(idOf(file))}#/timeline`;
		} catch (error) {
			say(error instanceof Error ? error.message : String(error));
		}
	};
	return (
		<>
			<label>
				rank{" "}
				<select
					class="select"
					value={String(file.file)}
					onChange={(event) => choose(event.currentTarget.value)}
				>
					{files.map((one) => (
						<option key={one.file} value={String(one.file)}>
							{one.rank ?? one.path}
						</option>
					))}
				</select>
			</label>
			<button
				type="button"
				class="button"
				title={file.path}
				onClick={() => void open()}
			>
				Open its trace
			</button>
			<span role="status">{said}</span>
		</>
	);
}

export function DigestBar() {
	const { job, routes } = useOpened();
	const files = digestsOf(job);
	if (!files.length) return null;
	const of = files.length < job.files.length ? ` of ${job.files.length}` : "";
	return (
		<aside class="digest-bar" aria-label="Digests">
			<span>
				{plural(files.length, "rank")}
				{of} from digests: sums, the largest rows of each table, and strips;
				no events.
			</span>
			{routes.includes("open") ? (
				<Opener files={files} />
			) : (
				<span>{NO_SERVER}</span>
			)}
		</aside>
	);
}

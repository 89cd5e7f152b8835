/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.tsx - opens a range of time in Perfetto's viewer: its window gets the packets by a
 * message, so they stay in this browser. A page from disk has no origin that Perfetto could answer:
 * it saves them as a file.
 */
import { useState } from "preact/hooks";
import { store } from "../core/store";
import { runName } from "../core/words";
import { saveAs } from "../parts/save";
import type { Span } from "./span";
import type { Stage } from "./stage";

const PLACE = "https://ui.perfetto.dev";

/* Its window says PONG to a PING once it can take a trace. */
const PING_MS = 100;
const ANSWER_MS = 60_000;

function isReady(other: Window): Promise<void> {
	return new Promise((done, fail) => {
		const begin = performance.now();
		const ping = setInterval(() => {
			const late = performance.now() - begin > ANSWER_MS;
			if (other.closed) end(() => fail(new Error("The window was closed.")));
			else if (late)
				end(() => fail(new Error(`${PLACE} does not answer. Is there internet?`)));
			/* while the window is empty, it has another origin; PING is no secret */
			else other.postMessage("PING", "*");
		}, PING_MS);
		const hear = (event: MessageEvent) => {
			if (event.origin === PLACE && event.data === "PONG") end(done);
		};
		const end = (then: () => void) => {
			clearInterval(ping);
			removeEventListener("message", hear);
			then();
		};
		addEventListener("message", hear);
	});
}

/* A selected range, else what is in view. */
function spanOf(stage: Stage): Span {
	const { selected } = store.view;
	return selected?.kind === "range" ? selected : stage.span;
}

/* The ranks whose rows are shown; all if all are folded. */
function filesOf(stage: Stage): number[] {
	const all = stage.job.files.filter((file) => file.slices !== undefined);
	const open = all.filter((file) => stage.look.open.has(file.file));
	return (open.length ? open : all).map((file) => file.file);
}

async function open(stage: Stage): Promise<void> {
	/* a window is only opened while the click is handled */
	const other = location.protocol.startsWith("http") ? window.open(PLACE) : null;
	const { from, to } = spanOf(stage);
	const name = runName(stage.job);
	try {
		const { bytes } = await stage.client.bytes("perfetto", {
			files: filesOf(stage).join(","),
			from: Math.floor(from),
			to: Math.ceil(to),
		});
		if (!other) return saveAs(new Blob([bytes]), `${name}.pftrace`);
		await isReady(other);
		const fileName = `${name}.pftrace`;
		other.postMessage({ perfetto: { buffer: bytes, title: name, fileName } }, PLACE, [
			bytes,
		]);
	} catch (error) {
		other?.close();
		throw error;
	}
}

const WHAT = "the selected range, or what is in view, of the ranks that are open";

export function OpenInPerfetto({ stage }: { stage: Stage }) {
	const [said, say] = useState("");
	const saves = !location.protocol.startsWith("http");

	const run = async () => {
		say("Preparing…");
		try {
			await open(stage);
			say("");
		} catch (error) {
			say(error instanceof Error ? error.message : String(error));
		}
	};
	if (!stage.job.files.some((file) => file.slices)) return null;
	return (
		<>
			<button
				type="button"
				class="button quiet"
				title={
					saves
						? `Save ${WHAT}, as a file that ui.perfetto.dev opens`
						: `Open ${WHAT} at ui.perfetto.dev. This needs the internet; ` +
							"the data stay in this browser"
				}
				onClick={() => void run()}
			>
				{saves ? "Save for Perfetto" : "Open in Perfetto"}
			</button>
			{said ? (
				<span class="tool-words" role="status">
					{said}
				</span>
			) : null}
		</>
	);
}

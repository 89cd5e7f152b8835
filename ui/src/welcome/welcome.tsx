/* SPDX-License-Identifier: Apache-2.0 */
/*
 * welcome.tsx - the start page: drop files, open a demo, or learn how to record.
 */
import { useState } from "preact/hooks";
import type { Openers, Picked, Transport } from "../core/transport";
import { Copy } from "../parts/copy";
import { ThemeButton } from "../shell/header";
import { chosenFiles } from "./files";
import "./welcome.css";

const RECORD = `from torch.profiler import profile, schedule, tensorboard_trace_handler

with profile(schedule=schedule(wait=10, warmup=3, active=5, repeat=1),
             record_shapes=True, with_stack=True, profile_memory=True,
             on_trace_ready=tensorboard_trace_handler("traces", use_gzip=True)) as prof:
    for batch in loader:
        train_step(batch)
        prof.step()`;

const KINDS =
	".json, .json.gz or .json.zst from torch.profiler, .stepscope of `stepscope pack`, .pickle " +
	"for memory snapshots. Your files stay on this machine.";

const SNAPSHOT = `torch.cuda.memory._record_memory_history(max_entries=1_000_000)
train_steps()
torch.cuda.memory._dump_snapshot("memory.pickle")`;

const SERVE = "stepscope serve traces/";

/* Not in the types of the view library. */
function asFolder(input: HTMLInputElement | null): void {
	if (input) input.webkitdirectory = true;
}

function Drop({ openers, onOpen }: { openers: Openers; onOpen: (transport: Transport) => void }) {
	const [said, say] = useState("");
	const take = (files: Picked[]) => {
		if (files.length) onOpen(openers.openFiles(files));
		else say("No trace found there.");
	};
	const choose = (folder: boolean) => (event: { currentTarget: HTMLInputElement }) =>
		take(chosenFiles(event.currentTarget.files ?? new DataTransfer().files, folder));

	return (
		<section class="drop" aria-label="Open traces">
			<p class="drop-words">
				Drop profiler traces or memory snapshots anywhere on this page: one
				file, all ranks, or a folder
			</p>
			<p class="drop-ways">
				<label class="button main">
					Choose files
					<input type="file" multiple onChange={choose(false)} />
				</label>
				<label class="button">
					Choose a folder
					<input
						type="file"
						multiple
						ref={asFolder}
						onChange={choose(true)}
					/>
				</label>
				<button
					type="button"
					class="button"
					onClick={() => onOpen(openers.openDemo())}
				>
					Open a demo
				</button>
			</p>
			<p class="soft" role="status">
				{said || KINDS}
			</p>
		</section>
	);
}

function Code({ text }: { text: string }) {
	return (
		<div class="code">
			<pre tabIndex={0}>{text}</pre>
			<Copy text={text} />
		</div>
	);
}

/* The server answers nobody without the token, so the page can only say what is missing. */
function Keyless() {
	return (
		<p class="keyless" role="alert">
			This address has no token, so the server at {location.host} does not show its
			traces. Open the whole link that <code>stepscope serve</code> printed; it ends in{" "}
			<code>#token=…</code>
		</p>
	);
}

export function Welcome(props: {
	openers: Openers | null;
	keyless: boolean;
	onOpen: (transport: Transport) => void;
}) {
	return (
		<main class="welcome">
			<header>
				<h1>stepscope</h1>
				<ThemeButton />
			</header>
			<p class="lead">
				See where a training step spends its time, why, and what to change.
			</p>
			{props.keyless ? <Keyless /> : null}
			{props.openers ? (
				<Drop openers={props.openers} onOpen={props.onOpen} />
			) : (
				<p class="drop">
					Open the link that <code>stepscope serve</code> printed.
				</p>
			)}
			<h2>Recording a trace</h2>
			<p>
				Each rank writes one file into <code>traces</code>. Shapes, memory
				and stacks add some overhead while recording; without them some
				results are missing, and the Quality tab lists which.
			</p>
			<Code text={RECORD} />
			<h2>Memory snapshots</h2>
			<p>
				A snapshot holds every block of the allocator and the line that
				allocated it. stepscope reads the pickle as data and runs nothing in it.
			</p>
			<Code text={SNAPSHOT} />
			<h2>Large traces</h2>
			<p>
				This page can hold about a gigabyte. For more, let the command read the
				files and serve the same page, on this machine only:
			</p>
			<Code text={SERVE} />
			<p class="soft">
				Your files stay on this machine: this page reads them itself and makes
				no requests to any other server.
			</p>
		</main>
	);
}

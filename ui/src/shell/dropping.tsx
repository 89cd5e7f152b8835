/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dropping.tsx - files that are dropped anywhere on the page: nothing is open, they are opened; a
 * run is open, a dialog asks what they are.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Picked } from "../core/transport";
import { plural } from "../core/words";
import { droppedFiles } from "../welcome/files";
import "./dropping.css";

/* What can be done with files: the page offers those that it can do. */
export interface DropWays {
	open: ((files: Picked[]) => void) | null /* instead of what is open */;
	add: ((files: Picked[]) => void) | null /* to the run that is open */;
	compare: ((files: Picked[]) => Promise<void>) | null;
}

const NO_TRACE = "No trace found there: need .json, .gz, .zst, .stepscope or .pickle files.";
const NO_CORE = "This page cannot read files by itself. Run `stepscope serve PATH`.";

function hasFiles(event: DragEvent): boolean {
	return event.dataTransfer?.types.includes("Files") ?? false;
}

interface ChoiceProps {
	files: Picked[];
	ways: DropWays;
	onDone: () => void;
	onFailed: (error: unknown) => void;
}

function Choice({ files, ways, onDone, onFailed }: ChoiceProps) {
	const box = useRef<HTMLDialogElement>(null);
	const offers = [
		{
			way: ways.add,
			says: "Add to this run",
			about: "more ranks or memory of the same job",
		},
		{
			way: ways.compare,
			says: "Compare with this run",
			about: "another run of the job",
		},
		{ way: ways.open, says: "Open instead", about: "closes what is open" },
	];

	useEffect(() => {
		const element = box.current;
		element?.showModal();
		return () => element?.close();
	}, []);
	return (
		<dialog
			ref={box}
			class="help dropped"
			aria-labelledby="dropped-title"
			onCancel={(event) => {
				event.preventDefault();
				onDone();
			}}
			onKeyDown={(event) => event.stopPropagation()}
		>
			<header>
				<h2 id="dropped-title">{plural(files.length, "dropped file")}</h2>
				<button type="button" class="button" onClick={onDone}>
					Cancel
				</button>
			</header>
			<p class="soft mono dropped-names">{files[0]?.path}</p>
			{offers.map(({ way, says, about }) =>
				way ? (
					<p key={says}>
						<button
							type="button"
							class="button"
							onClick={() => {
								onDone();
								Promise.resolve(way(files)).catch(
									onFailed,
								);
							}}
						>
							{says}
						</button>{" "}
						<span class="soft">{about}</span>
					</p>
				) : null,
			)}
		</dialog>
	);
}

/* `isOpen`: a run is open, so that it is asked first. */
export function Dropping({ ways, isOpen }: { ways: DropWays; isOpen: boolean }) {
	const [over, hover] = useState(false);
	const [files, choose] = useState<Picked[] | null>(null);
	const [said, say] = useState("");

	const fail = (error: unknown) =>
		say(error instanceof Error ? error.message : String(error));
	useEffect(() => {
		const take = (found: Picked[]) => {
			if (!ways.open && !ways.compare) say(NO_CORE);
			else if (!found.length) say(NO_TRACE);
			else if (isOpen) choose(found);
			else ways.open?.(found);
		};
		const move = (event: DragEvent) => {
			event.preventDefault();
			hover(hasFiles(event));
		};
		/* the pointer leaves the page, not only one of its parts */
		const leave = (event: DragEvent) => {
			if (!event.relatedTarget) hover(false);
		};
		const drop = (event: DragEvent) => {
			event.preventDefault();
			hover(false);
			say("");
			if (!event.dataTransfer || !hasFiles(event)) return;
			droppedFiles(event.dataTransfer).then(take, fail);
		};
		addEventListener("dragover", move);
		addEventListener("dragleave", leave);
		addEventListener("drop", drop);
		return () => {
			removeEventListener("dragover", move);
			removeEventListener("dragleave", leave);
			removeEventListener("drop", drop);
		};
	}, [ways, isOpen]);
	return (
		<>
			{over ? <div class="dropping" aria-hidden="true" /> : null}
			{said ? (
				<p class="dropping-said" role="status">
					{said}{" "}
					<button
						type="button"
						class="button"
						onClick={() => say("")}
					>
						OK
					</button>
				</p>
			) : null}
			{files ? (
				<Choice
					files={files}
					ways={ways}
					onDone={() => choose(null)}
					onFailed={fail}
				/>
			) : null}
		</>
	);
}

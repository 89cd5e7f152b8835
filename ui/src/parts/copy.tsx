/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.tsx - a button that copies a text and says so.
 */
import { useEffect, useState } from "preact/hooks";

/* How long "copied" stands. */
const SAID_MS = 1200;

async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		/* Pages from disk have no clipboard in some browsers: the old way works there. */
		const area = document.createElement("textarea");
		area.value = text;
		area.className = "away";
		document.body.append(area);
		area.select();
		const done = document.execCommand("copy");
		area.remove();
		return done;
	}
}

interface Props {
	text: string | (() => string); /* asked for when it is clicked */
	label?: string;
	title?: string;
}

export function Copy({ text, label = "copy", title = "" }: Props) {
	const [said, say] = useState("");

	useEffect(() => {
		if (!said) return;
		const timer = setTimeout(() => say(""), SAID_MS);
		return () => clearTimeout(timer);
	}, [said]);
	return (
		<button
			type="button"
			class="button quiet"
			title={title}
			onClick={async (event) => {
				event.stopPropagation();
				const copied = typeof text === "string" ? text : text();
				say((await copyText(copied)) ? "copied" : "could not copy");
			}}
		>
			<span aria-live="polite">{said || label}</span>
		</button>
	);
}

/*
 * copy-box.tsx - code that people take with them.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import "./copy-box.css";

/* How long the button says that it is done. */
const SAID_MS = 1500;

/* Pages from disk have no clipboard; there a selection is copied as in old browsers. */
async function copyText(text: string, shown: HTMLElement | null): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const selection = getSelection();
		if (!shown || !selection) return false;
		selection.selectAllChildren(shown);
		return document.execCommand("copy");
	}
}

export function CopyBox({ text, label }: { text: string; label: string }) {
	const [said, say] = useState("");
	const code = useRef<HTMLElement>(null);

	useEffect(() => {
		if (!said) return;
		const timer = setTimeout(() => say(""), SAID_MS);
		return () => clearTimeout(timer);
	}, [said]);

	async function copy() {
		say((await copyText(text, code.current)) ? "Copied" : "Press Ctrl+C");
	}

	return (
		<figure class="copy-box">
			<figcaption>{label}</figcaption>
			<button type="button" onClick={() => void copy()} aria-label={`Copy ${label}`}>
				<span aria-live="polite">{said || "Copy"}</span>
			</button>
			<pre>
				<code ref={code}>{text}</code>
			</pre>
		</figure>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy-box.tsx - a box of code with a copy button.
 */
import { Copy } from "./copy";
import "./copy-box.css";

export function CopyBox({ text, label }: { text: string; label: string }) {
	return (
		<figure class="copy-box">
			<figcaption>
				{label} <Copy text={text} />
			</figcaption>
			<pre tabIndex={0}>
				<code>{text}</code>
			</pre>
		</figure>
	);
}

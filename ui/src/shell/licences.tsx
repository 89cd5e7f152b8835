/* SPDX-License-Identifier: Apache-2.0 */
/*
 * licences.tsx - what this page contains and under which licences. The texts are part of the
 * page.
 */
import own from "../../../LICENSE?raw";
import parts from "../../../third_party/parts.json";

const TEXTS: Record<string, string> = import.meta.glob("../../../third_party/*.txt", {
	query: "?raw",
	import: "default",
	eager: true,
});

function textOf(name: string): string {
	return TEXTS[`../../../third_party/${name}`] ?? "";
}

function Licence({ name, licence, texts }: { name: string; licence: string; texts: string[] }) {
	return (
		<details>
			<summary>
				{name}: {licence}
			</summary>
			{texts.map((text, i) => (
				<pre key={i} tabIndex={0}>
					{text}
				</pre>
			))}
		</details>
	);
}

export function Licences() {
	const within = parts.filter((part) => part.in !== "loaded");
	return (
		<section class="licences">
			<h3>Licences</h3>
			<Licence name="stepscope" licence="Apache-2.0" texts={[own]} />
			{within.map((part) => (
				<Licence
					key={part.name}
					name={`${part.name} ${part.version}`}
					licence={part.licence}
					texts={(part.texts ?? []).map(textOf)}
				/>
			))}
		</section>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundled.ts - holds what the bundler put into the page against third_party/parts.json.
 *
 * The page shows the licences of what is listed there, so a build stops when a package is in the
 * page and not in the list, or in the list and not in the page. Workers are bundled by themselves,
 * with plugins of their own: they share the set of packages.
 */
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

interface Part {
	name: string;
	in: string;
}

const LIST = new URL("../third_party/parts.json", import.meta.url);

/* "preact" of ".../node_modules/preact/dist/preact.module.js"; null for our own files. */
function packageOf(id: string): string | null {
	const inside = id.split("node_modules/").at(-1) ?? "";
	if (inside === id) return id.startsWith("\0") ? (/^\0([\w@-]+)/.exec(id)?.[1] ?? id) : null;
	return /^(@[^/]+\/)?[^/]+/.exec(inside)?.[0] ?? inside;
}

function gather(found: Set<string>): Plugin {
	return {
		name: "gather-packages",
		generateBundle(_options, bundle) {
			for (const chunk of Object.values(bundle)) {
				if (chunk.type !== "chunk") continue;
				for (const [id, module] of Object.entries(chunk.modules)) {
					const name = module.renderedLength ? packageOf(id) : null;
					if (name) found.add(name);
				}
			}
		},
	};
}

/* Plugins of the page and of its workers. */
export function checkBundled(): { page: Plugin[]; worker: Plugin[] } {
	const found = new Set<string>();
	const check: Plugin = {
		name: "check-packages",
		closeBundle() {
			const parts = JSON.parse(readFileSync(LIST, "utf8")) as Part[];
			const listed = parts.filter((part) => part.in === "page").map((part) => part.name);
			const [has, says] = [[...found].sort().join(", "), listed.sort().join(", ")];
			if (has !== says)
				this.error(`the page holds ${has}; third_party/parts.json has ${says || "none"}`);
		},
	};
	return { page: [gather(found), check], worker: [gather(found)] };
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-page.tsx - what a table row leads to, below its own figures: the calls of its name, or the
 * rank and step that it stands for.
 */
import type { ViewOffer } from "../core/types";
import type { Read } from "../parts/place";
import { NamePage } from "./name-page";
import { ScopePage } from "./scope-page";

/* The full name of what the row is about; kernels only where the view says so. */
export function nameOfRow(
	offer: ViewOffer,
	read: Read,
): { name: string; kind: string | null } | null {
	for (const { name: column, place } of offer.columns) {
		if (place !== "slice" && place !== "kernel") continue;
		const kind = place === "kernel" ? "kernel" : null;
		/* a short name of the core has the full one beside it */
		const full = place === "kernel" && column !== "name" ? read("name") : null;
		const name = typeof full === "string" ? full : read(column);
		if (typeof name === "string" && name) return { name: name.trim(), kind };
	}
	return null;
}

export function RowPage({ offer, read }: { offer: ViewOffer; read: Read }) {
	const named = nameOfRow(offer, read);
	if (named) return <NamePage key={named.name} {...named} />;
	return <ScopePage read={read} />;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-page.tsx - what a table row leads to, below its own figures: the calls of its name, its
 * collectives, the rank and step that it stands for, or itself on all ranks and in all steps.
 */
import type { ViewOffer } from "../core/types";
import type { Read } from "../parts/place";
import { CollectivePage } from "./collective-page";
import { keysOf } from "./model";
import { NamePage } from "./name-page";
import { ScopePage } from "./scope-page";
import { type RowPlace, ViewPage, ViewQuery } from "./view-page";

interface Named {
	name: string;
	kind: string | null;
	pattern?: string;
}

/* The full name of what the row is about; kernels only where the view says so. */
export function nameOfRow(offer: ViewOffer, group: string, read: Read): Named | null {
	for (const { name: column, place, detail } of offer.columns) {
		if (place !== "slice" && place !== "kernel") continue;
		/* a row of a step has its name beside it */
		if (detail && typeof read("step") === "number") continue;
		const kind = place === "kernel" ? "kernel" : null;
		/* a short name of the core has the full one beside it */
		const full = place === "kernel" && column !== "name" ? read("name") : null;
		const found = typeof full === "string" ? full : read(column);
		if (typeof found !== "string" || !found) continue;
		const name = found.trim();
		if (offer.name !== "modules") return { name, kind };
		/* frames of modules; of a class all of them */
		const frame = `nn.Module: ${name}`;
		return group === "class"
			? { name: frame, kind, pattern: `${frame}_*` }
			: { name: frame, kind };
	}
	return null;
}

/* Views whose rows stand for a rank or a step and nothing else, whatever texts they have. */
const SCOPES = ["ranks", "steps", "stragglers", "clocks"];

function isScope({ offer, read }: RowPlace): boolean {
	if (typeof read("rank") !== "number" && typeof read("step") !== "number") return false;
	const texts = keysOf(offer, read).filter(([, value]) => typeof value === "string");
	return SCOPES.includes(offer.name) || !texts.length;
}

export function RowPage(place: RowPlace) {
	const { offer, group, read } = place;
	if (offer.name === "collectives") return <CollectivePage {...place} />;
	if (isScope(place))
		return (
			<>
				<ScopePage read={read} />
				{SCOPES.includes(offer.name) ? (
					<ViewQuery {...place} />
				) : (
					<ViewPage {...place} />
				)}
			</>
		);
	const named = nameOfRow(offer, group, read);
	if (!named) return <ViewPage {...place} />;
	return (
		<>
			<NamePage key={named.name} {...named} place={place} />
			{offer.name === "modules" ? <ViewPage {...place} /> : null}
		</>
	);
}

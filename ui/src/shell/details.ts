/* SPDX-License-Identifier: Apache-2.0 */
/*
 * details.ts - what the drawer shows for each kind of selection.
 */
import type { ComponentType } from "preact";
import type { Selection } from "../core/store";
import { NameDetails } from "../places/name-page";
import { AllocationDetails } from "../tabs/memory/snapshot/allocation";
import { BlockDetails } from "../tabs/memory/snapshot/block";
import { AnyRowDetails } from "../tabs/memory/snapshot/row";
import { HeldDetails } from "../tabs/memory/snapshot/stack";
import { FindingDetails } from "../tabs/verdict/details";
import { GapDetails } from "../timeline/details/gap";
import { NoteDetails } from "../timeline/details/note";
import { RangeDetails } from "../timeline/details/range";
import { SliceDetails } from "../timeline/details/slice";

export interface DetailsProps<Kind extends Selection["kind"]> {
	selected: Extract<Selection, { kind: Kind }>;
}

export type DetailsOf = {
	[Kind in Selection["kind"]]?: {
		title: string;
		component: ComponentType<DetailsProps<Kind>>;
	};
};

export const DETAILS: DetailsOf = {
	finding: { title: "Finding", component: FindingDetails },
	row: { title: "Row", component: AnyRowDetails },
	name: { title: "Name", component: NameDetails },
	held: { title: "Stack", component: HeldDetails },
	block: { title: "Block", component: BlockDetails },
	allocation: { title: "Allocation", component: AllocationDetails },
	slice: { title: "Slice", component: SliceDetails },
	gap: { title: "Gap", component: GapDetails },
	note: { title: "Note", component: NoteDetails },
	range: { title: "Range", component: RangeDetails },
};

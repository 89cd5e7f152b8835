/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chips.tsx - a choice of one out of a few: groups of a table, parts of a tab.
 */
import { tipOf } from "./tips";
import "./chips.css";

export interface Chip {
	id: string;
	title: string;
	about?: string;
}

export function Chips(props: {
	label: string;
	chips: Chip[];
	chosen: string;
	onChoose: (id: string) => void;
	strong?: boolean;
}) {
	return (
		<div
			class={props.strong ? "chips strong" : "chips"}
			role="group"
			aria-label={props.label}
		>
			{props.chips.map((chip) => (
				<button
					key={chip.id}
					type="button"
					class="chip"
					{...(chip.about ? tipOf(chip.title, chip.about) : {})}
					aria-pressed={chip.id === props.chosen}
					onClick={() => props.onChoose(chip.id)}
				>
					{chip.title}
				</button>
			))}
		</div>
	);
}

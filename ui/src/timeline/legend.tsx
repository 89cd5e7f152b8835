/* SPDX-License-Identifier: Apache-2.0 */
/*
 * legend.tsx - the legend of the timeline's colours, and the choice of what they show.
 */
import { useEffect } from "preact/hooks";
import { allColorings, COLOR_WORDS, COLORS, coloringOf, colorToken } from "../core/colors";
import { useLoaded, useOpened } from "../core/context";
import { useView } from "../core/store";
import type { Stage } from "./stage";

interface ColorsAnswer {
	color: string;
	colors: { number: number; name: string }[];
	missing: string | null;
}

/* Those of the category are known; idle time and the rest have their own keys. */
function categories(): ColorsAnswer {
	const colors = COLORS.flatMap((name, number) =>
		name === "idle" || name === "other"
			? []
			: [{ number, name: COLOR_WORDS[number] ?? name }],
	);
	return { color: "category", colors, missing: null };
}

function Choice({ stage, color }: { stage: Stage; color: string }) {
	return (
		<label class="legend-choice" title={`Colours show ${coloringOf(color).about}`}>
			<span>colour by </span>
			<select
				class="select"
				value={color}
				onChange={(event) => stage.change({ color: event.currentTarget.value })}
			>
				{allColorings().map((one) => (
					<option key={one.name} value={one.name} title={one.about}>
						{one.name}
					</option>
				))}
			</select>
		</label>
	);
}

function Keys({ answer }: { answer: ColorsAnswer | null }) {
	return (
		<ul class="legend" aria-label="Colours" tabIndex={0}>
			{answer?.missing ? <li>{answer.missing}</li> : null}
			{(answer?.colors ?? []).map(({ number, name }) => (
				<li key={number} title={name}>
					<span
						class="legend-key"
						style={{ background: `var(${colorToken(number)})` }}
					/>
					<bdi>{name}</bdi>
				</li>
			))}
			<li title="The GPU is idle; tinted by what it waits for">
				<span class="legend-key hatched idle" />
				idle, by cause
			</li>
			<li title="The part of a collective spent waiting for other ranks">
				<span class="legend-key hatched wait" />
				waiting for ranks
			</li>
		</ul>
	);
}

export function Legend({ stage }: { stage: Stage | null }) {
	const { client } = useOpened();
	const color = coloringOf(useView((view) => view.own.color)).name;
	const isPlain = color === coloringOf("").name;
	const ask = () =>
		isPlain
			? Promise.resolve(categories())
			: client.json("colors", { color });
	const loaded = useLoaded(ask, [client, color]);
	const answer = loaded.value?.color === color ? loaded.value : null;

	useEffect(() => {
		if (!stage || !answer) return;
		stage.colorNames = new Map(answer.colors.map((one) => [one.number, one.name]));
	}, [stage, answer]);
	return (
		<div class="legend-bar">
			{stage ? <Choice stage={stage} color={color} /> : null}
			{loaded.state === "failed" ? <span class="bad">{loaded.error}</span> : null}
			<Keys answer={answer} />
		</div>
	);
}

/*
 * legend.tsx - what the colours of the timeline mean.
 */
import { COLOR_WORDS, COLORS } from "../core/colors";

export function Legend() {
	return (
		<ul class="legend" aria-label="Colours">
			{COLORS.map((name, i) =>
				name === "idle" || name === "other" ? null : (
					<li key={name}>
						<span
							class="legend-key"
							style={{ background: `var(--c-${name})` }}
						/>
						{COLOR_WORDS[i]}
					</li>
				),
			)}
			<li title="A device stands idle; tinted by what it waits for">
				<span class="legend-key hatched idle" />
				idle, by cause
			</li>
			<li title="The part of a collective in which it waits for other ranks">
				<span class="legend-key hatched wait" />
				waiting for ranks
			</li>
		</ul>
	);
}

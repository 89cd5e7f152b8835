/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacked-bar.tsx - parts of a whole in one bar with a legend. The parts fill the bar exactly.
 */
import { useState } from "preact/hooks";
import { formatPercent } from "../core/format";
import { Terms } from "./tips";
import "./stacked-bar.css";

export interface BarPart {
	name: string;
	value: number;
	color: string; /* a name of core/colors.ts */
	hatched?: boolean;
	about?: string;
}

interface Props {
	parts: BarPart[];
	label: string; /* what the bar is, for people who do not see it */
	whole: string; /* what percentages are of */
	format: (value: number) => string;
}

function share(part: BarPart, sum: number): number {
	return sum > 0 ? (100 * part.value) / sum : 0;
}

export function StackedBar({ parts, label, whole, format }: Props) {
	const [active, activate] = useState<string | null>(null);
	const seen = new Set<string>();
	const sum = parts.reduce((all, part) => all + part.value, 0);

	return (
		<div class="stacked" role="group" aria-label={label}>
			<svg class="stacked-bar" width="100%" height="24" aria-hidden="true">
				<defs>
					<pattern
						id="stacked-hatch"
						width="6"
						height="6"
						patternUnits="userSpaceOnUse"
						patternTransform="rotate(45)"
					>
						<rect width="2" height="6" class="stacked-stripe" />
					</pattern>
				</defs>
				{segments(parts, sum).map(({ part, from, width }) => (
					// biome-ignore lint/a11y/noStaticElementInteractions: by keys in the legend
					<g
						key={part.name}
						class={active && active !== part.name ? "dim" : ""}
						onMouseEnter={() => activate(part.name)}
						onMouseLeave={() => activate(null)}
					>
						<title>{tell(part, sum, whole, format)}</title>
						<rect
							x={`${from}%`}
							width={`${width}%`}
							height="24"
							style={{ fill: `var(--c-${part.color})` }}
						/>
						{part.hatched ? (
							<rect
								x={`${from}%`}
								width={`${width}%`}
								height="24"
								fill="url(#stacked-hatch)"
							/>
						) : null}
						<rect
							x={`${from + width}%`}
							width="1"
							height="24"
							class="stacked-edge"
						/>
					</g>
				))}
			</svg>
			<ul class="stacked-legend">
				{parts.map((part) => (
					<li
						key={part.name}
						class={active === part.name ? "active" : ""}
						title={tell(part, sum, whole, format)}
						onMouseEnter={() => activate(part.name)}
						onMouseLeave={() => activate(null)}
					>
						<Swatch part={part} />
						<span class="stacked-name">
							<Terms text={part.name} seen={seen} />
						</span>
						<b>{format(part.value)}</b>
						<span class="stacked-share">
							{formatPercent(share(part, sum))}
						</span>
					</li>
				))}
			</ul>
		</div>
	);
}

function Swatch({ part }: { part: BarPart }) {
	return (
		<svg width="10" height="10" aria-hidden="true">
			<rect
				width="10"
				height="10"
				rx="2"
				style={{ fill: `var(--c-${part.color})` }}
			/>
			{part.hatched ? (
				<rect width="10" height="10" fill="url(#stacked-hatch)" />
			) : null}
		</svg>
	);
}

function tell(
	part: BarPart,
	sum: number,
	whole: string,
	format: (value: number) => string,
): string {
	const percent = formatPercent(share(part, sum));
	const figures = `${part.name}: ${format(part.value)}, ${percent} ${whole}`;
	return part.about ? `${figures}. ${part.about}` : figures;
}

function segments(parts: BarPart[], sum: number) {
	let before = 0;
	return parts.map((part) => {
		const from = sum > 0 ? (100 * before) / sum : 0;
		before += part.value;
		return { part, from, width: (sum > 0 ? (100 * before) / sum : 0) - from };
	});
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small-bars.tsx - a small bar chart of plain SVG: one value per label. It can be saved.
 */
import { useRef } from "preact/hooks";
import { SavePicture } from "../parts/picture";

export interface SmallBar {
	label: string;
	value: number;
	says: string;
}

const WIDTH = 360;
const HEIGHT = 96;
const BELOW = 14;
/* Room of a label below. */
const LABEL = 44;

/* More bars than pixels become means of neighbours. */
function fitted(bars: SmallBar[]): SmallBar[] {
	const stride = Math.ceil(bars.length / (WIDTH / 3));
	if (stride < 2) return bars;
	return Array.from({ length: Math.ceil(bars.length / stride) }, (_, i) => {
		const part = bars.slice(i * stride, (i + 1) * stride);
		const [first, last] = [part[0], part.at(-1)];
		return {
			label: first?.label ?? "",
			value: part.reduce((sum, one) => sum + one.value, 0) / part.length,
			says: `${first?.says}; to ${last?.says}`,
		};
	});
}

/* A bar alone is not shown where `least` is two: the row says it. */
interface Props {
	title: string;
	bars: SmallBar[];
	format: (value: number) => string;
	least?: number;
}

export function SmallBars(props: Props) {
	const picture = useRef<SVGSVGElement>(null);
	const bars = fitted(props.bars);
	if (bars.length < (props.least ?? 2)) return null;
	const most = Math.max(...bars.map((bar) => bar.value), 1e-9);
	const words = `up to ${props.format(Math.max(0, ...props.bars.map((bar) => bar.value)))}`;
	const wide = Math.min(45, WIDTH / Math.max(1, bars.length));
	const every = Math.max(1, Math.ceil(LABEL / wide));
	const high = HEIGHT - BELOW;
	return (
		<section class="small-bars">
			<h3>
				{props.title} <span class="soft">{words}</span>{" "}
				<SavePicture of={() => picture.current} name={props.title} />
			</h3>
			<svg
				ref={picture}
				viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
				width={WIDTH}
				height={HEIGHT}
				role="img"
				aria-label={`${props.title}: ${bars.map((bar) => bar.says).join("; ")}`}
			>
				{bars.map((bar, i) => {
					const height =
						bar.value > 0
							? Math.max(
									1,
									(bar.value / most) *
										(high - 2),
								)
							: 0;
					return (
						<g key={bar.label}>
							<rect
								x={i * wide}
								y={high - height}
								width={Math.max(
									1,
									wide - (wide > 4 ? 1 : 0),
								)}
								height={height}
								fill="var(--c-compute)"
							>
								<title>{bar.says}</title>
							</rect>
							{i % every === 0 ? (
								<text
									x={i * wide}
									y={HEIGHT - 2}
									font-size="10"
									fill="var(--soft)"
								>
									{bar.label}
								</text>
							) : null}
						</g>
					);
				})}
				<line
					x1="0"
					x2={WIDTH}
					y1={high + 0.5}
					y2={high + 0.5}
					stroke="var(--line)"
				/>
			</svg>
		</section>
	);
}

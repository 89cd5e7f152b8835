/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meter.tsx - parts of a whole, one line each: name, bar, time, share. The last line is the
 * whole; the parts add up to it.
 */
import { formatNs, formatPercent } from "../core/format";
import { Terms, tipOf } from "./tips";
import "./meter.css";

export interface MeterPart {
	name: string;
	ns: number;
	color: string;
	hatched?: boolean;
	about?: string;
	href?: string;
}

function Name(props: {
	part: MeterPart;
	chosen: string | undefined;
	onChoose: ((name: string) => void) | undefined;
}) {
	const { part, onChoose } = props;
	if (part.href)
		return (
			<a href={part.href} {...tipOf(part.name)}>
				{part.name}
			</a>
		);
	if (!onChoose) return <Terms text={part.name} />;
	return (
		<button
			type="button"
			class="link"
			{...tipOf(part.name, part.about)}
			aria-pressed={props.chosen === part.name}
			onClick={() => onChoose(part.name)}
		>
			{part.name}
		</button>
	);
}

interface Props {
	label: string;
	parts: MeterPart[];
	whole: { name: string; ns: number };
	/* What percentages are of. */
	base: string;
	/* A click on a name: the table below shows that part alone. */
	chosen?: string;
	onChoose?: (name: string) => void;
}

function Line({ part, most, props }: { part: MeterPart; most: number; props: Props }) {
	const share = props.whole.ns > 0 ? (100 * part.ns) / props.whole.ns : 0;
	const style = {
		width: `${(100 * part.ns) / most}%`,
		backgroundColor: `var(--c-${part.color})`,
	};

	return (
		<tr title={props.onChoose ? undefined : part.about}>
			<th scope="row">
				<Name part={part} chosen={props.chosen} onChoose={props.onChoose} />
			</th>
			<td class="meter-bar">
				<span class={part.hatched ? "hatched" : ""} style={style} />
			</td>
			<td class="number">{formatNs(part.ns)}</td>
			<td class="number" title={`${share.toFixed(3)} % of ${props.base}`}>
				{formatPercent(share)}
			</td>
		</tr>
	);
}

export function Meter(props: Props) {
	const { parts, whole } = props;
	const most = Math.max(1, ...parts.map((part) => part.ns));

	return (
		<table class="meter" aria-label={props.label}>
			<tbody>
				{parts.map((part) => (
					<Line
						key={part.name}
						part={part}
						most={most}
						props={props}
					/>
				))}
			</tbody>
			<tfoot>
				<tr>
					<th scope="row" colSpan={2}>
						{whole.name}
					</th>
					<td class="number">{formatNs(whole.ns)}</td>
					<td class="number" title={`of ${props.base}`}>
						100 %
					</td>
				</tr>
			</tfoot>
		</table>
	);
}

/*
 * meter.tsx - parts of a whole, one line each: name, bar, time, share. The last line is the
 * whole, which the parts sum to.
 */
import type { ComponentChildren } from "preact";
import { formatNs, formatPercent } from "../core/format";
import "./meter.css";

export interface MeterPart {
	name: string;
	ns: number;
	color: string;
	hatched?: boolean;
	about?: string;
	href?: string;
}

export function Meter(props: {
	label: string;
	parts: MeterPart[];
	whole: { name: string; ns: number };
	/* What percentages are of. */
	base: string;
	children?: ComponentChildren;
}) {
	const { parts, whole } = props;
	const most = Math.max(1, ...parts.map((part) => part.ns));
	const share = (ns: number) => (whole.ns > 0 ? (100 * ns) / whole.ns : 0);

	return (
		<table class="meter" aria-label={props.label}>
			<tbody>
				{parts.map((part) => (
					<tr key={part.name} title={part.about}>
						<th scope="row">
							{part.href ? <a href={part.href}>{part.name}</a> : part.name}
						</th>
						<td class="meter-bar">
							<span
								class={part.hatched ? "hatched" : ""}
								style={{
									width: `${(100 * part.ns) / most}%`,
									backgroundColor: `var(--c-${part.color})`,
								}}
							/>
						</td>
						<td class="number">{formatNs(part.ns)}</td>
						<td class="number" title={`${share(part.ns).toFixed(3)} % of ${props.base}`}>
							{formatPercent(share(part.ns))}
						</td>
					</tr>
				))}
			</tbody>
			<tfoot>
				<tr>
					<th scope="row">{whole.name}</th>
					<td />
					<td class="number">{formatNs(whole.ns)}</td>
					<td class="number" title={`of ${props.base}`}>
						100 %
					</td>
				</tr>
			</tfoot>
		</table>
	);
}

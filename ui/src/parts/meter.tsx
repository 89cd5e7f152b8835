/*
 * meter.tsx - parts of a whole, one line each: name, bar, time, share. The last line is the
 * whole, which the parts sum to.
 */
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

function Name(props: {
	part: MeterPart;
	chosen: string | undefined;
	onChoose: ((name: string) => void) | undefined;
}) {
	const { part, onChoose } = props;
	if (part.href) return <a href={part.href}>{part.name}</a>;
	if (!onChoose) return <>{part.name}</>;
	return (
		<button
			type="button"
			class="link"
			aria-pressed={props.chosen === part.name}
			onClick={() => onChoose(part.name)}
		>
			{part.name}
		</button>
	);
}

export function Meter(props: {
	label: string;
	parts: MeterPart[];
	whole: { name: string; ns: number };
	/* What percentages are of. */
	base: string;
	/* A click on a name: the table below shows that part alone. */
	chosen?: string;
	onChoose?: (name: string) => void;
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
							<Name
								part={part}
								chosen={props.chosen}
								onChoose={props.onChoose}
							/>
						</th>
						<td class="meter-bar">
							<span
								class={
									part.hatched
										? "hatched"
										: ""
								}
								style={{
									width: `${(100 * part.ns) / most}%`,
									backgroundColor: `var(--c-${part.color})`,
								}}
							/>
						</td>
						<td class="number">{formatNs(part.ns)}</td>
						<td
							class="number"
							title={`${share(part.ns).toFixed(3)} % of ${props.base}`}
						>
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

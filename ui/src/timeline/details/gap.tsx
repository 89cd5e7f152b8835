/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gap.tsx - drawer: why a GPU was idle.
 */
import type { GapAnswer, GapCause } from "../../core/types";
import { allCauses } from "../../core/colors";
import { useLoaded, useOpened } from "../../core/context";
import { formatNs, formatPercent } from "../../core/format";
import { type Selection, showOnTimeline } from "../../core/store";
import { Failed, Loading } from "../../parts/state";
import { Terms } from "../../parts/tips";
import { SliceLink } from "./slice";
import "./details.css";

type GapSelection = Extract<Selection, { kind: "gap" }>;

function Cause({ cause, gap }: { cause: GapCause; gap: GapAnswer }) {
	const share = formatPercent(gap.dur_ns ? (cause.ns * 100) / gap.dur_ns : null);
	const words = allCauses()[cause.number]?.about ?? "";
	return (
		<>
			<dt>{cause.cause}</dt>
			<dd>
				<span title={`${share} of the gap`}>{formatNs(cause.ns)}</span>
				{`: ${words}`}
				{cause.row != null && cause.name ? (
					<>
						{", "}
						<SliceLink
							file={gap.file}
							row={cause.row}
							name={cause.name}
						/>
						{cause.op ? (
							<>
								{" "}
								in <bdi>{cause.op}</bdi>
							</>
						) : null}
					</>
				) : null}
				{cause.line ? <span class="mono"> {cause.line}</span> : null}
			</dd>
		</>
	);
}

export function GapDetails({ selected }: { selected: GapSelection }) {
	const { client } = useOpened();
	const { file, track, gap: number } = selected;
	const ask = () => client.json("gap", { file, track, gap: number });
	const loaded = useLoaded(ask, [client, file, track, number]);

	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	const gap = loaded.value;
	if (!gap) return <Loading what="Looking up the gap…" />;
	const where = [
		gap.rank === null ? null : `rank ${gap.rank}`,
		`device ${gap.device}`,
		gap.step === null ? "outside of steps" : `step ${gap.step}`,
	];
	return (
		<div class="about">
			<header>
				<h2>{gap.says}</h2>
				<span class="soft">{where.filter((part) => part).join(", ")}</span>
				<button
					type="button"
					class="button"
					onClick={() =>
						showOnTimeline(gap.start_ns, gap.dur_ns, selected)
					}
				>
					Show on timeline
				</button>
			</header>
			<div class="about-columns">
				<section>
					<h3>Causes, largest first</h3>
					<dl>
						{[...gap.causes]
							.sort((a, b) => b.ns - a.ns)
							.map((cause, i) => (
								<Cause
									key={`${cause.cause} ${i}`}
									cause={cause}
									gap={gap}
								/>
							))}
					</dl>
				</section>
				{gap.during ? (
					<section>
						<h3>
							<Terms text="On the host" />
						</h3>
						<SliceLink
							file={gap.file}
							row={gap.during.row}
							name={gap.during.name}
						/>
					</section>
				) : null}
				{gap.next ? (
					<section>
						<h3>Ended by</h3>
						<SliceLink
							file={gap.file}
							row={gap.next.row}
							name={gap.next.name}
						/>
					</section>
				) : null}
			</div>
		</div>
	);
}

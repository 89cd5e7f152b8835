/* SPDX-License-Identifier: Apache-2.0 */
/*
 * details.tsx - drawer: a finding with all its evidence and places.
 */
import type { Finding, FlagPlace } from "../../core/types";
import { useLoaded, useOpened } from "../../core/context";
import { formatCount, formatNs } from "../../core/format";
import { markOf } from "../../core/words";
import { useView } from "../../core/store";
import { CopyBox } from "../../parts/copy-box";
import { Failed, Loading, Nothing } from "../../parts/state";
import type { DetailsProps } from "../../shell/details";
import { EvidenceLine, Figures, linked } from "./finding";
import { flagOf, showPlace, useFlags } from "./places";
import { Reasons } from "./reasons";
import "./verdict.css";

function Places({ finding }: { finding: Finding }) {
	const { client, job } = useOpened();
	const flags = useFlags(true);
	const { count, places } = flagOf(flags, finding) ?? { count: 0, places: [] };
	const name = (place: FlagPlace) => {
		const file = job.files.find((one) => one.file === place.file);
		const step = file?.steps?.find(
			(one) => one.start_ns <= place.start_ns && place.start_ns < one.end_ns,
		);
		const rank = file?.rank === null || !file ? "" : `rank ${file.rank}`;
		return (
			[rank, step ? `step ${step.number}` : ""].filter(Boolean).join(", ") ||
			"here"
		);
	};
	if (!flags.flags) return <p class="soft">{flags.error ?? "Looking for places …"}</p>;
	if (!places.length)
		return <p class="soft">It has no single place; it concerns the whole recording.</p>;
	return (
		<>
			<ol class="places">
				{places.map((place) => (
					<li key={`${place.file}.${place.row}.${place.start_ns}`}>
						<button
							type="button"
							class="button"
							onClick={() => void showPlace(client, finding, place)}
						>
							{name(place)}:{" "}
							{formatNs(place.end_ns - place.start_ns)}
						</button>{" "}
						<span class="soft">
							the fix saves {formatNs(place.ns)}
						</span>
					</li>
				))}
			</ol>
			{count > places.length ? (
				<p class="soft">
					The most expensive of {formatCount(count)} places.
				</p>
			) : null}
		</>
	);
}

export function FindingDetails({ selected }: DetailsProps<"finding">) {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const told = useLoaded(() => client.diagnosis({ rank }), [client, rank]);
	const finding = told.value?.findings[selected.number - 1];

	if (!told.value)
		return told.state === "failed" ? (
			<Failed error={told.error} />
		) : (
			<Loading what="Replaying the steps …" />
		);
	if (!finding)
		return <Nothing>There is no finding {selected.number} in this scope.</Nothing>;
	return (
		<div class="finding-details">
			<h3>
				<span class="finding-number">
					{markOf(finding, selected.number)}
				</span>{" "}
				{finding.title}
			</h3>
			<Figures finding={finding} told={told.value} />
			<div class="finding-columns">
				<section>
					<h4>Evidence</h4>
					<ul class="evidence">
						{finding.evidence.map((one, i) => (
							<EvidenceLine
								key={`${one.text} ${one.line}`}
								evidence={one}
								links={linked(finding.evidence, i)}
							/>
						))}
					</ul>
					{finding.fix ? (
						<CopyBox text={finding.fix} label="fix" />
					) : null}
					<Reasons finding={finding} />
				</section>
				<section>
					<h4>Places, most expensive first</h4>
					<Places finding={finding} />
				</section>
			</div>
		</div>
	);
}

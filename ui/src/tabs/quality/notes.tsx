/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.tsx - quality: unreadable files, and what was lost, repaired or not recorded.
 */
import type { Job } from "../../core/client";
import { useLoaded, useOpened } from "../../core/context";
import { formatCount } from "../../core/format";
import { plural } from "../../core/words";
import { Failed, Loading, Nothing } from "../../parts/state";
import { clockWords } from "../../shell/status";
import { brokenFiles, loadQuality, notesOf, type Odd } from "./odd";
import "./quality.css";

interface Section {
	severity: string;
	title: string;
	about: string;
	sign: string;
}

const SECTIONS: Section[] = [
	{
		severity: "lost",
		title: "Lost",
		about: "Events are missing, so numbers that need them are too low.",
		sign: "✕",
	},
	{
		severity: "mended",
		title: "Repaired",
		about: "A value in the file was wrong and was corrected.",
		sign: "~",
	},
	{ severity: "note", title: "Good to know", about: "Unusual, but harmless.", sign: "i" },
	{
		severity: "absent",
		title: "Not recorded",
		about: "Not in these files; you can record it next time.",
		sign: "–",
	},
];

function rankWords(odd: Odd, files: number): string {
	if (files < 2) return "";
	if (odd.files >= files) return "all files";
	if (odd.ranks.length && odd.ranks.length <= 8)
		return odd.ranks.length === 1
			? `rank ${odd.ranks[0]}`
			: `ranks ${odd.ranks.join(", ")}`;
	return `${odd.files} of ${files} files`;
}

function Odds({ section, odds, files }: { section: Section; odds: Odd[]; files: number }) {
	if (!odds.length) return null;
	return (
		<section class={`odds ${section.severity}`}>
			<h2>
				{section.title} <span class="soft">{section.about}</span>
			</h2>
			<ul>
				{odds.map((odd) => (
					<li key={odd.oddity}>
						<span class="odd-sign" aria-hidden="true">
							{section.sign}
						</span>
						<span class="odd-meaning">{odd.meaning}</span>
						<span class="soft">
							{odd.count > 1
								? `${formatCount(odd.count)} ×`
								: ""}
						</span>
						<span class="soft">{rankWords(odd, files)}</span>
						<code class="soft">{odd.oddity}</code>
					</li>
				))}
			</ul>
		</section>
	);
}

function Broken({ job }: { job: Job }) {
	const broken = brokenFiles(job);
	if (!broken.length) return null;
	return (
		<section class="odds lost">
			<h2>
				{plural(broken.length, "file")} could not be read{" "}
				<span class="soft">All numbers come from the other files.</span>
			</h2>
			<ul>
				{broken.map((file) => (
					<li key={file.path}>
						<span class="odd-sign" aria-hidden="true">
							✕
						</span>
						<span class="odd-meaning">{file.problem}</span>
						<code class="soft">{file.path}</code>
					</li>
				))}
			</ul>
		</section>
	);
}

export function Notes() {
	const { client, job } = useOpened();
	const loaded = useLoaded(() => loadQuality(client, job), [client]);
	const clocks = clockWords(job);

	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	if (loaded.state === "ready" && !loaded.value)
		return (
			<Nothing>
				These are digests: notes on a trace show once it is open (“Open its trace”).
			</Nothing>
		);
	if (!loaded.value) return <Loading what="Loading files…" />;
	const { odds } = notesOf(loaded.value, job);
	const good = job.files.length - brokenFiles(job).length;
	return (
		<div class="quality">
			<p>
				{plural(good, "file")}, {formatCount(job.events)} events.
				{clocks ? ` After alignment: ${clocks}.` : ""}
			</p>
			{odds.length || good < job.files.length ? null : (
				<p>
					No problems: every event was read, and everything that can be
					recorded was recorded.
				</p>
			)}
			<Broken job={job} />
			{SECTIONS.map((section) => (
				<Odds
					key={section.severity}
					section={section}
					odds={odds.filter(
						(odd) => odd.severity === section.severity,
					)}
					files={good}
				/>
			))}
		</div>
	);
}

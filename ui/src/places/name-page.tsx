/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name-page.tsx - everything about one name: all calls by length, step and rank, who calls it,
 * what it launches, its shapes, its place on the roofline, the findings that speak of it, its SQL.
 */
import type { Job } from "../core/client";
import type { Cell, JobFile } from "../core/types";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Client } from "../core/client";
import { OpenedContext, useLoaded, useOpened } from "../core/context";
import { formatCount, formatNs, formatPercent } from "../core/format";
import { showOnTimeline, store, useView, writeAddress } from "../core/store";
import { plural } from "../core/words";
import { Copy } from "../parts/copy";
import { wholeName } from "../parts/place";
import { Failed, Loading } from "../parts/state";
import { savesWords } from "../tabs/verdict/model";
import { LISTED, LineList, Query } from "./lists";
import {
	byRank,
	byStep,
	type Call,
	histogramOf,
	speaksOf,
	sqlOf,
	summaryOf,
	summedBy,
	type Tally,
} from "./model";
import { SmallBars } from "./small-bars";
import { type RowPlace, ViewPage } from "./view-page";
import "./places.css";

/* Calls that come at once; ranks that are searched. */
const CALLS_MOST = 10_000;
const FILES_MOST = 64;

interface Calls {
	calls: Call[];
	count: number;
	files: number /* searched */;
	of: number;
}

function filesOf(job: Job, rank: number | null): JobFile[] {
	const good = job.files.filter((file) => file.problem === null && !file.digest);
	return rank === null ? good : good.filter((file) => file.rank === rank);
}

async function callsOf(
	client: Client,
	job: Job,
	q: string,
	kind: string | null,
	scope: { rank: number | null; step: number | null },
): Promise<Calls> {
	const all = filesOf(job, scope.rank);
	const files = all.slice(0, FILES_MOST);
	const found = await client.json("search", {
		q,
		kind,
		step: scope.step,
		files: files.map((file) => file.file).join(","),
		limit: CALLS_MOST,
	});
	return { calls: found.hits, count: found.count, files: files.length, of: all.length };
}

/* --- who calls it ------------------------------------------------------------------------- */

interface Group {
	view: string;
	group: string;
	column: string;
	time: string;
	title: string;
}

const GROUPS: Group[] = [
	{ view: "operators", group: "line", column: "line", time: "host_total_ns", title: "Lines" },
	{
		view: "operators",
		group: "module",
		column: "module",
		time: "host_total_ns",
		title: "Modules",
	},
	{
		view: "operators",
		group: "shapes",
		column: "shapes",
		time: "host_total_ns",
		title: "Shapes",
	},
	{ view: "kernels", group: "op", column: "op", time: "total_ns", title: "Operators" },
];

function Lines({ group, name }: { group: Group; name: string }) {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const loaded = useLoaded(
		() =>
			client.view(group.view, {
				...{
					rank,
					step,
					group: group.group,
					name: wholeName(name),
					top: 200,
				},
			}),
		[client, group, name, rank, step],
	);
	const isOf = (names: Cell[]) => names.includes(name);
	const lines = loaded.value
		? summedBy(loaded.value, group.column, group.time, isOf, ["name", "kernel"])
		: [];
	return <LineList title={group.title} lines={lines} />;
}

/* Of the longest call: frames, what is around it, what it launches. */
function Longest({ call }: { call: Call }) {
	const { client } = useOpened();
	const { file, row } = call;
	const slice = useLoaded(
		() => client.json("slice", { file, row }),
		[client, file, row],
	).value;
	if (!slice) return null;
	const flows = slice.flows ?? [];
	const frames = slice.stack ?? [];
	const inside = (slice.parents ?? []).map((one) => one.name);
	return (
		<>
			{flows.length ? (
				<section>
					<h3>
						{flows[0]?.way === "from"
							? "Launched by"
							: "Launches"}
						, longest call
					</h3>
					<ul class="place-list">
						{flows.slice(0, LISTED).map((flow) => (
							<li key={flow.row}>
								<NameLink name={flow.name} />{" "}
								<span class="soft">
									{formatNs(flow.dur_ns)}
								</span>
							</li>
						))}
					</ul>
				</section>
			) : null}
			{frames.length || inside.length ? (
				<section>
					<h3>{frames.length ? "Frames" : "Inside"}, longest call</h3>
					<ol class="place-list mono">
						{(frames.length ? frames : inside)
							.slice(0, LISTED)
							.map((text, i) => (
								<li key={`${i} ${text}`}>
									<bdi>{text}</bdi>
								</li>
							))}
					</ol>
				</section>
			) : null}
		</>
	);
}

/* --- what it costs ------------------------------------------------------------------------ */

function Roofline({ name }: { name: string }) {
	const { client } = useOpened();
	const rank = useView((view) => view.rank);
	const table = useLoaded(
		() => client.view("roofline", { rank, name: wholeName(name), top: 50 }),
		[client, rank, name],
	).value;
	const at = (column: string) => table?.columns.findIndex((one) => one.name === column) ?? -1;
	const rows = table?.rows.filter((row) => row[at("name")] === name) ?? [];
	if (!rows.length) return null;
	return (
		<section>
			<h3>Roofline</h3>
			<ul class="place-list">
				{rows.slice(0, 3).map((row, i) => (
					<li key={`${i} ${row[at("shapes")]}`}>
						<bdi class="mono">{row[at("shapes")]}</bdi>{" "}
						<span class="soft">
							{row[at("dtype")] ?? ""}{" "}
							{formatPercent(
								row[at("peak_percent")] as
									| number
									| null,
							)}{" "}
							of the peak, bound by{" "}
							{row[at("bound")] ?? "unknown"}
						</span>
					</li>
				))}
			</ul>
		</section>
	);
}

/* The findings that speak of it: what they save is the what-if of the rule that owns it. */
export function Owned({ name }: { name: string }) {
	const { client } = useOpened();
	const told = useLoaded(() => client.diagnosis(), [client]).value;
	const found = (told?.findings ?? [])
		.map((finding, i) => ({ finding, number: i + 1 }))
		.filter(
			({ finding }) =>
				speaksOf(finding.title, name) ||
				finding.evidence.some((one) => speaksOf(one.text, name)),
		);
	if (!found.length) return null;
	return (
		<section>
			<h3>What if</h3>
			<ul class="place-list">
				{found.map(({ finding, number }) => (
					<li key={number}>
						<a
							href={writeAddress({
								...store.view,
								tab: "verdict",
								own: {},
								selected: {
									kind: "finding",
									number,
								},
							})}
						>
							{finding.title}
						</a>{" "}
						<span class="soft">
							{finding.cost_ns === null
								? ""
								: `${savesWords(finding, formatNs(finding.cost_ns))} per step`}
						</span>
					</li>
				))}
			</ul>
		</section>
	);
}

/* --- where it is -------------------------------------------------------------------------- */

/* Steps through the calls on the timeline. */
export function Walk(props: { calls: number; of: number; onShow: (index: number) => void }) {
	const [at, go] = useState(-1);
	const show = (index: number) => {
		go(index);
		props.onShow(index);
	};
	return (
		<span class="place-walk">
			<button
				type="button"
				class="button"
				disabled={at <= 0}
				onClick={() => show(at - 1)}
			>
				Previous
			</button>
			<button
				type="button"
				class="button"
				disabled={at + 1 >= props.calls}
				onClick={() => show(at + 1)}
			>
				{at < 0 ? "First on timeline" : "Next"}
			</button>
			<span class="soft">
				{at < 0 ? "" : `${formatCount(at + 1)} of ${formatCount(props.of)}`}
			</span>
		</span>
	);
}

function barsOf(tallies: Tally[], of: string) {
	return tallies.map(({ label, value, calls }) => ({
		label,
		value,
		says: `${of} ${label}: ${formatNs(value)} in ${formatCount(calls)} calls`,
	}));
}

/* How many calls take how long. */
export function DurationBars({ title, calls }: { title: string; calls: Call[] }) {
	return (
		<SmallBars
			title={title}
			least={1}
			format={(count) => plural(count, "call")}
			bars={histogramOf(calls).map(({ from_ns, to_ns, calls: count, total_ns }) => ({
				label: formatNs(from_ns),
				value: count,
				says:
					`${formatNs(from_ns)} to ${formatNs(to_ns)}: ` +
					`${plural(count, "call")}, ${formatNs(total_ns)}`,
			}))}
		/>
	);
}

function Charts({ found, job }: { found: Calls; job: Job }) {
	const [steps, ranks] = [byStep(found.calls, job), byRank(found.calls, job)];
	return (
		<>
			<DurationBars title="Calls by duration" calls={found.calls} />
			<SmallBars title="Time by step" format={formatNs} bars={barsOf(steps, "step")} />
			<SmallBars title="Time by rank" format={formatNs} bars={barsOf(ranks, "rank")} />
		</>
	);
}

/* Another name: its page, in the same run unless another one is chosen. */
export function NameLink(props: { name: string; run?: number; children?: ComponentChildren }) {
	const { name, children } = props;
	const opened = useOpened();
	const run = props.run ?? opened.run ?? 0;
	return (
		<button
			type="button"
			class="link"
			title={name}
			onClick={() =>
				store.set({
					selected: { kind: "name", name, ...(run ? { run } : {}) },
				})
			}
		>
			{children ?? <bdi class="mono">{name}</bdi>}
		</button>
	);
}

/* Other calls than those of the name alone; the row that led here. */
interface NameProps {
	name: string;
	kind: string | null;
	pattern?: string;
	place?: RowPlace;
}

export function NamePage({ name, kind, pattern, place }: NameProps) {
	const { client, job, run = 0 } = useOpened();
	const rank = useView((view) => view.rank);
	const step = useView((view) => view.step);
	const asked = pattern ?? wholeName(name);
	const loaded = useLoaded(
		() => callsOf(client, job, asked, kind, { rank, step }),
		[client, job, asked, kind, rank, step],
	);
	const found = loaded.value;
	if (loaded.state === "failed") return null;
	if (!found) return <Loading what="Looking up its calls…" />;
	const summary = summaryOf(found.calls);
	if (!summary) return place ? <ViewPage {...place} /> : <Query query={sqlOf(name)} />;
	const show = (index: number) => {
		const call = found.calls[index];
		if (!call) return;
		const { file, row } = call;
		showOnTimeline(call.start_ns, call.dur_ns, { kind: "slice", file, row });
	};
	const longest = found.calls.reduce((a, b) => (b.dur_ns > a.dur_ns ? b : a));
	const cut =
		found.count > found.calls.length
			? ` (charts: the first ${formatCount(found.calls.length)} of them)`
			: "";
	const ranks =
		found.of > found.files ? ` on the first ${found.files} of ${found.of} ranks` : "";
	return (
		<div class="name-page">
			<p>
				{formatCount(found.count)} calls{ranks}
				{cut}: {formatNs(summary.total_ns)}; median{" "}
				{formatNs(summary.median_ns)}, 90 % within{" "}
				{formatNs(summary.p90_ns)}, {formatNs(summary.min_ns)} to{" "}
				{formatNs(summary.max_ns)}. {" "}
				{run ? null : (
					<Walk
						key={name}
						calls={found.calls.length}
						of={found.count}
						onShow={show}
					/>
				)}
			</p>
			<div class="name-columns">
				<Charts found={found} job={job} />
				{GROUPS.map((group) => (
					<Lines key={group.title} group={group} name={name} />
				))}
				<Longest call={longest} />
				<Roofline name={name} />
				{run ? null : <Owned name={name} />}
				{pattern || run ? null : <Query query={sqlOf(name)} />}
			</div>
		</div>
	);
}

/* Drawer: a name that was chosen in a slice, or in another page. */
export function NameDetails(props: { selected: { kind: "name"; name: string; run?: number } }) {
	const { name, run = 0 } = props.selected;
	const first = useOpened();
	const loaded = useLoaded(async () => {
		if (!run) return first;
		const client = first.client.ofRun(run);
		return { ...first, client, job: await client.job(), run };
	}, [first.client, first.job, run]);
	return (
		<div class="row-details">
			<header>
				<h2 class="mono">{name}</h2>
				{run ? <span class="soft">in run B</span> : null}
				<Copy text={name} label="copy name" />
			</header>
			{loaded.state === "failed" ? <Failed error={loaded.error} /> : null}
			<OpenedContext.Provider value={loaded.value}>
				{loaded.value ? <NamePage name={name} kind={null} /> : null}
			</OpenedContext.Provider>
		</div>
	);
}

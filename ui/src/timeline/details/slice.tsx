/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.tsx - drawer: everything about a slice.
 */
import type { Collective, Flow, GapAnswer, SliceAnswer } from "../../core/types";
import { useState } from "preact/hooks";
import { COLOR_WORDS, COLORS } from "../../core/colors";
import { membersOf } from "../draw/overlay";
import { useLoaded, useOpened } from "../../core/context";
import { formatBytes, formatNs } from "../../core/format";
import { type Selection, showOnTimeline, store } from "../../core/store";
import { Copy } from "../../parts/copy";
import { CopyFacts } from "../../places/copy-facts";
import type { Fact } from "../../places/model";
import { shortName, titleName } from "../../parts/names";
import { Failed, Loading } from "../../parts/state";
import { Terms } from "../../parts/tips";
import { lateGap } from "../jump";
import "./details.css";

type SliceSelection = Extract<Selection, { kind: "slice" }>;

/* Members that are listed; the line on the timeline has them all. */
const MEMBERS = 16;

function select(file: number, row: number): void {
	store.set({ selected: { kind: "slice", file, row } });
}

export function SliceLink(props: { file: number; row: number; name: string }) {
	return (
		<button
			type="button"
			class="link"
			title={props.name}
			onClick={() => select(props.file, props.row)}
		>
			<bdi>{shortName(props.name)}</bdi>
		</button>
	);
}

const FLOW_WORDS: Record<string, [from: string, to: string]> = {
	launch: ["launched by", "launches"],
	operator: ["of the operator", "runs"],
	backward: ["forward", "backward"],
};

function Flows({ flows, count }: { flows: Flow[]; count: number }) {
	if (!flows.length) return null;
	return (
		<section>
			<h3>Flows ([ and ] follow them)</h3>
			<dl>
				{flows.map((flow) => {
					const words = FLOW_WORDS[flow.kind] ?? [
						`${flow.kind} from`,
						`${flow.kind} to`,
					];
					return [
						<dt key={`${flow.row} dt`}>
							{words[flow.way === "from" ? 0 : 1]}
						</dt>,
						<dd key={`${flow.row} dd`}>
							<SliceLink
								file={flow.file}
								row={flow.row}
								name={flow.name}
							/>{" "}
							<span class="soft">
								{formatNs(flow.dur_ns)}
							</span>
						</dd>,
					];
				})}
			</dl>
			{count > flows.length ? (
				<p class="soft">and {count - flows.length} more</p>
			) : null}
		</section>
	);
}

function Waiting({ collective, rank }: { collective: Collective; rank: number | null }) {
	const { last_rank } = collective;
	if (last_rank === null) return null;
	if (last_rank === rank) return <dd class="bad">the others waited for this rank</dd>;
	return <dd>all ranks waited for rank {last_rank}</dd>;
}

/* A gap in words: the same as its own page has. */
function Idle(props: { gap: GapAnswer | null; term: string; of?: string }) {
	const { gap, term, of } = props;
	if (!gap) return null;
	const selected = { kind: "gap" as const, file: gap.file, track: gap.track, gap: gap.gap };
	return (
		<>
			<dt>{term}</dt>
			<dd>
				{of}
				<button
					type="button"
					class="link"
					onClick={() => showOnTimeline(gap.start_ns, gap.dur_ns, selected)}
				>
					{gap.says}
				</button>
			</dd>
		</>
	);
}

/* What the rank that arrived last did before. */
function Late({ collective }: { collective: Collective }) {
	const { client } = useOpened();
	const loaded = useLoaded(() => lateGap(client, collective), [client, collective]);
	return <Idle gap={loaded.value} term="before" of={`rank ${collective.last_rank}: `} />;
}

/* The idle time that waits for it or that it ended: why the GPU had nothing to do. */
function OwnIdle({ slice }: { slice: SliceAnswer }) {
	const { client } = useOpened();
	const { file } = slice;
	const own = slice.before ?? slice.gap;
	const loaded = useLoaded(
		async () =>
			own && client.json("gap", { file, track: own.track, gap: own.gap }),
		[client, slice],
	);
	const term = slice.before ? "before" : slice.gap?.is_cause ? "waits for it" : "meanwhile";
	return <Idle gap={loaded.value ?? null} term={term} of="the GPU is " />;
}

function Members({ collective }: { collective: Collective }) {
	const members = membersOf(collective).sort((a, b) => (b.wait_ns ?? 0) - (a.wait_ns ?? 0));
	if (members.length < 2) return null;
	return (
		<>
			<h3>
				<Terms text="Ranks, longest wait first" />
			</h3>
			<dl>
				{members.slice(0, MEMBERS).map((one) => [
					<dt key={`${one.file} dt`}>
						<SliceLink
							file={one.file}
							row={one.row}
							name={`rank ${one.rank ?? "?"}`}
						/>
					</dt>,
					<dd key={`${one.file} dd`}>
						{formatNs(one.dur_ns)}, waited{" "}
						{formatNs(one.wait_ns)}
						{one.rank === collective.last_rank
							? " · last to arrive"
							: ""}
					</dd>,
				])}
			</dl>
			{members.length > MEMBERS ? (
				<p class="soft">and {members.length - MEMBERS} more</p>
			) : null}
		</>
	);
}

function Together({ collective, rank }: { collective: Collective; rank: number | null }) {
	return (
		<section>
			<h3>
				<Terms text="Collective" />
			</h3>
			<dl>
				<dt>what</dt>
				<dd>
					{collective.kind}
					{collective.bytes === null
						? ""
						: `, ${formatBytes(collective.bytes)}`}
				</dd>
				<dt>transfer</dt>
				<dd>{formatNs(collective.transfer_ns)}</dd>
				<dt>waiting</dt>
				<dd>{formatNs(collective.wait_ns)}</dd>
				{collective.last_rank === null ? null : <dt>for</dt>}
				<Waiting collective={collective} rank={rank} />
				<Late collective={collective} />
			</dl>
			<Members collective={collective} />
		</section>
	);
}

function Facts({ slice }: { slice: SliceAnswer }) {
	const word = COLOR_WORDS[slice.color] ?? "other";
	const background = `var(--c-${COLORS[slice.color] ?? "other"})`;
	return (
		<section>
			<h3>Slice</h3>
			<dl>
				<dt>kind</dt>
				<dd>
					<span class="swatch" style={{ background }} />
					{word}
					{slice.category ? (
						<span class="soft"> ({slice.category})</span>
					) : null}
				</dd>
				<dt>duration</dt>
				<dd title={`${slice.dur_ns} ns`}>{formatNs(slice.dur_ns)}</dd>
				{slice.self_ns === null ? null : (
					<>
						<dt>self</dt>
						<dd title="without nested slices">
							{formatNs(slice.self_ns)}
						</dd>
					</>
				)}
				<dt>start</dt>
				<dd title={`${slice.start_ns} ns from the start of the run`}>
					{formatNs(slice.start_ns)} after the start of the run
				</dd>
				<dt>where</dt>
				<dd>
					{[
						slice.rank === null ? null : `rank ${slice.rank}`,
						slice.step === null
							? "outside of steps"
							: `step ${slice.step}`,
					]
						.filter((part) => part)
						.join(", ")}
				</dd>
				{slice.collective ? null : <OwnIdle slice={slice} />}
			</dl>
		</section>
	);
}

function Arguments({ slice }: { slice: SliceAnswer }) {
	const args = slice.args ?? [];
	if (!args.length) return null;
	return (
		<section aria-label="Arguments">
			<h3>Arguments</h3>
			<dl>
				{args.map((arg, i) => [
					<dt key={`${i} dt`}>
						<bdi>{arg.name}</bdi>
					</dt>,
					<dd key={`${i} dd`} class="mono">
						<bdi>{arg.value}</bdi>
					</dd>,
				])}
			</dl>
		</section>
	);
}

/* Of a search no more letters are sent. */
const SEARCH_MOST = 200;

function factsOf(slice: SliceAnswer): Fact[] {
	const { kind, category, rank, step, start_ns, dur_ns, self_ns } = slice;
	const own: Fact[] = Object.entries({
		...{ kind, category, rank, step, start_ns, dur_ns, self_ns },
	});
	return [...own, ...(slice.args ?? []).map(({ name, value }): Fact => [name, value])];
}

const CORRELATION = /^correlation$/i;

/* Everything with the correlation id of the slice: the call, and all that it started. */
function Correlated({ slice }: { slice: SliceAnswer }) {
	const { client } = useOpened();
	const [open, change] = useState(false);
	const id = slice.args?.find(({ name }) => CORRELATION.test(name))?.value;
	const call = slice.flows?.find((flow) => flow.kind === "launch" && flow.way === "from");
	const row = call?.row ?? slice.row;
	const loaded = useLoaded(
		async () =>
			open ? await client.json("slice", { file: slice.file, row }) : null,
		[client, slice.file, row, open],
	);
	const whole = loaded.value;
	if (id === undefined) return null;
	const started = (whole?.flows ?? []).filter(
		(flow) => flow.kind === "launch" && flow.way === "to",
	);
	return (
		<section>
			<h3>
				<button
					type="button"
					class="button"
					aria-expanded={open}
					onClick={() => change(!open)}
				>
					All of this correlation
				</button>{" "}
				<span class="soft">{id}</span>
			</h3>
			{open && whole ? (
				<ul class="place-list">
					{[whole, ...started].map((one) => (
						<li key={one.row}>
							<SliceLink file={slice.file} row={one.row} name={one.name} />{" "}
							<span class="soft">{formatNs(one.dur_ns)}</span>
						</li>
					))}
				</ul>
			) : null}
		</section>
	);
}

function Calls({ slice }: { slice: SliceAnswer }) {
	const stack = slice.stack ?? [];
	const parents = slice.parents ?? [];
	if (!stack.length && !parents.length) return null;
	return (
		<section>
			{stack.length ? (
				<>
					<h3>
						Python stack
						{slice.stack_of ? " of " : ""}
						<bdi>{slice.stack_of?.name}</bdi>
						, innermost first
					</h3>
					<ol class="about-stack">
						{stack.map((frame, i) => (
							<li key={`${i} ${frame}`}>{frame}</li>
						))}
					</ol>
				</>
			) : null}
			{parents.length ? (
				<>
					<h3>Inside</h3>
					<ol>
						{parents.map((one) => (
							<li key={one.row}>
								<SliceLink
									file={slice.file}
									row={one.row}
									name={one.name}
								/>
							</li>
						))}
					</ol>
				</>
			) : null}
		</section>
	);
}

export function SliceDetails({ selected }: { selected: SliceSelection }) {
	const { client } = useOpened();
	const { file, row } = selected;
	const ask = () => client.json("slice", { file, row });
	const loaded = useLoaded(ask, [client, file, row]);

	if (loaded.state === "failed") return <Failed error={loaded.error} />;
	const slice = loaded.value;
	if (!slice) return <Loading what="Looking up the slice…" />;
	return (
		<div class="about">
			<header>
				<h2 class="mono">{titleName(slice.short ?? slice.name)}</h2>
				<Copy text={slice.name} label="copy name" />
				<CopyFacts title={slice.name} facts={factsOf(slice)} />
				<ShowButton slice={slice} />
				<button
					type="button"
					class="button"
					title="All slices of this name: how long, when, on which ranks"
					onClick={() =>
						store.set({
							search: slice.name.slice(0, SEARCH_MOST),
							selected: { kind: "name", name: slice.name },
						})
					}
				>
					All of this name
				</button>
				<NoteButton slice={slice} />
			</header>
			{titleName(slice.short ?? slice.name) !== slice.name ? (
				<div class="soft mono">{slice.name}</div>
			) : null}
			<div class="about-columns">
				<Facts slice={slice} />
				<Arguments slice={slice} />
				{slice.collective ? (
					<Together collective={slice.collective} rank={slice.rank} />
				) : null}
				<Flows
					flows={slice.flows ?? []}
					count={slice.flow_count ?? slice.flows?.length ?? 0}
				/>
				<Correlated slice={slice} />
				<Calls slice={slice} />
			</div>
			{(slice.missing ?? []).map((sentence) => (
				<p key={sentence} class="soft">
					{sentence}
				</p>
			))}
		</div>
	);
}

function NoteButton({ slice }: { slice: SliceAnswer }) {
	const from = Math.max(0, Math.round(slice.start_ns));
	const to = Math.max(from, Math.round(slice.start_ns + slice.dur_ns));
	return (
		<button
			type="button"
			class="button"
			title="Add a note to this slice (N)"
			onClick={() => store.set({ selected: { kind: "note", from, to } })}
		>
			Note
		</button>
	);
}

/* With the idle time that waits for it, or with the other ranks of a collective. */
function ShowButton({ slice }: { slice: SliceAnswer }) {
	const { file, row, start_ns, dur_ns } = slice;
	const show = () => showOnTimeline(start_ns, dur_ns, { kind: "slice", file, row });
	return (
		<button type="button" class="button" onClick={show}>
			Show on timeline
		</button>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bars.tsx - ranks: the mean step of each rank in parts that add up to it. Many ranks are shown
 * in pages, sorted so that outliers come first.
 */
import type { Job } from "../../core/client";
import type { PartLook } from "../../core/types";
import { useMemo } from "preact/hooks";
import { kindOf } from "../../core/colors";
import { useLoaded, useOpened } from "../../core/context";
import { formatCount, formatNs, formatPercent } from "../../core/format";
import { rowsOf, sum } from "../../core/rows";
import { store, useView } from "../../core/store";
import type { RanksRow } from "../../core/tables";
import { Basis } from "../../parts/basis";
import { type Bar, Bars } from "../../parts/bars";
import { Chips } from "../../parts/chips";
import { Failed, Loading } from "../../parts/state";

/* Bars of one page: wide enough to be hit. */
const PAGE = 64;

const ORDERS = [
	{ id: "", title: "by rank", about: "Sorted by rank number" },
	{ id: "slow", title: "longest step first", about: "The slowest ranks first" },
	{ id: "wait", title: "longest wait first", about: "The ranks that wait most for others first" },
	{ id: "late", title: "shortest wait first", about: "The ranks that the others wait for first" },
];

interface RankBar extends Bar {
	rank: number | null;
	step: number;
	wait: number;
}

/* The bar of each rank; parts in the order of the legend. */
export function rankBars(rows: RanksRow[], looks: PartLook[]): RankBar[] {
	const ranks = new Map<number | null, RanksRow[]>();
	for (const row of rows) {
		const same = ranks.get(row.rank);
		if (same) same.push(row);
		else ranks.set(row.rank, [row]);
	}
	return [...ranks].map(([rank, of]) => {
		const found = new Map(of.map((row) => [row.part, row]));
		const parts = looks.map((look) => found.get(look.name)?.part_ns ?? 0);
		const step = of[0]?.step_ns ?? sum(parts);
		const told = of.map(
			(row) =>
				`${row.part} ${formatNs(row.part_ns ?? 0)}, ` +
				formatPercent(row.part_percent ?? 0),
		);
		return {
			id: String(rank ?? ""),
			label: rank === null ? "?" : String(rank),
			title: [`Rank ${rank ?? "?"}: ${formatNs(step)} per step`, ...told].join("\n"),
			parts,
			rank,
			step,
			wait: sum(parts.filter((_, i) => looks[i]?.waits)),
		};
	});
}

export function inOrder(bars: RankBar[], order: string): RankBar[] {
	const by: Record<string, (a: RankBar, b: RankBar) => number> = {
		slow: (a, b) => b.step - a.step,
		wait: (a, b) => b.wait - a.wait,
		late: (a, b) => a.wait - b.wait,
	};
	const compare = by[order];
	return compare ? [...bars].sort(compare) : bars;
}

/* The whole of the rank on the timeline, unfolded. */
function showRank(job: Job, rank: number | null): void {
	const file = job.files.find((one) => one.problem === null && one.rank === rank);
	const steps = file?.steps ?? [];
	const from = steps[0]?.start_ns ?? file?.start_ns;
	const to = steps.at(-1)?.end_ns ?? file?.end_ns;
	if (!file || from === undefined || to === undefined) return;
	store.set({ tab: "timeline", from, to, selected: null, own: { open: String(file.file) } });
}

function Pages({ count, at }: { count: number; at: number }) {
	const pages = Math.ceil(count / PAGE);
	if (pages < 2) return null;
	const go = (page: number) => store.setOwn({ page: page ? String(page) : "" });
	const [first, last] = [at * PAGE + 1, Math.min(count, (at + 1) * PAGE)];
	return (
		<span class="ranks-pages">
			<button
				type="button"
				class="button"
				aria-label="Previous ranks"
				disabled={at === 0}
				onClick={() => go(at - 1)}
			>
				◀
			</button>
			<span aria-live="polite">
				{first} to {last} of {formatCount(count)} ranks
			</span>
			<button
				type="button"
				class="button"
				aria-label="Next ranks"
				disabled={at + 1 >= pages}
				onClick={() => go(at + 1)}
			>
				▶
			</button>
		</span>
	);
}

function Chosen({ bar }: { bar: RankBar | undefined }) {
	const { job } = useOpened();
	if (!bar) return <>Click a rank to show only that rank in all tabs.</>;
	return (
		<>
			{bar.title.replaceAll("\n", " · ")}{" "}
			<button type="button" class="link" onClick={() => showRank(job, bar.rank)}>
				Show on the timeline
			</button>{" "}
			<button type="button" class="link" onClick={() => store.set({ rank: null })}>
				All ranks
			</button>
		</>
	);
}

export function RankBars() {
	const { client, job } = useOpened();
	const rank = useView((view) => view.rank);
	const order = useView((view) => view.own.order ?? "");
	const page = useView((view) => Number(view.own.page ?? 0) || 0);
	const loaded = useLoaded(async () => {
		const offers = await client.offers();
		const table = await client.view("ranks", { group: "part", top: 0 });
		return { looks: offers.rank_parts, table };
	}, [client, job]);
	const bars = useMemo(() => {
		if (!loaded.value) return [];
		const { looks, table } = loaded.value;
		return inOrder(rankBars(rowsOf(table, "ranks"), looks), order);
	}, [loaded.value, order]);

	if (!loaded.value)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Adding up the ranks …" />
		);
	if (!bars.length) return null;
	const at = Math.min(page, Math.ceil(bars.length / PAGE) - 1);
	const chosen = bars.find((bar) => bar.rank === rank && rank !== null);
	return (
		<section class="rank-bars" aria-label="Step time of each rank">
			<div class="rank-bars-head">
				<b>Step time of each rank</b> <Basis of={loaded.value.table} />
				<Chips
					label="Order of the ranks"
					chips={ORDERS}
					chosen={order}
					onChoose={(id) => store.setOwn({ order: id, page: "" })}
				/>
				<Pages count={bars.length} at={at} />
			</div>
			<Bars
				label="Step time of each rank"
				kinds={loaded.value.looks.map(kindOf)}
				bars={bars.slice(at * PAGE, (at + 1) * PAGE)}
				chosen={chosen?.id ?? null}
				onChoose={(id) => {
					const next = id === "" ? null : Number(id);
					store.set({ rank: rank === next ? null : next });
				}}
			/>
			<p class="soft">
				<Chosen bar={chosen} />
			</p>
		</section>
	);
}

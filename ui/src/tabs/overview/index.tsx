/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: a step at a glance: its parts, the devices, and what takes most time.
 */
import type { Job } from "../../core/client";
import type { ComponentChildren } from "preact";
import { useOpened } from "../../core/context";
import { useView, writeAddress } from "../../core/store";
import { usualGaps } from "../../parts/scope";
import { TabParts } from "../../parts/tab-parts";
import { Terms } from "../../parts/tips";
import type { Tab } from "../tab";
import { Budget } from "./budget";
import { Devices } from "./devices";
import { Utilization } from "./headline";
import { Phases } from "./phases";
import { StepChart } from "./steps";
import { Top, type TopOf } from "./top";
import "./overview.css";

const TOPS: TopOf[] = [
	{
		view: "kernels",
		title: "Kernels",
		group: null,
		name: ["kernel", "name"],
		value: "total_ns",
		share: "share_percent",
		spread: true,
		empty: "No kernels. Record them with ProfilerActivity.CUDA.",
	},
	{
		view: "operators",
		title: "Operators",
		group: null,
		name: ["name"],
		value: "host_self_ns",
		share: null,
		spread: true,
		empty: "No operators. Record them with ProfilerActivity.CPU.",
	},
	{
		view: "gaps",
		title: "Gaps",
		group: "gap",
		name: ["cause"],
		more: ["op", "host", "line"],
		value: "idle_ns",
		share: "step_percent",
		spread: false,
		empty: "No idle time in the steps, or no GPU activity.",
	},
];

const WORDS: Record<string, string> = {
	kernels: "total GPU time, share of all kernels",
	operators: "host self time",
	gaps: "idle time, share of step time",
};

function Card(props: { title: string; about?: string; children: ComponentChildren }) {
	return (
		<section class="card">
			<h2>
				<Terms text={props.title} /> <span class="soft">{props.about}</span>
			</h2>
			{props.children}
		</section>
	);
}

function topOf(top: TopOf, job: Job): TopOf {
	return top.view === "gaps" ? { ...top, group: usualGaps(job) } : top;
}

function Cards() {
	const view = useView((all) => all);
	const { job } = useOpened();
	const scope = view.rank === null ? "" : `rank ${view.rank}`;

	return (
		<div class="cards">
			<Utilization />
			<Card title="Phases" about="per step; click a step to show it alone">
				<Phases />
			</Card>
			<Card title="Steps" about="by GPU activity, or by host activity while the GPU is idle">
				<StepChart />
			</Card>
			<Card
				title={view.step === null ? "The mean step" : `Step ${view.step}`}
				about={scope}
			>
				<Budget />
			</Card>
			<Card
				title="Devices"
				about={[scope, "over all selected steps"].filter(Boolean).join(", ")}
			>
				<Devices />
			</Card>
			{TOPS.map((top) => (
				<Card
					key={top.view}
					title={top.title}
					about={WORDS[top.view] ?? ""}
				>
					<Top top={topOf(top, job)} />
					<a
						href={writeAddress({
							...view,
							tab: top.view,
							own: {},
							selected: null,
						})}
					>
						All {top.title.toLowerCase()}
					</a>
				</Card>
			))}
		</div>
	);
}

const SUMMARY = {
	id: "summary",
	title: "Summary",
	about: "The step, the devices, and what takes most time",
	component: Cards,
};

function Overview() {
	return <TabParts tab="overview" before={[SUMMARY]} groups={{ budget: "part" }} />;
}

export const overviewTab: Tab = { id: "overview", title: "Overview", component: Overview };

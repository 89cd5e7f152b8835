/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.tsx - tab: all ranks on one clock.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useOpened } from "../core/context";
import { formatCount, formatNs } from "../core/format";
import { useView } from "../core/store";
import { SavePicture } from "../parts/picture";
import type { Tab } from "../tabs/tab";
import { runOnTimeline } from "./commands";
import { Heads } from "./heads";
import { Input } from "./input";
import { Legend } from "./legend";
import { NoteLane } from "./notes";
import type { Hover } from "./pick";
import { OpenInPerfetto } from "./perfetto";
import { timelinePicture } from "./picture";
import { Stage } from "./stage";
import { Tip } from "./tip";
import "./timeline.css";

const LABEL =
	"Timeline. Period selects the next slice, comma the previous one, W and S zoom, " +
	"A and D pan, question mark shows all keys.";

function Toggle(props: { on: boolean; title: string; text: string; onClick: () => void }) {
	return (
		<button
			type="button"
			class="tool"
			aria-pressed={props.on}
			title={props.title}
			onClick={props.onClick}
		>
			{props.text}
		</button>
	);
}

function PathWords({ stage }: { stage: Stage }) {
	const { look } = stage;
	const { path } = stage.loads;
	if (!look.path) return null;
	if (!path) return <span class="tool-words">Replaying the steps…</span>;
	const parts = path.parts.filter((part) => part.ns > 0).sort((a, b) => b.ns - a.ns);
	const words = parts.slice(0, 3).map((part) => `${part.part} ${formatNs(part.ns)}`);
	return (
		<span
			class="tool-words"
			title={parts.map((one) => `${one.part} ${formatNs(one.ns)}`).join(", ")}
		>
			critical path {formatNs(path.length_ns)}: {words.join(", ")}
		</span>
	);
}

function HitWords({ stage }: { stage: Stage }) {
	const { hits } = stage;
	if (!hits.query) return null;
	if (hits.count === null) return <span class="tool-words">Searching…</span>;
	if (hits.problem) return <span class="tool-words">{hits.problem}</span>;
	if (!hits.count) return <span class="tool-words">No slice matches “{hits.query}”</span>;
	const at = hits.index >= 0 ? `${formatCount(hits.index + 1)} of ` : "";
	return (
		<span class="tool-words" title={`${formatNs(hits.total)} in total, on all ranks`}>
			{at}
			{formatCount(hits.count)} hits for “{hits.query}”
		</span>
	);
}

function Tools({ stage }: { stage: Stage }) {
	const { look, job } = stage;
	const filter = useView((view) => view.own.rows ?? "");
	const all = job.files.filter((file) => file.problem === null).map((file) => file.file);
	const many = all.length > 1;
	const folded = stage.layout.groups.every((group) => !group.open);
	return (
		<div class="tools" role="toolbar" aria-label="Timeline">
			<input
				class="tool-filter"
				type="search"
				placeholder="Filter rows"
				aria-label="Filter rows by name"
				value={filter}
				onInput={(event) =>
					stage.change({ filter: event.currentTarget.value })
				}
			/>
			<Toggle
				on={look.path}
				text="Critical path"
				title="The critical path (C): the work that determines the step time"
				onClick={() => stage.change({ path: !look.path })}
			/>
			<Toggle
				on={look.fromStart}
				text="Absolute time"
				title="Count time from the start of the run, not of each step (T)"
				onClick={() => stage.change({ fromStart: !look.fromStart })}
			/>
			<Toggle
				on={look.allDeep}
				text="Python frames"
				title="Python frames between operators, and all lanes (P)"
				onClick={() => stage.change({ allDeep: !look.allDeep })}
			/>
			<button
				type="button"
				class="tool"
				title="Add a note to the selection, the mark, or the middle of the window (N)"
				aria-keyshortcuts="n"
				onClick={() => runOnTimeline("note")}
			>
				Note
			</button>
			{many ? (
				<Toggle
					on={folded}
					text="Fold ranks"
					title="Show one strip per rank"
					onClick={() =>
						stage.change({
							open: new Set(folded ? all : []),
							jump: "",
						})
					}
				/>
			) : null}
			<SavePicture of={() => timelinePicture(stage)} name="timeline" />
			<OpenInPerfetto stage={stage} />
			<HitWords stage={stage} />
			<PathWords stage={stage} />
			{stage.feed.problem ? (
				<span class="tool-words bad" role="alert">
					{stage.feed.problem}
				</span>
			) : null}
		</div>
	);
}

/* Beside the axis: what its times count from. */
function Corner({ stage }: { stage: Stage | null }) {
	const fromStart = stage?.look.fromStart ?? false;
	const counts = stage?.countsFromStep ?? false;
	return (
		<button
			type="button"
			class="corner"
			title="Count time from the step, or from the start of the run (T)"
			onClick={() => stage?.change({ fromStart: !fromStart })}
		>
			time {counts ? "from the step" : "from the start"}
		</button>
	);
}

function Timeline() {
	const { client, job } = useOpened();
	const scroller = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const [stage, setStage] = useState<Stage | null>(null);
	const [, setVersion] = useState(0);
	const [hover, setHover] = useState<Hover | null>(null);

	useEffect(() => {
		if (!scroller.current || !canvas.current) return;
		const made = new Stage(canvas.current, scroller.current, client, job, () =>
			setVersion((version) => version + 1),
		);
		made.hovers = () => setHover(made.hover);
		const input = new Input(made);
		setStage(made);
		return () => {
			input.close();
			made.close();
		};
	}, [client, job]);
	const tall = stage ? stage.layout.height + stage.rowsTop : 0;
	return (
		<section class="timeline">
			{stage ? <Tools stage={stage} /> : <div class="tools" />}
			<div class="scroller" ref={scroller}>
				<div class="tall" style={{ height: `${tall}px` }}>
					<div class="view">
						<canvas
							ref={canvas}
							tabIndex={0}
							role="application"
							aria-label={LABEL}
							aria-describedby="timeline-says"
						/>
						{stage ? <Heads stage={stage} /> : null}
						{stage ? <NoteLane stage={stage} /> : null}
						<Corner stage={stage} />
						{stage ? <Tip stage={stage} hover={hover} /> : null}
					</div>
				</div>
			</div>
			<Legend stage={stage} />
			<div id="timeline-says" class="says" aria-live="polite">
				{stage?.focus.says ?? ""}
			</div>
		</section>
	);
}

export const timelineTab: Tab = { id: "timeline", title: "Timeline", component: Timeline };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: a running job, from live numbers. The server reads them again every two seconds;
 * elsewhere they are as they were when they were opened.
 */
import type { TableDocument } from "../../core/types";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Loaded, useLoaded, useOpened } from "../../core/context";
import { formatNs } from "../../core/format";
import { rowsOf } from "../../core/rows";
import { store, useView } from "../../core/store";
import { plural } from "../../core/words";
import { Chips } from "../../parts/chips";
import { LevelChart, type LevelPoint } from "../../parts/level-chart";
import { columnsOf } from "../../parts/scope";
import { Failed, Loading } from "../../parts/state";
import { Table } from "../../parts/table";
import { useNarrow } from "../../shell/narrow";
import type { Tab } from "../tab";
import { VIEW_PLACES } from "../views";
import "./live.css";

interface Report {
	text: string;
	tables: TableDocument[];
}

/* From one answer to the next request, as the command has it. */
const AGAIN_MS = 2000;

/* The report; while the page is seen, it is asked for after each answer. */
function useReport(): { loaded: Loaded<Report>; at: Date | null } {
	const { client, routes } = useOpened();
	const grows = routes.includes("live");
	const [turn, next] = useState(0);
	const [at, seen] = useState<Date | null>(null);
	const loaded = useLoaded(async () => {
		const text = await client.text(grows ? "live" : "view/live");
		return JSON.parse(text) as Report;
	}, [client, turn]);

	useEffect(() => {
		if (loaded.state === "loading" || !grows) return;
		if (loaded.state === "ready") seen(new Date());
		const look = () => {
			if (!document.hidden) next((last) => last + 1);
		};
		const timer = setTimeout(look, AGAIN_MS);
		document.addEventListener("visibilitychange", look);
		return () => {
			clearTimeout(timer);
			document.removeEventListener("visibilitychange", look);
		};
	}, [loaded.state]);
	return { loaded, at };
}

function tableOf(report: Report, view: string): TableDocument | undefined {
	return report.tables.find((table) => table.schema === `stepscope.${view}/1`);
}

/* A point per minute; one from which on the level is another is marked. */
function pointsOf(report: Report): LevelPoint[] {
	const steps = tableOf(report, "live-steps");
	const changes = tableOf(report, "live-changes");
	const begins = changes ? rowsOf(changes, "live-changes").map((row) => row.step ?? 0) : [];
	const minutes = steps ? rowsOf(steps, "live-steps") : [];
	return minutes.map((row, i) => {
		const [from, to] = [row.step ?? 0, minutes[i + 1]?.step ?? Number.POSITIVE_INFINITY];
		const [when, ns] = [row.time ?? "", row.step_ns ?? 0];
		const steps = plural(row.steps ?? 0, "step");
		return {
			id: String(from),
			when,
			ns,
			words: `${when}: ${formatNs(ns)}, ${steps} from step ${from}`,
			changes: begins.some((step) => step >= from && step < to),
		};
	});
}

function Words({ text, at }: { text: string; at: Date | null }) {
	const [first, ...more] = text.trim().split("\n");
	return (
		<>
			<h2>{first}</h2>
			{more.map((line) => (
				<p key={line}>{line}</p>
			))}
			<p class="soft">
				{at
					? `Read at ${at.toLocaleTimeString()}, again every two seconds.`
					: "As it was when the files were opened."}
			</p>
		</>
	);
}

function Tables({ report }: { report: Report }) {
	const { client } = useOpened();
	const offers = useLoaded(() => client.offers(), [client]).value;
	const asked = useView((view) => view.own.view ?? "");
	const places = VIEW_PLACES.live.filter(({ view }) => tableOf(report, view)?.rows.length);
	const chosen = places.find(({ view }) => view === asked) ?? places[0];
	const offer = offers?.views.find(({ name }) => name === chosen?.view);
	const table = chosen ? tableOf(report, chosen.view) : undefined;
	if (!chosen || !offer || !table) return null;
	const columns = columnsOf(table, offer).map((column) => ({
		...column,
		bar: column.name === "step_ns",
	}));
	return (
		<>
			<Chips
				strong
				label="Parts of this tab"
				chips={places.map(({ view, title }) => ({ id: view, title }))}
				chosen={chosen.view}
				onChoose={(view) => store.set({ own: { view }, selected: null })}
			/>
			<Table
				key={chosen.view}
				label={chosen.view}
				columns={columns}
				rows={table.rows}
				notes={table.notes}
				empty={offer.empty}
				lines={Math.min(16, Math.max(4, table.rows.length))}
			/>
		</>
	);
}

function Live() {
	const { loaded, at } = useReport();
	const report = loaded.value;
	const narrow = useNarrow();
	const points = useMemo(() => (report ? pointsOf(report) : []), [report]);
	if (!report)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Reading live numbers …" />
		);
	return (
		<div class="page live">
			{loaded.state === "failed" ? <Failed error={loaded.error} /> : null}
			<Words text={report.text} at={at} />
			{points.length > 1 ? (
				<>
					<h3>Step by minute</h3>
					<LevelChart
						label={`Median step of ${plural(points.length, "minute")}`}
						points={points}
						whenOf={(when) => when.slice(0, 16)}
						width={narrow ? 360 : 960}
						height={narrow ? 110 : 160}
					/>
				</>
			) : null}
			<Tables report={report} />
		</div>
	);
}

export const liveTab: Tab = { id: "live", title: "Live", component: Live };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: SQL on the open run, by `stepscope serve`.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { store, useView } from "../../core/store";
import { CopyBox } from "../../parts/copy-box";
import { Failed, Loading, Nothing } from "../../parts/state";
import type { Tab } from "../tab";
import { Editor } from "./editor";
import {
	History,
	isTooLong,
	letterAt,
	nameInSql,
	type SqlAnswer,
	type SqlSchema,
	wordAt,
} from "./model";
import { type Answered, Result } from "./result";
import { Schema } from "./schema";
import "./sql.css";

const FIRST =
	"select name, count(*) as calls, sum(dur_ns) as total_ns\n" +
	"from slices\nwhere kind = 'kernel'\ngroup by name\norder by total_ns desc\nlimit 10;";

const LONG =
	"The query is longer than the page can send (15 kB); `stepscope sql PATH -f FILE` runs it.";

function sessionOf(): Storage | null {
	try {
		return sessionStorage;
	} catch {
		return null;
	}
}

/* What stays while other tabs are shown. */
const kept = {
	history: null as History | null,
	query: null as string | null,
	answered: null as Answered | null,
};

function historyOf(): History {
	kept.history ??= new History(sessionOf());
	return kept.history;
}

/* Numbers of queries: the server knows by them which one to stop. */
function nextId(): number {
	return Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) + 1;
}

/* The query at work, and what was answered last. */
function useQuery() {
	const { client } = useOpened();
	const [answered, change] = useState<Answered | null>(kept.answered);
	const [running, setRunning] = useState(0);
	const now = useRef(0);

	const show = (query: string, answer: SqlAnswer) => {
		kept.answered = { query, answer };
		change(kept.answered);
	};
	const stop = () => {
		if (now.current) void client.bytes("sql-stop", { id: now.current });
	};
	const run = async (query: string): Promise<SqlAnswer | null> => {
		if (now.current) return null;
		const id = nextId();
		now.current = id;
		setRunning(id);
		let answer: SqlAnswer;
		try {
			if (isTooLong(query)) throw new Error(LONG);
			answer = JSON.parse(await client.text("sql", { query, id })) as SqlAnswer;
		} catch (error) {
			const text = error instanceof Error ? error.message : String(error);
			answer = { seconds: 0, error: { text, stopped: false, at: null } };
		}
		now.current = 0;
		setRunning(0);
		show(query, answer);
		return answer;
	};
	/* other tabs need the worker that the query has */
	useEffect(() => stop, []);
	return { client, answered, running: running !== 0, run, stop };
}

function Examples(props: { questions: SqlSchema["questions"]; onChoose: (query: string) => void }) {
	return (
		<select
			class="select"
			aria-label="Example queries"
			value=""
			onChange={(event) => {
				const chosen = props.questions[Number(event.currentTarget.value)];
				event.currentTarget.value = "";
				if (chosen) props.onChoose(chosen.query);
			}}
		>
			<option value="">Examples</option>
			{props.questions.map((question, index) => (
				<option key={question.title} value={index}>
					{index + 1}. {question.title}
				</option>
			))}
		</select>
	);
}

const OF_ALL = "Queries see all ranks and steps: the scope below does not filter them.";

function Desk({ schema }: { schema: SqlSchema }) {
	const { client, answered, running, run, stop } = useQuery();
	const scoped = useView((view) => view.rank !== null || view.step !== null);
	const box = useRef<HTMLTextAreaElement>(null);
	const [query, change] = useState(
		() => store.view.own.query || (kept.query ?? (historyOf().last || FIRST)),
	);
	const setQuery = (text: string) => {
		kept.query = text;
		change(text);
	};
	const start = async (text = query) => {
		if (running || !text.trim()) return;
		historyOf().add(text);
		store.setOwn({ query: text });
		const error = (await run(text))?.error;
		if (error?.at === null || error?.at === undefined || box.current?.value !== text) return;
		const at = letterAt(text, error.at);
		box.current.focus();
		box.current.setSelectionRange(at, at + wordAt(text, at).length);
	};
	const insert = (name: string) => {
		const area = box.current;
		if (!area) return;
		area.focus();
		area.setRangeText(nameInSql(name), area.selectionStart, area.selectionEnd, "end");
		setQuery(area.value);
	};
	return (
		<div class="sql">
			<div class="sql-main">
				<Editor
					{...{ box, query }}
					history={historyOf()}
					onQuery={setQuery}
					onRun={() => void start()}
					onStop={stop}
				/>
				<div class="sql-tools">
					<button
						type="button"
						class="button main"
						disabled={running}
						title="Ctrl+Enter"
						onClick={() => void start()}
					>
						Run
					</button>
					{running ? (
						<button type="button" class="button" onClick={stop}>
							Stop
						</button>
					) : null}
					<Examples
						questions={schema.questions}
						onChoose={(text) => {
							setQuery(text);
							void start(text);
						}}
					/>
					<span class="soft">
						{scoped ? OF_ALL : "Ctrl+Enter runs; ↑ ↓ earlier queries"}
					</span>
				</div>
				{running ? <Loading what="Running the query …" /> : null}
				{!running && answered ? (
					<Result
						key={answered.query}
						client={client}
						{...answered}
					/>
				) : null}
			</div>
			<Schema tables={schema.tables} onInsert={insert} />
		</div>
	);
}

function Sql() {
	const { routes } = useOpened();
	return routes.includes("sql") ? <Served /> : <Unserved />;
}

/* A database is ten times the page: the command loads the one that is installed. */
function Unserved() {
	return (
		<div class="page">
			<Nothing>
				SQL needs the command: a page from disk, a report and dropped files have no
				database. Start the viewer with it:
			</Nothing>
			<CopyBox label="command" text="stepscope serve PATH" />
		</div>
	);
}

function Served() {
	const { client } = useOpened();
	const loaded = useLoaded(() => client.json<SqlSchema>("sql-schema"), [client]);

	if (!loaded.value)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Loading the tables …" />
		);
	if (loaded.value.problem)
		return <Nothing>{loaded.value.problem}. Then start the server again.</Nothing>;
	return <Desk schema={loaded.value} />;
}

export const sqlTab: Tab = { id: "sql", title: "SQL", component: Sql };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.ts - sends requests to the core. Equal requests at the same time are sent once; tables
 * are cached, because the open runs do not change.
 */
import type {
	Answers,
	Diagnosis,
	JobAnswer,
	JobSnapshot,
	OffersAnswer,
	TableDocument,
	ViewOffer,
} from "./types";
import { Gone, type Reply, type Transport } from "./transport";

export type Parameters = Record<string, string | number | null | undefined>;

/* The core has one list of snapshots; those of traces stand apart here. */
export interface Job extends JobAnswer {
	traced: JobSnapshot[];
}

/* Documents that are kept; the oldest goes first. */
const KEPT = 200;

/* Lists keep their commas. */
function escaped(text: string): string {
	return encodeURIComponent(text).replaceAll("%2C", ",");
}

export function targetOf(route: string, parameters: Parameters = {}): string {
	const words: string[] = [];
	for (const [name, value] of Object.entries(parameters))
		if (value !== null && value !== undefined && value !== "")
			words.push(`${name}=${escaped(String(value))}`);
	return words.length ? `${route}?${words.join("&")}` : route;
}

export class Client {
	private kept = new Map<string, Promise<unknown>>();

	private gone = false;
	private listeners = new Set<(gone: boolean) => void>();

	/* `always`: what all requests ask with. */
	constructor(
		readonly transport: Transport,
		private readonly always: Parameters = {},
	) {}

	/* All answers of another run. */
	ofRun(run: number): Client {
		return new Client(this.transport, { run });
	}

	async bytes(
		route: string,
		parameters: Parameters = {},
		signal?: AbortSignal,
	): Promise<Reply> {
		try {
			const target = targetOf(route, { ...parameters, ...this.always });
			const reply = await this.transport.ask(target, signal);
			this.tell(false);
			return reply;
		} catch (error) {
			if (error instanceof Gone) this.tell(true);
			throw error;
		}
	}

	/* Calls back when the core goes away and when it is there again. */
	watch(listener: (gone: boolean) => void): () => void {
		this.listeners.add(listener);
		return () => this.listeners.delete(listener);
	}

	private tell(gone: boolean): void {
		if (gone === this.gone) return;
		this.gone = gone;
		for (const listener of [...this.listeners]) listener(gone);
	}

	async text(route: string, parameters: Parameters = {}): Promise<string> {
		return new TextDecoder().decode((await this.bytes(route, parameters)).bytes);
	}

	/* A document that does not change while the run is open. */
	json<Route extends keyof Answers>(
		route: Route,
		parameters?: Parameters,
	): Promise<Answers[Route]>;
	json<T>(route: string, parameters?: Parameters): Promise<T>;
	json<T>(route: string, parameters: Parameters = {}): Promise<T> {
		const target = targetOf(route, parameters);
		let found = this.kept.get(target) as Promise<T> | undefined;
		if (!found) {
			found = this.text(route, parameters).then((text) => JSON.parse(text) as T);
			this.kept.set(target, found);
			found.catch(() => this.kept.delete(target));
			const oldest = this.kept.keys().next();
			if (this.kept.size > KEPT && !oldest.done) this.kept.delete(oldest.value);
		}
		return found;
	}

	view(name: string, parameters: Parameters = {}): Promise<TableDocument> {
		return this.json<TableDocument>(`view/${name}`, parameters);
	}

	async job(run = 0): Promise<Job> {
		const job = await this.json("job", run ? { run } : {});
		const of = (trace: boolean) => job.snapshots.filter((one) => one.of_trace === trace);
		return { ...job, snapshots: of(false), traced: of(true) };
	}

	offers(): Promise<OffersAnswer> {
		return this.json("offers");
	}

	async offer(name: string): Promise<ViewOffer | null> {
		return (await this.offers()).views.find((view) => view.name === name) ?? null;
	}

	diagnosis(parameters: Parameters = {}): Promise<Diagnosis> {
		return this.json<Diagnosis>("view/diagnose", parameters);
	}

	whatIf(fixes: string[]): Promise<Diagnosis> {
		return this.json<Diagnosis>("view/what-if", { fix: fixes.join(",") });
	}

	/* After a run was added everything is asked anew. */
	forget(): void {
		this.kept.clear();
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.ts - transport: `stepscope serve`.
 */
import {
	Gone,
	type Progress,
	Refused,
	type Reply,
	type Transport,
	type Work,
} from "./transport";

const TOKEN_KEY = "stepscope-token";

/* How often the server is asked while it loads. */
const POLL_MS = 100;

/* And while it makes a long answer. */
const WORK_MS = 200;

/* Before the server has told anything. */
const READING = "Reading the traces";

interface State {
	state: "loading" | "ready" | "failed";
	error?: string;
	work?: Work | null;
	doing?: string | null;
	share?: number | null;
	path?: string;
	file?: number;
	files?: number;
	done_bytes?: number;
	total_bytes?: number;
	events?: number;
	traces?: number;
	steps?: number;
	steps_ns?: number;
}

const TOKEN = /[#&?]token=([0-9a-zA-Z_-]+)/;

/*
 * The token comes in the fragment, once, alone or behind a place; it stays with the tab, not in
 * the address. A page from disk or in a frame of a notebook has none, and maybe no storage.
 */
export function takeToken(): string | null {
	if (!location.protocol.startsWith("http")) return null;
	const found = TOKEN.exec(location.hash);
	if (found?.[1]) {
		sessionStorage.setItem(TOKEN_KEY, found[1]);
		const place = location.hash.replace(TOKEN, "");
		history.replaceState(null, "", location.pathname + location.search + place);
	}
	return sessionStorage.getItem(TOKEN_KEY);
}

/* The address of a place with the token: takeToken() reads it. */
function linkTo(address: string, token: string): string {
	const between = address.includes("?") ? "&" : "?";
	/* of a store: the run */
	const run = /^\?run=[0-9a-f]+$/.test(location.search) ? location.search : "";
	return `${location.origin}${location.pathname}${run}${address}${between}token=${token}`;
}

async function sentence(response: Response): Promise<string> {
	try {
		const body = (await response.json()) as { error?: string };
		return body.error ?? `the server answered ${response.status}`;
	} catch {
		return `the server answered ${response.status}`;
	}
}

export function httpTransport(token: string): Transport {
	const headers = { Authorization: `Bearer ${token}` };

	async function fetchFrom(path: string, signal?: AbortSignal): Promise<Response> {
		let response: Response;
		try {
			response = await fetch(path, { headers, ...(signal ? { signal } : {}) });
		} catch (error) {
			if (signal?.aborted) throw error;
			throw new Gone(
				"The server does not answer. Is `stepscope serve` still running?",
			);
		}
		if (!response.ok) throw new Refused(await sentence(response));
		return response;
	}

	return {
		place: location.host,
		files: [],
		compare: null,
		link: (address) => linkTo(address, token),
		async open(progress: (progress: Progress) => void) {
			for (;;) {
				const state = (await (
					await fetchFrom("/api/state")
				).json()) as State;
				if (state.state === "ready") return;
				if (state.state === "failed")
					throw new Refused(state.error ?? "loading failed");
				progress({
					doing: state.doing ?? READING,
					share: state.share ?? null,
					path: state.path ?? "",
					file: state.file ?? 0,
					files: state.files ?? 0,
					doneBytes: state.done_bytes ?? 0,
					totalBytes: state.total_bytes ?? 0,
					events: state.events ?? 0,
					soFar: {
						traces: state.traces ?? 0,
						steps: state.steps ?? 0,
						stepsNs: state.steps_ns ?? 0,
					},
				});
				await new Promise((resolve) => setTimeout(resolve, POLL_MS));
			}
		},
		watch(told) {
			const state = async () => {
				try {
					const answer = await fetchFrom("/api/state");
					const { work } = (await answer.json()) as State;
					if (timer) told(work ?? null);
				} catch {
					/* the request that waits says so */
				}
				if (timer) timer = window.setTimeout(() => void state(), WORK_MS);
			};
			let timer = window.setTimeout(() => void state(), 0);
			return () => {
				clearTimeout(timer);
				timer = 0;
			};
		},
		async ask(target: string, signal?: AbortSignal): Promise<Reply> {
			const response = await fetchFrom(`/api/ask/${target}`, signal);
			return {
				bytes: await response.arrayBuffer(),
				type: response.headers.get("Content-Type") ?? "",
			};
		},
		close() {},
	};
}

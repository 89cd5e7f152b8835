/*
 * main.tsx - finds out how the page was opened, opens the runs and shows them.
 */
import { render } from "preact";
import { Client } from "./core/client";
import { httpTransport, takeToken } from "./core/http";
import { store } from "./core/store";
import { App } from "./shell/app";
import "./style.css";

async function begin(root: HTMLElement): Promise<void> {
	const token = takeToken();
	store.begin();
	if (!token) {
		root.textContent = "Open the link that `stepscope serve` printed.";
		return;
	}
	const client = new Client(httpTransport(token));
	await client.transport.open(() => {});
	render(<App opened={{ client, job: await client.job() }} />, root);
}

const root = document.getElementById("app");
if (root) void begin(root);

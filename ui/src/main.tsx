/*
 * main.tsx - finds out how the page was opened, and begins.
 */
import { render } from "preact";
import { httpTransport, takeToken } from "./core/http";
import { findOpeners } from "./core/openers";
import { store } from "./core/store";
import { Root } from "./shell/root";
import { beginTheme } from "./shell/theme";
import "./style.css";

/* A drop that no part of the page takes would lead to the file itself, away from the page. */
function refuseDrops(): void {
	for (const name of ["dragover", "drop"] as const)
		addEventListener(name, (event) => event.preventDefault());
}

function begin(root: HTMLElement): void {
	beginTheme();
	refuseDrops();
	/* The token stands where the view's address will stand: it is taken first. */
	const token = takeToken();
	const openers = findOpeners();
	store.begin();
	const first = token ? httpTransport(token) : (openers?.openEmbedded() ?? null);
	render(<Root first={first} openers={openers} />, root);
}

const root = document.getElementById("app");
if (root) begin(root);

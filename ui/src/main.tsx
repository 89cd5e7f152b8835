/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.tsx - finds out how the page was opened, and starts it.
 */
import { render } from "preact";
import { httpTransport, takeToken } from "./core/http";
import { findOpeners } from "./core/openers";
import { store } from "./core/store";
import { namedTraces } from "./worker/fetched";
import { Root } from "./shell/root";
import { beginTheme } from "./shell/theme";
import "./style.css";

/* `stepscope serve` says in the page that it came from there. */
function isServed(): boolean {
	const mark = document.querySelector('meta[name="stepscope-served"]');
	return mark !== null && location.protocol.startsWith("http");
}

/* Where a report opens: `stepscope report --link` wrote it. */
function embeddedPlace(): string {
	const element = document.querySelector('script[type="application/x-stepscope-place"]');
	return element?.textContent?.trim() ?? "";
}

function begin(root: HTMLElement): void {
	beginTheme();
	/* The token stands where the view's address will stand: it is taken first. */
	const token = takeToken();
	const openers = findOpeners();
	store.begin(embeddedPlace());
	const given = token ? httpTransport(token) : (openers?.openEmbedded() ?? null);
	/* A report shows what it carries, whatever its address says. */
	const named = namedTraces(location.search);
	const fetched = !given && named.length ? (openers?.openAddresses(named) ?? null) : null;
	render(
		<Root
			first={given ?? fetched}
			openers={openers}
			stays={given !== null}
			named={token ? named : []}
			keyless={!token && isServed()}
		/>,
		root,
	);
}

const root = document.getElementById("app");
if (root) begin(root);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lists.tsx - what pages of rows share: names with their calls, and the query that gives the row.
 */
import { useOpened } from "../core/context";
import { formatCount, formatNs } from "../core/format";
import { store, writeAddress } from "../core/store";
import { plural } from "../core/words";
import { Copy } from "../parts/copy";
import type { Line } from "./model";

/* Rows of a list. */
export const LISTED = 6;

export function LineList({ title, lines }: { title: string; lines: Line[] }) {
	if (!lines.length) return null;
	return (
		<section>
			<h3>{title}</h3>
			<ul class="place-list">
				{lines.slice(0, LISTED).map((line) => (
					<li key={line.text}>
						<bdi class="mono">{line.text}</bdi>{" "}
						<span class="soft">
							{line.calls ? `${plural(line.calls, "call")}, ` : ""}
							{formatNs(line.ns)}
						</span>
					</li>
				))}
			</ul>
			{lines.length > LISTED ? (
				<p class="soft">and {formatCount(lines.length - LISTED)} more</p>
			) : null}
		</section>
	);
}

export function Query({ query }: { query: string }) {
	const { routes } = useOpened();
	return (
		<section>
			<h3>
				SQL <Copy text={query} label="copy" />{" "}
				{routes.includes("sql") ? (
					<a
						href={writeAddress({
							...store.view,
							tab: "sql",
							own: { query },
							selected: null,
						})}
					>
						run it
					</a>
				) : (
					<span class="soft">
						`stepscope sql PATH` or `stepscope serve` runs it
					</span>
				)}
			</h3>
			<pre class="place-sql">{query}</pre>
		</section>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * editor.tsx - the box of the query: Ctrl-Enter runs it, arrows lead through earlier ones.
 */
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { History } from "./model";

/* Lines that it shows. */
const LEAST = 5;
const MOST = 16;

export function Editor(props: {
	box: RefObject<HTMLTextAreaElement | null>;
	query: string;
	history: History;
	onQuery: (query: string) => void;
	onRun: () => void;
	onStop: () => void;
}) {
	const { box, query, history } = props;
	const lines = Math.min(MOST, Math.max(LEAST, query.split("\n").length + 1));

	useLayoutEffect(() => box.current?.focus({ preventScroll: true }), []);
	const recall = (area: HTMLTextAreaElement, way: -1 | 1) => {
		const before = area.value.slice(0, area.selectionStart);
		const after = area.value.slice(area.selectionEnd);
		if (area.selectionStart !== area.selectionEnd) return false;
		if ((way < 0 ? before : after).includes("\n")) return false;
		const found = history.step(way, area.value);
		if (found === null) return false;
		props.onQuery(found);
		/* the next arrow goes on: the place is in the line that it looks at */
		requestAnimationFrame(() => {
			const at = way < 0 ? found.split("\n")[0]?.length : found.length;
			area.setSelectionRange(at ?? 0, at ?? 0);
		});
		return true;
	};
	const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
		const area = event.currentTarget;
		const plain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
		let taken = true;
		if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) props.onRun();
		else if (event.key === "Escape") props.onStop();
		else if (plain && event.key === "ArrowUp") taken = recall(area, -1);
		else if (plain && event.key === "ArrowDown") taken = recall(area, 1);
		else taken = false;
		if (taken) event.preventDefault();
	};
	return (
		<textarea
			ref={box}
			class="sql-box mono"
			aria-label="SQL query"
			aria-keyshortcuts="Control+Enter"
			placeholder="select name, count(*) as calls from slices group by name"
			rows={lines}
			spellcheck={false}
			autocomplete="off"
			autocapitalize="off"
			value={query}
			onInput={(event) => props.onQuery(event.currentTarget.value)}
			onKeyDown={onKeyDown}
		/>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markdown.tsx - renders the Markdown of our own pages: headings, paragraphs, lists, code,
 * tables, bold, links. It creates elements and never inserts HTML from text.
 */
import type { ComponentChildren } from "preact";
import "./markdown.css";

export type Block =
	| { kind: "heading"; level: number; text: string }
	| { kind: "paragraph"; text: string }
	| { kind: "list"; ordered: boolean; items: string[] }
	| { kind: "code"; text: string }
	| { kind: "table"; head: string[]; rows: string[][] };

const BULLET = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const FENCE = /^\s*```/;
const DELIMITERS = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

function cellsOf(line: string): string[] {
	return line
		.trim()
		.replace(/^\||\|$/g, "")
		.split("|")
		.map((cell) => cell.trim());
}

function startsBlock(line: string): boolean {
	return (
		FENCE.test(line) ||
		/^#{1,6}\s/.test(line) ||
		BULLET.test(line) ||
		line.trim() === ""
	);
}

/* Lines of a fence up to its end; the end itself is taken too. */
function takeCode(lines: string[], at: number): [Block, number] {
	const from = at + 1;
	let to = from;
	while (to < lines.length && !FENCE.test(lines[to] ?? "")) to++;
	return [{ kind: "code", text: lines.slice(from, to).join("\n") }, to + 1];
}

function takeList(lines: string[], from: number): [Block, number] {
	const items: string[] = [];
	const ordered = BULLET.exec(lines[from] ?? "")?.[1] !== undefined;
	let at = from;
	while (at < lines.length) {
		const line = lines[at] ?? "";
		const found = BULLET.exec(line);
		if (found) items.push(found[2] ?? "");
		else if (startsBlock(line)) break;
		else items[items.length - 1] += ` ${line.trim()}`;
		at++;
	}
	return [{ kind: "list", ordered, items }, at];
}

function takeTable(lines: string[], from: number): [Block, number] {
	const head = cellsOf(lines[from] ?? "");
	const rows: string[][] = [];
	let at = from + 2;
	while (at < lines.length && (lines[at] ?? "").includes("|"))
		rows.push(cellsOf(lines[at++] ?? ""));
	return [{ kind: "table", head, rows }, at];
}

function takeParagraph(lines: string[], from: number): [Block, number] {
	let at = from + 1;
	while (at < lines.length && !startsBlock(lines[at] ?? "")) at++;
	return [{ kind: "paragraph", text: lines.slice(from, at).join(" ") }, at];
}

function takeBlock(lines: string[], at: number): [Block, number] {
	const line = lines[at] ?? "";
	const heading = /^(#{1,6})\s+(.*)$/.exec(line);
	if (FENCE.test(line)) return takeCode(lines, at);
	if (heading)
		return [
			{ kind: "heading", level: heading[1]?.length ?? 1, text: heading[2] ?? "" },
			at + 1,
		];
	if (BULLET.test(line)) return takeList(lines, at);
	if (line.includes("|") && DELIMITERS.test(lines[at + 1] ?? "") && lines[at + 1])
		return takeTable(lines, at);
	return takeParagraph(lines, at);
}

export function readMarkdown(text: string): Block[] {
	const lines = text.replace(/<!--[\s\S]*?-->/g, "").split(/\r?\n/);
	const blocks: Block[] = [];
	let at = 0;
	while (at < lines.length) {
		if ((lines[at] ?? "").trim() === "") {
			at++;
			continue;
		}
		const [block, next] = takeBlock(lines, at);
		blocks.push(block);
		at = next;
	}
	return blocks;
}

/* Only pages of the web, and only over TLS; everything else is text. */
export function isSafe(to: string): boolean {
	return /^https:\/\/[a-z0-9.-]+(?:\/|$)/i.test(to);
}

/* A page on the web opens beside this one; pages of ours lead elsewhere or nowhere. */
function Link({ to, text, follow }: { to: string; text: string; follow: Follow | undefined }) {
	const page = /^([a-z][a-z0-9-]*)\.md$/.exec(to)?.[1];
	if (page && follow)
		return (
			<button type="button" class="md-link" onClick={() => follow(page)}>
				{text}
			</button>
		);
	if (isSafe(to))
		return (
			<a href={to} target="_blank" rel="noopener noreferrer">
				{text}
			</a>
		);
	return <>{text}</>;
}

export type Follow = (page: string) => void;

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

export function Inline({ text, follow }: { text: string; follow?: Follow | undefined }) {
	const parts: ComponentChildren[] = [];
	let last = 0;
	for (const found of text.matchAll(INLINE)) {
		const [all, code, bold, soft, label, to] = found;
		if (found.index > last) parts.push(text.slice(last, found.index));
		if (code !== undefined) parts.push(<code>{code}</code>);
		else if (bold !== undefined) parts.push(<strong>{bold}</strong>);
		else if (soft !== undefined) parts.push(<em>{soft}</em>);
		else parts.push(<Link to={to ?? ""} text={label ?? ""} follow={follow} />);
		last = found.index + all.length;
	}
	parts.push(text.slice(last));
	return <>{parts}</>;
}

function BlockView({ block, follow }: { block: Block; follow: Follow | undefined }) {
	const inline = (text: string) => <Inline text={text} follow={follow} />;
	if (block.kind === "code")
		return (
			<pre class="md-code">
				<code>{block.text}</code>
			</pre>
		);
	if (block.kind === "paragraph") return <p>{inline(block.text)}</p>;
	if (block.kind === "heading") return <h4>{inline(block.text)}</h4>;
	if (block.kind === "list") {
		const items = block.items.map((item, i) => <li key={i}>{inline(item)}</li>);
		return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
	}
	return (
		<table>
			<thead>
				<tr>
					{block.head.map((cell, i) => (
						<th key={i}>{inline(cell)}</th>
					))}
				</tr>
			</thead>
			<tbody>
				{block.rows.map((row, i) => (
					<tr key={i}>
						{row.map((cell, j) => (
							<td key={j}>{inline(cell)}</td>
						))}
					</tr>
				))}
			</tbody>
		</table>
	);
}

export function Markdown({ blocks, follow }: { blocks: Block[]; follow?: Follow | undefined }) {
	return (
		<div class="md">
			{blocks.map((block, i) => (
				<BlockView key={i} block={block} follow={follow} />
			))}
		</div>
	);
}

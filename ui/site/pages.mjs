/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.mjs - which pages the site has, and where they stand in its menu.
 *
 * A section names pages, or a folder of docs/ whose pages all belong to it. Every page of docs/
 * must belong to one section.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/* `intro` is what the list of a folder says that has no README.md of its own. */
export const SECTIONS = [
	{
		name: "Start",
		pages: [
			"README",
			"docs/tasks",
			"docs/install",
			"docs/tutorial",
			"docs/demo",
			"docs/faq",
			"docs/limits",
		],
	},
	{
		name: "Guides",
		pages: [
			"docs/recording",
			"docs/servers",
			"docs/throughput",
			"docs/platforms",
			"docs/symptoms",
			"docs/viewer",
			"docs/check",
			"docs/fleet",
			"docs/cluster",
			"docs/scale",
			"docs/sql",
			"docs/scripting",
			"docs/library",
		],
	},
	{ name: "Coming from", folder: "docs/coming-from" },
	{ name: "Commands", folder: "docs/commands" },
	{
		name: "Views",
		folder: "docs/views",
		intro: [
			"A view answers one question with a table. Every view is a command, a table of the",
			"viewer, a method in Python and a table in SQL.",
			"[All commands](../commands/README.md) lists them by question.",
		],
	},
	{ name: "Rules", folder: "docs/rules" },
	{
		name: "Memory snapshots",
		folder: "docs/snapshot",
		intro: [
			"The views of [`stepscope snapshot`](../commands/snapshot.md): what a memory snapshot",
			"of PyTorch shows.",
		],
	},
	{ name: "Python", folder: "docs/python" },
	{
		name: "Formats",
		folder: "docs/formats",
		intro: [
			"What stepscope writes and reads besides traces. `--format` chooses the format of an",
			"output.",
		],
	},
	{
		name: "Reference",
		pages: [
			"docs/inputs",
			"docs/options",
			"docs/outputs",
			"docs/exit-codes",
			"docs/schema/README",
			"docs/glossary",
			"docs/presets",
			"docs/faults",
			"docs/accuracy",
			"docs/thresholds",
		],
	},
	{
		name: "Decisions",
		folder: "docs/decisions",
		intro: ["Why things are as they are, with the measurements. One page per decision."],
	},
	{
		name: "Project",
		pages: [
			"CHANGELOG",
			"CONTRIBUTING",
			"CODE_OF_CONDUCT",
			"docs/ARCHITECTURE",
			"SECURITY",
			"THIRD_PARTY",
		],
	},
];

/* Where a page of the repository is on the site: README.md is the first page, docs/ is gone. */
export function addressOf(source) {
	const path = source.replace(/^docs\//, "").replace(/\.md$/, "");
	return `${path.replace(/(^|\/)README$/, "$1index")}.html`;
}

function names(root, folder) {
	const all = readdirSync(join(root, folder)).filter((name) => name.endsWith(".md"));
	const first = all.filter((name) => name === "README.md");
	return [...first, ...all.filter((name) => name !== "README.md").sort()];
}

/* The first sentence of a page, for lists. */
function summaryOf(text) {
	const body = text.replace(/^# .*\n+/, "").split("\n\n")[0].replace(/\n/g, " ");
	if (/^[|<!]/.test(body)) return "";
	return (/^.*?\.(?= |$)/.exec(body)?.[0] ?? body).replace(/:$/, ".");
}

export function titleOf(text, source) {
	const heading = /^# (.*)$/m.exec(text);
	if (!heading) throw new Error(`${source}: no heading of the first level`);
	return heading[1].replace(/`/g, "");
}

/* A page that lists the pages of a folder without a README.md. */
function listOf(section, pages) {
	const rows = pages.map(
		(page) => `| [${page.title}](${posix.basename(page.source)}) | ${summaryOf(page.text)} |`,
	);
	const table = "| page | what it is about |\n|---|---|\n";
	const head = `# ${section.name}\n\n${section.intro.join(" ")}\n\n${table}`;
	const source = `${section.folder}/README.md`;
	return { source, text: `${head}${rows.join("\n")}\n`, title: section.name, isMade: true };
}

function load(root, source) {
	const text = readFileSync(join(root, source), "utf8");
	return { source, text, title: titleOf(text, source) };
}

/* The sections with their pages, in the order of the menu. */
export function readPages(root) {
	const sections = SECTIONS.map((section) => {
		const sources = section.folder
			? names(root, section.folder).map((name) => `${section.folder}/${name}`)
			: section.pages.map((name) => `${name}.md`);
		const pages = sources.map((source) => load(root, source));
		if (section.intro) pages.unshift(listOf(section, pages));
		for (const page of pages) page.address = addressOf(page.source);
		return { name: section.name, pages };
	});
	const known = new Set(sections.flatMap(({ pages }) => pages.map((page) => page.source)));
	for (const path of readdirSync(join(root, "docs"), { recursive: true })) {
		const source = `docs/${path.replaceAll("\\", "/")}`;
		if (source.endsWith(".md") && !known.has(source))
			throw new Error(`${source}: in no section of ui/site/pages.mjs`);
	}
	return sections;
}

/* What a link of a page leads to: { source, hash }, or null when it leads out of the repository. */
export function targetOf(root, source, href) {
	if (/^[a-z]+:/i.test(href)) return null;
	const [path, hash = ""] = href.split("#");
	const target = path ? posix.join(posix.dirname(source), path) : source;
	const isFolder = existsSync(join(root, target)) && target.endsWith("/");
	return { source: isFolder ? dirname(`${target}x`) : target, hash };
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.mjs - writes the site: every page of docs/ and the README as HTML, its search, the demo.
 *
 *     node ui/site/build.mjs OUTPUT [--demo REPORT] [--repository ADDRESS]
 *
 * tools/site calls it. REPORT is what `stepscope report` wrote. With ADDRESS pages link to their
 * source. The site needs no server and asks no other one for anything.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { frame, markdownOf } from "./frame.mjs";
import { readPages } from "./pages.mjs";
import { render } from "./render.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, "../..");

/* Colours are those of the viewer: light, dark when chosen, dark when the system asks for it. */
function styleSheet() {
	const tokens = readFileSync(join(ROOT, "ui/src/style.css"), "utf8");
	const light = /^:root \{([^}]*)\}/m.exec(tokens)?.[1];
	const dark = /:root\[data-theme="dark"\] \{([^}]*)\}/.exec(tokens)?.[1];
	if (!light || !dark) throw new Error("ui/src/style.css: no colours of both themes");
	const wanted = `@media (prefers-color-scheme: dark) {\n:root:not([data-theme]) {${dark}}\n}`;
	const own = readFileSync(join(HERE, "site.css"), "utf8");
	return `:root {${light}}\n:root[data-theme="dark"] {${dark}}\n${wanted}\n${own}`;
}

/* The viewer of a report, without the traces in it: the page that asks for some. */
function emptied(report) {
	return report.replace(/<script type="application\/x-stepscope".*?<\/script>\n?/gs, "");
}

const written = new Set();

/* Two files of one address would hide each other. */
function put(output, address, text) {
	const file = join(output, address);
	if (written.has(file)) throw new Error(`${address}: two files of the site have this name`);
	written.add(file);
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, text);
}

/* A script, not JSON: pages that are opened from disk may not fetch. */
function searchScript(found) {
	const rows = found.flatMap(({ page, parts }) =>
		parts.map(({ id, heading, text }, index) => [
			index ? `${page.address}#${id}` : page.address,
			page.title,
			index ? heading : "",
			text,
		]),
	);
	return `window.sitePages = ${JSON.stringify(rows)};\n`;
}

/* A map of the site for programs (llmstxt.org), with links to the Markdown of its pages. */
function mapOfSite(sections) {
	const list = ({ name, pages }) => {
		const links = pages.map((page) => `- [${page.title}](${markdownOf(page)})`);
		return `## ${name}\n\n${links.join("\n")}\n`;
	};
	const about = "> Why is a step of a PyTorch job slow? Reads profiler traces.";
	return `# stepscope\n\n${about}\n\n${sections.map(list).join("\n")}`;
}

function build(output, demo, repository) {
	const sections = readPages(ROOT);
	const pages = sections.flatMap((section) => section.pages);
	const bySource = new Map(pages.map((page) => [page.source, page]));
	const meson = readFileSync(join(ROOT, "meson.build"), "utf8");
	const version = /version: '([\d.]+)'/.exec(meson)[1];
	const site = { root: ROOT, sections, bySource, repository, version, files: new Set() };
	site.hasViewer = Boolean(demo);
	const found = pages.map((page) => {
		const rendered = render(site, page);
		put(output, page.address, frame(site, page, rendered));
		put(output, markdownOf(page), page.text);
		return { page, parts: rendered.parts };
	});
	put(output, "llms.txt", mapOfSite(sections));
	put(output, "assets/search.js", searchScript(found));
	put(output, "assets/site.css", styleSheet());
	for (const name of ["site.js", "theme.js"])
		put(output, `assets/${name}`, readFileSync(join(HERE, name), "utf8"));
	for (const source of site.files)
		put(output, source.replace(/^docs\//, ""), readFileSync(join(ROOT, source)));
	if (demo) {
		const report = readFileSync(demo, "utf8");
		put(output, "demo-viewer.html", report);
		put(output, "own-traces.html", emptied(report));
	}
	return pages.length;
}

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: { demo: { type: "string" }, repository: { type: "string" } },
});
if (positionals.length !== 1) {
	process.stderr.write("usage: build.mjs OUTPUT [--demo REPORT] [--repository ADDRESS]\n");
	process.exit(2);
}
const count = build(resolve(positionals[0]), values.demo, values.repository?.replace(/\/$/, ""));
process.stdout.write(`${positionals[0]}: ${count} pages\n`);

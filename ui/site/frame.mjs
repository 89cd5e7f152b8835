/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.mjs - what stands around every page: head, menu, headings of the page, foot.
 */
import { escapeText, plainOf, wayTo } from "./render.mjs";

function menuLink(page, other, title) {
	const here = other === page ? ' aria-current="page"' : "";
	return `<li><a href="${wayTo(page, other.address)}"${here}>${escapeText(title)}</a></li>`;
}

/* All sections; the pages of the one that is open. */
function menu(site, page) {
	return site.sections
		.map((section) => {
			const [first] = section.pages;
			const name = escapeText(section.name);
			const way = wayTo(page, first.address);
			if (!section.pages.includes(page))
				return `<li><a class="section" href="${way}">${name}</a></li>`;
			const links = section.pages
				.map((other) => menuLink(page, other, shortTitle(site, other)))
				.join("");
			return `<li><span class="section">${name}</span><ul>${links}</ul></li>`;
		})
		.join("\n");
}

function shortTitle(site, page) {
	if (page.address === "index.html") return "What it is";
	const isList = site.sections.some((section) => section.pages[0] === page);
	if (isList && /\/index\.html$/.test(page.address)) return "All";
	const name = page.title.replace(/^(Coming from|stepscope|snapshot) /, "");
	return name.replace(/(?<=^[a-z-]+): .*$/, "");
}

function contents(headings) {
	const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
	if (shown.length < 3) return "";
	const links = shown.map(
		({ depth, id, html }) =>
			`<li class="depth-${depth}"><a href="#${id}">${escapeText(plainOf(html))}</a></li>`,
	);
	const list = `<h2>On this page</h2><ul>${links.join("")}</ul>`;
	return `<nav class="contents" aria-label="On this page">${list}</nav>`;
}

function neighbours(site, page) {
	const all = site.sections.flatMap((section) => section.pages);
	const at = all.indexOf(page);
	const link = (other, rel, words) => {
		if (!other) return "<span></span>";
		const inner = `<span>${words}</span> ${escapeText(other.title)}`;
		return `<a rel="${rel}" href="${wayTo(page, other.address)}">${inner}</a>`;
	};
	return link(all[at - 1], "prev", "Previous:") + link(all[at + 1], "next", "Next:");
}

function editLink(site, page) {
	if (!site.repository || page.isMade) return "";
	const address = `${site.repository}/edit/main/${page.source}`;
	return `<p><a href="${address}" rel="noreferrer">Edit this page</a></p>`;
}

function sourceLink(site) {
	if (!site.repository) return "";
	return `<a class="source" href="${site.repository}" rel="noreferrer">Source</a>\n`;
}

/* The first screen: how to get it, and the viewer with a job in it; the README goes on below. */
function firstScreen(site, page, html) {
	const [install] = /<pre[^>]*><code class="language-sh">[\s\S]*?<\/pre>/.exec(html);
	const [about] = /<p><strong>[\s\S]*?<\/p>/.exec(html);
	const rest = html.replace(/<h1[\s\S]*?<\/h1>/, "").replace(about, "").replace(install, "");
	const own = wayTo(page, "own-traces.html");
	const viewer = site.hasViewer
		? `<div class="viewer" data-own="${own}">
<p><b>A simulated job of eight GPUs</b>, open in the viewer. Untick a fix, look at the timeline, or
<a class="own" href="${own}">drop your trace here</a>: it stays on your machine.</p>
<iframe src="${wayTo(page, "demo-viewer.html")}" title="The viewer with a simulated job"></iframe>
</div>`
		: "";
	return `<div class="hero"><div class="pitch"><h1 id="stepscope">stepscope</h1>
${about}${install}</div>
${viewer}</div>
${rest}`;
}

/* A rule and a view may have the same name. */
function sectionOf(site, page) {
	return site.sections.find((section) => section.pages.includes(page)).name;
}

/* Where the Markdown of a page is. */
export function markdownOf(page) {
	return page.address.replace(/\.html$/, ".md");
}

export function frame(site, page, { html, headings }) {
	const way = (address) => wayTo(page, address);
	const isHome = page.address === "index.html";
	const aside = isHome ? "" : contents(headings);
	const title = isHome
		? "stepscope: why is the training step slow?"
		: [...new Set([page.title, sectionOf(site, page), "stepscope"])].join(" · ");
	return `<!doctype html>
<html lang="en" data-root="${way("x").replace(/x$/, "")}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<link rel="icon" href="data:,">
<link rel="alternate" type="text/markdown" href="${way(markdownOf(page))}">
<link rel="describedby" type="text/plain" href="${way("llms.txt")}">
<link rel="stylesheet" href="${way("assets/site.css")}">
<script src="${way("assets/theme.js")}"></script>
<script defer src="${way("assets/site.js")}"></script>
</head>
<body>
<a class="skip" href="#site-main">Skip to the text</a>
<header>
<button id="site-menu-button" type="button" aria-expanded="false"
 aria-controls="site-menu">Menu</button>
<a class="brand" href="${way("index.html")}">stepscope</a>
<a class="version" href="${way("CHANGELOG.html")}">${site.version}</a>
<div class="search" role="search">
<input id="site-search" type="search" role="combobox" placeholder="Search" aria-label="Search"
 aria-expanded="false" aria-controls="site-hits" aria-autocomplete="list" autocomplete="off"
 spellcheck="false">
<div id="site-hits" role="listbox" aria-label="Search results" hidden></div>
</div>
${sourceLink(site)}<button id="site-theme" type="button">Dark</button>
</header>
<div class="frame${aside ? "" : " wide"}">
<nav id="site-menu" aria-label="Pages"><ul>
${menu(site, page)}
</ul></nav>
<main id="site-main" tabindex="-1"><article>
${isHome ? firstScreen(site, page, html) : html}</article>
<footer>
<nav class="neighbours" aria-label="Previous and next page">${neighbours(site, page)}</nav>
${editLink(site, page)}
</footer></main>
${aside}
</div>
</body>
</html>
`;
}

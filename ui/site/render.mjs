/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.mjs - a page of Markdown as HTML: headings with anchors, links between pages, pictures
 * with their size, code with a button that copies it.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { Marked } from "marked";
import { colored } from "./colors.mjs";
import { targetOf } from "./pages.mjs";

export function escapeText(text) {
	const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
	return text.replace(/[&<>"]/g, (letter) => names[letter]);
}

/* The text of a heading as GitHub makes an anchor of it. */
export function slugOf(text) {
	return text
		.toLowerCase()
		.replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
		.trim()
		.replace(/ /g, "-");
}

/* HTML without tags, as it is read. */
export function plainOf(html) {
	return html
		.replace(/<[^>]*>/g, "")
		.replace(/&lt;/g, "<")
		.replace(/&gt;/g, ">")
		.replace(/&quot;/g, '"')
		.replace(/&#39;/g, "'")
		.replace(/&amp;/g, "&");
}

/* The way from one page of the site to a file of it. */
export function wayTo(page, address) {
	return posix.relative(posix.dirname(page.address), address) || posix.basename(address);
}

/* Width and height, which a PNG or a GIF has in its first bytes. */
function sizeOf(file) {
	const bytes = readFileSync(file);
	if (bytes.toString("latin1", 0, 3) === "GIF")
		return [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
	return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

class Writer {
	constructor(site, page) {
		Object.assign(this, { site, page, slugs: new Map(), headings: [] });
	}

	anchor(html) {
		const slug = slugOf(plainOf(html));
		const count = this.slugs.get(slug) ?? 0;
		this.slugs.set(slug, count + 1);
		return count ? `${slug}-${count}` : slug;
	}

	heading(depth, html) {
		const id = this.anchor(html);
		this.headings.push({ depth, id, html });
		if (depth === 1) return `<h1 id="${id}">${html}</h1>\n`;
		const label = escapeText(plainOf(html));
		const link = `<a class="anchor" href="#${id}" aria-label="Link to ${label}">#</a>`;
		return `<h${depth} id="${id}">${html} ${link}</h${depth}>\n`;
	}

	/* A link to a page, to a file that the site carries, to a source, or to another site. */
	link(href, inner) {
		const target = targetOf(this.site.root, this.page.source, href);
		if (!target) return `<a href="${escapeText(href)}" rel="noreferrer">${inner}</a>`;
		const hash = target.hash ? `#${target.hash}` : "";
		const { bySource } = this.site;
		const page = bySource.get(target.source) ?? bySource.get(`${target.source}/README.md`);
		if (page) return `<a href="${wayTo(this.page, page.address)}${hash}">${inner}</a>`;
		if (target.source.startsWith("docs/") && /\.(json|png|gif)$/.test(target.source))
			return `<a href="${this.carry(target.source)}">${inner}</a>`;
		if (!existsSync(join(this.site.root, target.source)))
			throw new Error(`${this.page.source}: no such file: ${href}`);
		const { repository } = this.site;
		if (!repository) return inner;
		const address = `${repository}/blob/main/${target.source}${hash}`;
		return `<a href="${address}" rel="noreferrer">${inner}</a>`;
	}

	/* A file of docs/ that goes with the site; its way from this page. */
	carry(source) {
		this.site.files.add(source);
		return wayTo(this.page, source.replace(/^docs\//, ""));
	}

	picture(source, alt, extra) {
		const [width, height] = sizeOf(join(this.site.root, source));
		const size = `width="${width}" height="${height}"`;
		const lazy = 'loading="lazy" decoding="async"';
		return `<img src="${this.carry(source)}" alt="${escapeText(alt)}" ${size} ${lazy}${extra}>`;
	}

	/* A picture that was taken in both themes is shown in that of the reader. */
	image(href, alt) {
		const { source } = targetOf(this.site.root, this.page.source, href);
		const other = source.replace(/-(light|dark)\.png$/, (_, theme) =>
			theme === "light" ? "-dark.png" : "-light.png",
		);
		if (other === source || !existsSync(join(this.site.root, other)))
			return this.picture(source, alt, "");
		const [light, dark] = source.endsWith("-light.png") ? [source, other] : [other, source];
		return (
			this.picture(light, alt, ' class="in-light"') +
			this.picture(dark, alt, ' class="in-dark"')
		);
	}
}

/* What a reader copies: commands without the prompt and without what they print. */
function copied(text) {
	if (!text.startsWith("$ ")) return null;
	const lines = text.split("\n").filter((line) => line.startsWith("$ "));
	return lines.map((line) => line.slice(2)).join("\n");
}

function codeBlock(text, lang) {
	const language = (lang ?? "").split(" ")[0];
	const commands = copied(text);
	const data = commands === null ? "" : ` data-copy="${escapeText(commands)}"`;
	const shown = (line) =>
		line.startsWith("$ ") ? `<b>$ ${colored(line.slice(2), "sh")}</b>` : escapeText(line);
	const html =
		commands === null ? colored(text, language) : text.split("\n").map(shown).join("\n");
	const label = language ? ` class="language-${language}"` : "";
	return `<pre tabindex="0"${data}><code${label}>${html}</code></pre>\n`;
}

function rendererOf(writer) {
	return {
		heading(token) {
			return writer.heading(token.depth, this.parser.parseInline(token.tokens));
		},
		link(token) {
			return writer.link(token.href, this.parser.parseInline(token.tokens));
		},
		image(token) {
			return writer.image(token.href, token.text);
		},
		code(token) {
			return codeBlock(token.text, token.lang);
		},
	};
}

/* What the search knows of a page: the text below each heading. */
function partsOf(html) {
	const pieces = html.split(/(?=<h[1-3] id=)/);
	return pieces.flatMap((piece) => {
		const found = /^<h[1-3] id="([^"]*)">(.*?)<\/h[1-3]>/s.exec(piece);
		if (!found) return [];
		const heading = plainOf(found[2].replace(/ <a class="anchor".*<\/a>/, ""));
		const body = piece.slice(found[0].length).replace(/<\/(td|th|p|li|pre|h\d)>/g, " ");
		return [{ id: found[1], heading, text: plainOf(body).replace(/\s+/g, " ").trim() }];
	});
}

/* The place of the viewer on a page; elsewhere than on the site what stands there is seen. */
const VIEWER = /^<!-- viewer -->$.*?^<!-- end -->$/ms;

function viewerFrame(writer) {
	const way = wayTo(writer.page, "demo-viewer.html");
	return `<iframe src="${way}" title="The viewer with a simulated job" loading="lazy"></iframe>

<p><a href="${way}">Open it on a page of its own</a>, or
<a href="${wayTo(writer.page, "own-traces.html")}">open your own traces</a> in the empty viewer:
they stay on your machine.</p>`;
}

/* A table scrolls in its own box; two columns, or columns with units, fit a phone without that. */
function tableStart(_, head) {
	const count = head.split("<th").length - 1;
	const isNarrow = count <= 2 || (count === 3 && head.includes("<th>unit</th>"));
	const name = isNarrow ? ' class="narrow"' : count > 5 ? ' class="wide"' : "";
	return `<div class="table" tabindex="0"><table${name}>`;
}

/* The page as HTML, with the headings of its own menu and what the search needs. */
export function render(site, page) {
	const writer = new Writer(site, page);
	const marked = new Marked({ gfm: true, renderer: rendererOf(writer) });
	const html = marked
		.parse(page.text.replace(VIEWER, viewerFrame(writer)).replace(/<!--.*?-->\n?/gs, ""))
		.replace(/<table>(?=\s*<thead>\s*<tr>(.*?)<\/tr>)/gs, tableStart)
		.replace(/<\/table>/g, "</table></div>")
		// tables without headings are lists of two columns: empty cells say nothing to a reader
		.replace(/<thead>\s*<tr>\s*(<th[^>]*><\/th>\s*)+<\/tr>\s*<\/thead>/g, "")
		.replace(/<th[^>]*><\/th>/g, "<td></td>");
	return { html, headings: writer.headings, parts: partsOf(html) };
}

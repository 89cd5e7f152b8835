/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.js - search, theme, menu on phones, buttons that copy code. Pages can be read without it.
 */
const root = document.documentElement;
const byId = (id) => document.getElementById(id);

/* --- theme ------------------------------------------------------------------------------------ */

const wantsDark = matchMedia("(prefers-color-scheme: dark)");
const themeButton = byId("site-theme");

function themeNow() {
	return root.dataset.theme ?? (wantsDark.matches ? "dark" : "light");
}

function nameTheme() {
	themeButton.textContent = themeNow() === "dark" ? "Light" : "Dark";
}

themeButton.addEventListener("click", () => {
	root.dataset.theme = themeNow() === "dark" ? "light" : "dark";
	try {
		localStorage.setItem("stepscope-site-theme", root.dataset.theme);
	} catch {
		/* no storage: the choice holds for this page */
	}
	nameTheme();
});
wantsDark.addEventListener("change", nameTheme);
nameTheme();

/* --- menu ------------------------------------------------------------------------------------- */

const menuButton = byId("site-menu-button");
menuButton.addEventListener("click", () => {
	const isOpen = root.classList.toggle("menu-open");
	menuButton.setAttribute("aria-expanded", String(isOpen));
	if (isOpen) byId("site-menu").querySelector("a").focus();
});

/* Scrolls the menu, not the page. */
const current = document.querySelector("#site-menu [aria-current]");
if (current) byId("site-menu").scrollTop = current.offsetTop - 200;

/* --- code ------------------------------------------------------------------------------------- */

for (const block of document.querySelectorAll("pre")) {
	const button = document.createElement("button");
	button.type = "button";
	button.className = "copy";
	button.textContent = "Copy";
	button.addEventListener("click", async () => {
		const text = block.dataset.copy ?? block.querySelector("code").textContent;
		await navigator.clipboard.writeText(text);
		button.textContent = "Copied";
		setTimeout(() => {
			button.textContent = "Copy";
		}, 1500);
	});
	const box = document.createElement("div");
	box.className = "code";
	block.replaceWith(box);
	box.append(block, button);
}

/* --- the viewer of the first page ------------------------------------------------------------- */

const viewer = document.querySelector(".viewer");

/* The sample gives way to the empty viewer, which takes what is dropped on it. */
function openOwn() {
	const page = viewer.querySelector("iframe");
	viewer.classList.add("dropping");
	if (page.getAttribute("src") === viewer.dataset.own) return;
	page.src = viewer.dataset.own;
	page.title = "The viewer: drop your traces here";
	viewer.scrollIntoView({ block: "nearest" });
}

if (viewer) {
	viewer.querySelector(".own").addEventListener("click", (event) => {
		event.preventDefault();
		openOwn();
	});
	document.addEventListener("dragenter", (event) => {
		if (event.dataTransfer?.types.includes("Files")) openOwn();
	});
	// beside the viewer a drop would leave the page
	for (const kind of ["dragover", "drop"])
		document.addEventListener(kind, (event) => event.preventDefault());
}

/* --- search ----------------------------------------------------------------------------------- */

const HITS_MAX = 12;
const EXCERPT = 150;
const input = byId("site-search");
const list = byId("site-hits");
let chosen = -1;

/* The index comes when somebody wants to search. */
function loadIndex() {
	if (window.sitePages || document.getElementById("search-index")) return;
	const script = document.createElement("script");
	script.id = "search-index";
	script.src = `${root.dataset.root}assets/search.js`;
	script.addEventListener("load", show);
	document.head.append(script);
}

/* How well a text has a word: itself, as a word, as the start of one, within one. */
function weight(text, word, [itself, whole, start, within]) {
	if (!text.includes(word)) return 0;
	if (text === word) return itself;
	const letters = word.replace(/[^\w]/g, "\\$&");
	if (new RegExp(`(^|[^a-z0-9])${letters}([^a-z0-9]|$)`).test(text)) return whole;
	return new RegExp(`(^|[^a-z0-9])${letters}`).test(text) ? start : within;
}

/* Pages for those who change stepscope: what users look for comes first. */
const FOR_AUTHORS = /^(decisions\/|CHANGELOG|CONTRIBUTING|ARCHITECTURE|THIRD_PARTY)/;

function scoreOf([address, title, heading, text], words) {
	let score = 0;
	const ofTitle = heading ? [12, 8, 6, 3] : [60, 25, 12, 3];
	for (const word of words) {
		const found =
			weight(title.toLowerCase(), word, ofTitle) +
			weight(heading.toLowerCase(), word, [40, 20, 10, 2]) +
			weight(text.toLowerCase(), word, [14, 14, 1, 0.5]);
		if (!found) return 0;
		score += found;
	}
	return FOR_AUTHORS.test(address) ? score / 4 : score;
}

/* Whether one letter more, less, other or swapped makes one word of the other. */
function isNear(one, other) {
	let start = 0;
	while (start < one.length && one[start] === other[start]) start++;
	const [a, b] = [one.slice(start), other.slice(start)];
	return (
		a.slice(1) === b ||
		a === b.slice(1) ||
		a.slice(1) === b.slice(1) ||
		(a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2))
	);
}

/* The word as the pages spell it; the word itself if it is there, or none is near. */
function spelt(word) {
	const pages = window.sitePages;
	if (word.length < 5 || pages.some((row) => scoreOf(row, [word]))) return word;
	for (const [, title, heading, text] of pages)
		for (const other of `${title} ${heading} ${text}`.toLowerCase().split(/\W+/))
			if (isNear(word, other)) return other;
	return word;
}

function search(query) {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean).map(spelt);
	if (!words.length) return [];
	return window.sitePages
		.map((row) => ({ row, words, score: scoreOf(row, words) }))
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score)
		.slice(0, HITS_MAX);
}

/* The words of the query in a text, marked. */
function marked(text, words) {
	const pattern = words.map((word) => word.replace(/[^\w]/g, "\\$&")).join("|");
	return text.split(new RegExp(`(${pattern})`, "gi")).map((piece, index) => {
		if (index % 2 === 0) return piece;
		const mark = document.createElement("mark");
		mark.textContent = piece;
		return mark;
	});
}

function excerpt(text, words) {
	const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
	const start = at ? text.indexOf(" ", at) + 1 : 0;
	return `${start ? "… " : ""}${text.slice(start, start + EXCERPT)}`;
}

function hitElement({ row, words }, index) {
	const [address, title, heading, text] = row;
	const hit = document.createElement("a");
	hit.href = root.dataset.root + address;
	hit.id = `hit-${index}`;
	hit.setAttribute("role", "option");
	hit.setAttribute("aria-selected", "false");
	hit.tabIndex = -1;
	const name = document.createElement("strong");
	name.append(...marked(heading ? `${title} › ${heading}` : title, words));
	const body = document.createElement("span");
	body.append(...marked(excerpt(text, words), words));
	hit.append(name, body);
	return hit;
}

function close() {
	list.hidden = true;
	chosen = -1;
	input.setAttribute("aria-expanded", "false");
	input.removeAttribute("aria-activedescendant");
}

function choose(index) {
	const hits = list.querySelectorAll("a");
	if (!hits.length) return;
	chosen = (index + hits.length) % hits.length;
	for (const [number, hit] of hits.entries())
		hit.setAttribute("aria-selected", String(number === chosen));
	hits[chosen].scrollIntoView({ block: "nearest" });
	input.setAttribute("aria-activedescendant", hits[chosen].id);
}

function show() {
	if (!input.value.trim()) return close();
	if (!window.sitePages) return loadIndex();
	const hits = search(input.value);
	list.replaceChildren(...hits.map(hitElement));
	if (!hits.length) {
		const none = document.createElement("div");
		none.className = "none";
		none.setAttribute("role", "option");
		none.setAttribute("aria-disabled", "true");
		none.textContent = `Nothing found for “${input.value.trim()}”`;
		list.append(none);
	}
	list.hidden = false;
	input.setAttribute("aria-expanded", "true");
	chosen = -1;
	if (hits.length) choose(0);
}

input.addEventListener("focus", loadIndex);
input.addEventListener("input", show);
input.addEventListener("keydown", (event) => {
	if (event.key === "ArrowDown") choose(chosen + 1);
	else if (event.key === "ArrowUp") choose(chosen - 1);
	else if (event.key === "Enter") list.querySelectorAll("a")[chosen]?.click();
	else if (event.key === "Escape") close();
	else return;
	event.preventDefault();
});
list.addEventListener("click", close);
document.addEventListener("click", (event) => {
	if (!event.target.closest(".search")) close();
});
document.addEventListener("keydown", (event) => {
	if (event.key !== "/" || event.target.closest("input, textarea")) return;
	event.preventDefault();
	input.focus();
	input.select();
});

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colors.mjs - code as HTML with its comments, strings, words and numbers marked.
 *
 * One expression per language: what comes first at a place is what it is. No language is parsed;
 * code that is only shown needs no more.
 */
import { escapeText } from "./render.mjs";

const STRING = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/;
const NUMBER = /\b\d[\d_.]*(?:e[+-]?\d+)?\b/;
const SHELL = "do done else export fi for if in then while";
const PYTHON =
	"and as assert async await break class continue def del elif else except False finally for " +
	"from global if import in is lambda None nonlocal not or pass raise return True try while " +
	"with yield";
const SQL =
	"all and as asc by case cross desc distinct else end exclude filter from full group having " +
	"in interval is join left like limit not null on or order outer over partition qualify right " +
	"select then union using values when where with";
const C =
	"bool break case char const continue default do double else enum extern float for if int " +
	"long return short signed sizeof static struct switch typedef uint32_t uint64_t unsigned " +
	"void while NULL";

const words = (list, flags = "") => new RegExp(`\\b(?:${list.replaceAll(" ", "|")})\\b`, flags);
const LINE = /(?<=^|\s)#.*/;
const LANGUAGES = {
	sh: [LINE, STRING, words(SHELL), /(?<=\s)--?[a-zA-Z][\w-]*/],
	python: [LINE, /"""[\s\S]*?"""|[fr]?(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*')/, words(PYTHON), NUMBER],
	sql: [/--.*/, /'[^']*'/, words(SQL, "i"), NUMBER],
	json: [/\/\/.*/, /"(?:\\.|[^"\\\n])*"(?!\s*:)/, /"(?:\\.|[^"\\\n])*"(?=\s*:)/, NUMBER],
	yaml: [LINE, STRING, /(?<=^[ -]*)[\w-]+(?=:)/m, NUMBER],
	c: [/\/\*[\s\S]*?\*\/|\/\/.*/, STRING, words(C), NUMBER],
};
LANGUAGES.bash = LANGUAGES.sh;
LANGUAGES.toml = LANGUAGES.yaml;
const NAMES = ["comment", "string", "word", "number"];

export function colored(text, language) {
	const parts = LANGUAGES[language];
	if (!parts) return escapeText(text);
	const flags = [...new Set(`gm${parts.map((part) => part.flags).join("")}`)].join("");
	const any = new RegExp(parts.map((part) => `(${part.source})`).join("|"), flags);
	let html = "";
	let at = 0;
	for (const found of text.matchAll(any)) {
		const name = NAMES[found.slice(1).findIndex((piece) => piece !== undefined)];
		html += escapeText(text.slice(at, found.index));
		html += `<span class="${name}">${escapeText(found[0])}</span>`;
		at = found.index + found[0].length;
	}
	return html + escapeText(text.slice(at));
}

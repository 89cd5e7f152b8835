/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.ts - shortens long C++ names: folds template arguments and drops parameters, also in
 * stack frames.
 */

/* Names up to this long are shown as they are: the core's own short names have this length. */
const SHORT = 96;

/* A title has one line. */
const TITLE = 64;

export function titleName(name: string): string {
	const short = shortName(name, TITLE);
	return short.length > TITLE ? `${short.slice(0, TITLE - 1)}…` : short;
}

/* The text with everything between the outermost open and close replaced. */
function fold(text: string, open: string, close: string, by: string): string {
	let out = "";
	let depth = 0;
	for (const letter of text) {
		if (letter === open) {
			if (depth === 0) out += by;
			depth++;
		} else if (letter === close && depth > 0) {
			depth--;
		} else if (depth === 0) {
			out += letter;
		}
	}
	return depth === 0 ? out : text;
}

/* Code of C++: a scope, or a template behind an identifier. What stands in brackets as a whole is
 * none ("(launch not recorded)", "<built-in method …>"), nor are places of Python. */
function isCpp(name: string): boolean {
	if (/\(\d+\): /.test(name) || /^\s*(\((?!anonymous)|<)/.test(name)) return false;
	return name.includes("::") || /\w</.test(name);
}

/* "void at::native::foo<float, 4>(int, float*)" -> "at::native::foo<…>". */
function shortFrame(name: string): string {
	if (!isCpp(name)) return name;
	const spelled = name
		.replace(/^void /, "")
		.replaceAll("(anonymous namespace)", "{anonymous}")
		.replaceAll("operator<<", "operator{shift}");
	return fold(fold(spelled, "<", ">", "<…>"), "(", ")", "").trim() || name;
}

/* Stacks are frames with ";" between them: each on its own. */
export function shortName(name: string, most = SHORT): string {
	if (name.length <= most) return name;
	return name.split(";").map(shortFrame).join(";");
}

/*
 * names.ts - long C++ names, short: template arguments folded, parameters left out.
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

/* "void at::native::foo<float, 4>(int, float*)" -> "at::native::foo<…>". */
export function shortName(name: string, most = SHORT): string {
	if (name.length <= most) return name;
	const spelled = name
		.replace(/^void /, "")
		.replaceAll("(anonymous namespace)", "{anonymous}")
		.replaceAll("operator<<", "operator{shift}");
	const cpp = spelled.includes("::") || spelled.includes("<");
	if (!cpp) return name;
	return fold(fold(spelled, "<", ">", "<…>"), "(", ")", "").trim() || name;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.tsx - saves a chart as PNG or SVG, as it is drawn.
 */
import { saveAs } from "./save";

/* The elements of an SVG, in CSS pixels. */
export interface Drawn {
	width: number;
	height: number;
	inside: string;
}

export type Picture = SVGSVGElement | Drawn;

/* A picture is as sharp as on a screen of twice the pixels. */
const SCALE = 2;

function fileName(name: string, ending: string): string {
	return `${name
		.toLowerCase()
		.replaceAll(/[^a-z0-9]+/g, "-")
		.replaceAll(/^-|-$/g, "")}.${ending}`;
}

/* Styles of the page do not come along: what they say is written into the copy. */
function withColors(from: Element, to: Element): void {
	const style = getComputedStyle(from);
	for (const name of [
		"fill",
		"stroke",
		"font-size",
		"font-family",
		"opacity",
		"stroke-width",
		"stroke-dasharray",
	])
		to.setAttribute(name, style.getPropertyValue(name));
	for (let i = 0; i < from.children.length; i++) {
		const [a, b] = [from.children[i], to.children[i]];
		if (a && b) withColors(a, b);
	}
}

function drawnOf(picture: Picture): Drawn {
	if (!(picture instanceof SVGSVGElement)) return picture;
	const { width, height } = picture.getBoundingClientRect();
	const copy = picture.cloneNode(true) as SVGSVGElement;
	withColors(picture, copy);
	copy.setAttribute("width", "100%");
	copy.setAttribute("height", "100%");
	return { width, height, inside: new XMLSerializer().serializeToString(copy) };
}

/* The text of an SVG file. */
function svgText({ width, height, inside }: Drawn): string {
	const { backgroundColor } = getComputedStyle(document.body);
	return (
		'<svg xmlns="http://www.w3.org/2000/svg" ' +
		`width="${Math.round(width)}" height="${Math.round(height)}" ` +
		`viewBox="0 0 ${Math.round(width)} ${Math.round(height)}">` +
		`<rect width="100%" height="100%" fill="${backgroundColor}"/>${inside}</svg>`
	);
}

async function pngOf(drawn: Drawn): Promise<Blob | null> {
	const { width, height } = drawn;
	const image = new Image();
	const text = svgText(drawn);
	const canvas = document.createElement("canvas");
	canvas.width = Math.round(width * SCALE);
	canvas.height = Math.round(height * SCALE);
	await new Promise<void>((done, fail) => {
		image.onload = () => done();
		image.onerror = () => fail(new Error("the picture could not be drawn"));
		image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
	});
	canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
	return new Promise((done) => canvas.toBlob(done, "image/png"));
}

async function savePicture(drawn: Drawn, name: string, as: "png" | "svg"): Promise<void> {
	const blob =
		as === "png"
			? await pngOf(drawn)
			: new Blob([svgText(drawn)], { type: "image/svg+xml" });
	if (blob) saveAs(blob, fileName(name, as));
}

export function SavePicture(props: { of: () => Picture | null; name: string }) {
	const save = (as: "png" | "svg") => {
		const picture = props.of();
		if (picture) void savePicture(drawnOf(picture), props.name, as);
	};
	return (
		<span class="save-picture">
			{(["png", "svg"] as const).map((as) => (
				<button
					key={as}
					type="button"
					class="button quiet"
					title={`Save the picture as ${as.toUpperCase()}`}
					aria-label={`Save ${props.name} as ${as.toUpperCase()}`}
					onClick={() => save(as)}
				>
					{as.toUpperCase()}
				</button>
			))}
		</span>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.tsx - saves a chart as PNG or SVG, as it is drawn: SVG stays SVG; of a canvas, which has
 * only pixels, the SVG holds these.
 */

import { saveAs } from "./save";

export type Picture = SVGSVGElement | HTMLCanvasElement;

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
	])
		to.setAttribute(name, style.getPropertyValue(name));
	for (let i = 0; i < from.children.length; i++) {
		const [a, b] = [from.children[i], to.children[i]];
		if (a && b) withColors(a, b);
	}
}

/* In CSS pixels; a canvas need not be on the page. */
function sizeOf(picture: Picture): { width: number; height: number } {
	if (picture instanceof SVGSVGElement) return picture.getBoundingClientRect();
	const ratio = devicePixelRatio || 1;
	return { width: picture.width / ratio, height: picture.height / ratio };
}

function background(): string {
	return getComputedStyle(document.body).backgroundColor;
}

/* The text of an SVG file. */
export function svgText(picture: Picture): string {
	const { width, height } = sizeOf(picture);
	const size = `width="${Math.round(width)}" height="${Math.round(height)}"`;
	const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size}>`;
	const back = `<rect width="100%" height="100%" fill="${background()}"/>`;
	if (picture instanceof HTMLCanvasElement)
		return `${head}${back}<image ${size} href="${picture.toDataURL("image/png")}"/></svg>`;
	const copy = picture.cloneNode(true) as SVGSVGElement;
	withColors(picture, copy);
	copy.setAttribute("width", "100%");
	copy.setAttribute("height", "100%");
	const inner = new XMLSerializer().serializeToString(copy);
	return `${head}${back}${inner}</svg>`;
}

async function pngOf(picture: Picture): Promise<Blob | null> {
	const { width, height } = sizeOf(picture);
	const image = new Image();
	const text = svgText(picture);
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

export async function savePicture(
	picture: Picture,
	name: string,
	as: "png" | "svg",
): Promise<void> {
	const blob =
		as === "png"
			? await pngOf(picture)
			: new Blob([svgText(picture)], { type: "image/svg+xml" });
	if (blob) saveAs(blob, fileName(name, as));
}

export function SavePicture(props: { of: () => Picture | null; name: string }) {
	const save = (as: "png" | "svg") => {
		const picture = props.of();
		if (picture) void savePicture(picture, props.name, as);
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

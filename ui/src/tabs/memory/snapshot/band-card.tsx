/* SPDX-License-Identifier: Apache-2.0 */
/*
 * band-card.tsx - a card next to the pointer: the allocation under it, its lifetime and stack.
 */
import { formatBytes, formatCount, formatNs, formatPercent } from "../../../core/format";
import { type Bands, NEVER, type Under } from "./bands";
import { ShortStack, useStack } from "./frames";
import { type Area, BEFORE, countOf, words } from "./model";

function moment(event: number, at: number): string {
	return `event ${formatCount(event)}${Number.isNaN(at) ? "" : ` (${formatNs(at)})`}`;
}

function lifeWords(bands: Bands, band: number): string {
	const [made, freed] = [bands.made[band] ?? BEFORE, bands.freed[band] ?? NEVER];
	const [from, to] = [bands.madeNs[band] ?? Number.NaN, bands.freedNs[band] ?? Number.NaN];
	const when = made === BEFORE ? "before the first event" : `at ${moment(made, from)}`;
	const begin = `allocated ${when}`;
	if (freed === NEVER) return `${begin}, not freed during the recording`;
	const long = to >= from ? `, held for ${formatNs(to - from)}` : "";
	return `${begin}, freed at ${moment(freed, to)}${long}`;
}

function restWords(bands: Bands, pixel: number, what: "smaller" | "loose"): string {
	const bytes = formatBytes((what === "loose" ? bands.loose : bands.smaller)[pixel] ?? 0);
	if (what === "loose")
		return (
			`${bytes} in unknown blocks: allocated before the recording, ` +
			"or recorded without addresses."
		);
	const many = countOf(bands.smallerCount[pixel] ?? 0, "smaller allocation");
	return `${many}: ${bytes} together. Zoom in to tell them apart.`;
}

export function BandCard(props: {
	bands: Bands;
	area: Area;
	pixel: number;
	under: Under | null;
	device: { snapshot: number; device: string | null };
}) {
	const { bands, area, pixel, under, device } = props;
	const band = under?.what === "band" ? under.band : null;
	const id = band === null ? 0 : (bands.stack[band] ?? 0);
	const stack = useStack(device, id);
	const total = area.high[pixel] ?? 0;
	const event = area.event[pixel] ?? BEFORE;
	const bytes = band === null ? 0 : (bands.bytes[band] ?? 0);
	const series = band === null ? undefined : area.series[bands.series[band] ?? 0];
	return (
		<div class="area-card">
			<span class="soft">
				{formatBytes(total)} active,{" "}
				{event === BEFORE ? "before the first event" : `event ${formatCount(event)}`}
			</span>
			{band === null ? null : (
				<>
					<div>
						<b>{formatBytes(bytes)}</b> {words(series?.name ?? "")} ·{" "}
						{formatPercent((100 * bytes) / total)} of active memory
					</div>
					<div class="soft">{lifeWords(bands, band)}</div>
					{id ? null : <div class="soft">Its stack was not recorded.</div>}
					{stack ? <ShortStack stack={stack} /> : null}
				</>
			)}
			{under && under.what !== "band" ? (
				<div>{restWords(bands, pixel, under.what)}</div>
			) : null}
		</div>
	);
}

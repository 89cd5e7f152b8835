/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve.tsx - the memory curve of one device: the whole from the view, a window of it from the
 * core.
 */
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLoaded, useOpened } from "../../core/context";
import { formatBytes, formatPercent } from "../../core/format";
import { showOnTimeline } from "../../core/store";
import { Failed, Loading } from "../../parts/state";
import {
	type Curve,
	deviceNumber,
	fileOf,
	knownOrNull,
	type Peak,
	readCurve,
	readPixels,
	type Span,
} from "./model";
import { MemoryPlot } from "./plot";

/* Points of a window: about one a pixel of a wide screen. */
const WINDOW_PIXELS = 1200;
/* The device's memory is drawn where the peak comes near it. */
const NEAR_PERCENT = 50;

/* The window in full detail; null until it is loaded, or if that fails. */
function useWindow(peak: Peak, window: Span | null): Curve | null {
	const { client, job } = useOpened();
	const [curve, change] = useState<Curve | null>(null);
	useEffect(() => {
		change(null);
		const file = fileOf(job, peak.rank);
		const device = deviceNumber(peak.device);
		if (!window || !file || file.start_ns === undefined || device === null) return;
		const stop = new AbortController();
		const start = file.start_ns;
		const ask = async (name: string) => {
			const asked = {
				file: file.file,
				curve: name,
				device,
				pixels: WINDOW_PIXELS,
			};
			const from = Math.max(0, Math.round(start + window.from));
			const to = Math.round(start + window.to);
			const reply = await client.bytes(
				"curve",
				{ ...asked, from, to },
				stop.signal,
			);
			return readPixels(reply.bytes);
		};
		/* not every recording has it */
		const reserves = peak.reserved === null ? null : ask("reserved").catch(() => null);
		Promise.all([ask("memory"), reserves]).then(
			([memory, reserved]) => {
				if (!memory || stop.signal.aborted) return;
				change({
					at: memory.at.map((at) => at - start),
					low: knownOrNull(memory.low),
					high: knownOrNull(memory.high),
					reserved: reserved
						? knownOrNull(reserved.high)
						: memory.at.map(() => null),
				});
			},
			() => {},
		);
		return () => stop.abort();
	}, [peak, window, client, job]);
	return curve;
}

function cut(curve: Curve, window: Span): Curve {
	const keep = curve.at.map((at) => at >= window.from && at <= window.to);
	const only = <T,>(values: T[]) => values.filter((_, i) => keep[i]);
	return {
		at: only(curve.at),
		low: only(curve.low),
		high: only(curve.high),
		reserved: only(curve.reserved),
	};
}

function sentence(peak: Peak): string {
	const words = [`Peak: ${formatBytes(peak.allocated)} allocated`];
	if (peak.percent !== null && peak.memory !== null)
		words.push(`, ${formatPercent(peak.percent)} of ${formatBytes(peak.memory)}`);
	if (peak.reserved !== null) words.push(`; ${formatBytes(peak.reserved)} reserved`);
	if (peak.gap) words.push(`, ${formatBytes(peak.gap)} of it unused at the peak`);
	return `${words.join("")}.`;
}

export function CurveOf({ peak }: { peak: Peak }) {
	const { client, job } = useOpened();
	const [window, zoom] = useState<Span | null>(null);
	const loaded = useLoaded(
		() => client.view("memory-curve", { group: "fine", rank: peak.rank, top: 0 }),
		[client, peak.rank],
	);
	const whole = useMemo(
		() => (loaded.value ? readCurve(loaded.value, peak.rank, peak.device) : null),
		[loaded.value, peak],
	);
	const fine = useWindow(peak, window);
	const file = fileOf(job, peak.rank);
	const start = file?.start_ns ?? 0;
	const steps = useMemo(
		() =>
			(file?.steps ?? []).map((step) => ({
				...step,
				start_ns: step.start_ns - start,
				end_ns: step.end_ns - start,
			})),
		[file],
	);
	const curve = useMemo(
		() => (window ? (fine ?? (whole ? cut(whole, window) : null)) : whole),
		[window, fine, whole],
	);

	const limit = (peak.percent ?? 0) >= NEAR_PERCENT ? peak.memory : null;

	const all = { from: whole?.at[0] ?? 0, to: (whole?.at.at(-1) ?? 0) + 1 };
	const go = (next: Span) => zoom(next.from <= all.from && next.to >= all.to ? null : next);
	const showPeak = () => {
		const part = (all.to - all.from) / 10;
		const at = peak.at_ns ?? all.from;
		go({ from: Math.max(all.from, at - part), to: Math.min(all.to, at + part) });
	};

	useEffect(() => zoom(null), [peak]);
	if (!curve)
		return loaded.state === "failed" ? (
			<Failed error={loaded.error} />
		) : (
			<Loading what="Reading the curve …" />
		);
	return (
		<div class="memory-curve">
			<p class="memory-sentence">
				{sentence(peak)}{" "}
				{peak.failed ? (
					<b class="bad">{peak.failed} allocations failed. </b>
				) : null}
				<span class="memory-zoom">
					{window ? (
						<>
							<button
								type="button"
								class="button"
								onClick={() =>
									showOnTimeline(
										start + window.from,
										window.to -
											window.from,
										null,
									)
								}
							>
								Show on timeline
							</button>
							<button
								type="button"
								class="button"
								onClick={() => zoom(null)}
							>
								Show all
							</button>
						</>
					) : (
						<span class="soft">
							Drag over the curve to zoom, Shift+drag to
							pan. W A S D work, too; P shows the peak.
						</span>
					)}
				</span>
			</p>
			{curve.at.length ? (
				<MemoryPlot
					curve={curve}
					steps={steps}
					limit={limit}
					window={window ?? all}
					whole={all}
					zoom={go}
					peak={showPeak}
					label={`${peak.device}: ${sentence(peak)}`}
				/>
			) : (
				<p class="soft">No curve for this device: too few memory events.</p>
			)}
		</div>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odd.ts - oddities of all ranks, each listed once.
 */
import type { Job } from "../../core/client";
import type { TableDocument } from "../../core/types";
import type { Client } from "../../core/client";
import { rowsOf, sum } from "../../core/rows";
import type { QualityRow } from "../../core/tables";

/* Notes on all files; null: there are only digests, whose traces are not looked at. */
export function loadQuality(client: Client, job: Job): Promise<TableDocument | null> {
	const good = job.files.filter((file) => file.problem === null);
	const digests = good.length > 0 && good.every((file) => file.digest);
	return digests ? Promise.resolve(null) : client.view("quality");
}

export interface Odd {
	oddity: string;
	severity: string;
	meaning: string;
	files: number;
	count: number;
	ranks: number[];
}

/* What was lost first. */
const SEVERITIES = ["lost", "mended", "note", "absent"];

export function oddsOf(rows: QualityRow[]): Odd[] {
	const kinds = new Map<string, QualityRow[]>();
	for (const row of rows) {
		const name = row.oddity ?? "";
		kinds.set(name, [...(kinds.get(name) ?? []), row]);
	}
	return [...kinds]
		.map(([oddity, same]) => ({
			oddity,
			severity: same[0]?.severity ?? "note",
			meaning: same[0]?.meaning ?? "",
			files: sum(same.map((row) => row.files)),
			count: sum(same.map((row) => row.count)),
			ranks: same.flatMap((row) => row.rank ?? []),
		}))
		.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

export interface Notes {
	odds: Odd[];
	count: number; /* different things to know: files that cannot be read, and oddities */
	absent: number; /* of the oddities: things that were not recorded */
	bad: boolean;
}

/* What every place that counts notes counts. */
export function notesOf(document: TableDocument, job: Job): Notes {
	const odds = oddsOf(rowsOf(document, "quality"));
	const broken = brokenFiles(job).length;
	return {
		odds,
		count: odds.length + broken,
		absent: odds.filter((odd) => odd.severity === "absent").length,
		bad: broken > 0 || odds.some((odd) => odd.severity === "lost"),
	};
}

export function brokenFiles(job: Job): Job["files"] {
	return job.files.filter((file) => file.problem !== null);
}

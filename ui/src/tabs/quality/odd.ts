/*
 * odd.ts - oddities of all ranks, each once.
 */
import { sum } from "../../core/rows";
import type { QualityRow } from "../../core/tables";
import type { Job } from "../../core/types";

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

export function brokenFiles(job: Job): Job["files"] {
	return job.files.filter((file) => file.problem !== null);
}

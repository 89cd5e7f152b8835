/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.ts - CSV as the command writes it: RFC 4180, and nothing that a spreadsheet would run.
 */
import type { Cell } from "../core/types";

function isFormula(text: string): boolean {
	return /^[=+\-@\t]/.test(text) && !/^-[0-9.]*$/.test(text);
}

function field(cell: Cell): string {
	if (cell === null) return "";
	if (typeof cell !== "string") return String(cell);
	const formula = isFormula(cell);
	if (!formula && !/[,"\r\n]/.test(cell)) return cell;
	return `"${formula ? "'" : ""}${cell.replaceAll('"', '""')}"`;
}

export function writeCsv(columns: { name: string }[], rows: Cell[][]): string {
	const lines = [columns.map((column) => column.name), ...rows.map((row) => row.map(field))];
	return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

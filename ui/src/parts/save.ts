/* SPDX-License-Identifier: Apache-2.0 */
/*
 * save.ts - the browser saves bytes as a file.
 */
export function saveAs(blob: Blob, name: string): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

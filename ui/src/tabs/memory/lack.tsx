/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lack.tsx - what the memory events of a trace do not contain.
 */

/* Tables that say more than those of the recording. */
const OF_TRACE = new Set([
	"snapshot-holders",
	"snapshot-phases",
	"snapshot-leaks",
	"snapshot-oom",
]);

export function isTold(table: string, ofTrace: boolean): boolean {
	return !ofTrace || OF_TRACE.has(table);
}

export function NoBlocks() {
	return (
		<p class="soft">
			A trace has no map of segments and blocks; record a snapshot with
			torch.cuda.memory._dump_snapshot().
		</p>
	);
}

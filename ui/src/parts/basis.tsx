/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basis.tsx - what the figures of a panel are sums or means of, once in its head. The words
 * are the core's.
 */
export function Basis({ of }: { of: { basis?: string } | null | undefined }) {
	return of?.basis ? <span class="basis soft">{of.basis}</span> : null;
}

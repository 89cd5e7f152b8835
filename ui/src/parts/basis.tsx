/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basis.tsx - says once, at the top of a panel, what its numbers are sums or means of. The words
 * come from the core.
 */
export function Basis({ of }: { of: { basis?: string } | null | undefined }) {
	return of?.basis ? <span class="basis soft">{of.basis}</span> : null;
}

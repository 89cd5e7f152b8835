/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.tsx - where the step time goes with the fixes in place: parts that add up to the step.
 */
import type { Account } from "../../core/types";
import { formatNs } from "../../core/format";
import { StackedBar } from "../../parts/stacked-bar";
import { accountParts } from "./model";

export function AccountBar({ account, busy }: { account: Account | null; busy: boolean }) {
	if (!account) return null;
	return (
		<section class={busy ? "budget account busy" : "budget account"}>
			<h3>Step time breakdown</h3>
			<StackedBar
				parts={accountParts(account)}
				label="Step time breakdown"
				whole="of the step"
				format={formatNs}
			/>
		</section>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.mjs - two runs side by side.
 */
import { time } from "./figures.mjs";
import { check } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

async function compared(harness) {
	const before = harness.simulate("ddp8-straggler");
	const after = harness.simulate("ddp8-healthy");
	const { link } = await harness.serve(before, "--compare", after);
	const page = await harness.open(link);
	await verdictOf(page);
	await page.getByRole("tab", { name: "Compare" }).click();
	const panel = page.getByRole("tabpanel", { name: "Compare" });
	for (const folder of [before, after]) {
		const step = time(harness.json("diagnose", folder).step_ns);
		await panel.getByText(step).first().waitFor();
	}
	await panel.getByRole("grid").getByRole("row").nth(1).waitFor();
	check((await panel.getByRole("alert").count()) === 0, "the tab shows an error");
	await harness.close(page);
}

export const compareTests = [{ name: "compare: two runs of one job", run: compared }];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.mjs - the search box says on every tab how many slices match.
 */
import { equal } from "./harness.mjs";
import { verdictOf } from "./ways.mjs";

async function everywhere(harness) {
	const folder = harness.simulate("ddp8-slow");
	const { link } = await harness.serve(folder);
	const { count } = JSON.parse(harness.command("ask", "search?q=gemm&limit=1", folder));
	const page = await harness.open(link);
	await verdictOf(page);
	const box = page.getByRole("searchbox", { name: "Search names of slices" });
	const said = page.locator(".search-count");
	const words = `${count.toLocaleString("en-US")} matches · Enter`;
	for (const tab of await page.getByRole("tab").all()) {
		await tab.click();
		await box.fill("gemm");
		await said.getByText(words).waitFor();
		await box.fill("no slice is called this");
		await said.getByText("no matches").waitFor();
		await box.fill("");
		await page.waitForFunction(() => !document.querySelector(".search-count")?.textContent);
	}
	/* the scope counts, too */
	await page.getByRole("tab", { name: "Kernels" }).click();
	await page.getByRole("combobox", { name: /rank/ }).selectOption("3");
	await box.fill("gemm");
	const one = JSON.parse(harness.command("ask", "search?q=gemm&limit=1&files=3", folder)).count;
	await said.getByText(`${one.toLocaleString("en-US")} matches · Enter`).waitFor();
	equal(await page.getByRole("tab", { selected: true }).innerText(), "Kernels", "the tab");
	await harness.close(page);
}

export const searchTests = [{ name: "search: feedback on every tab", run: everywhere }];

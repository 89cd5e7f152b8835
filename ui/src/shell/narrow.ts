/* SPDX-License-Identifier: Apache-2.0 */
/*
 * narrow.ts - whether the window is as narrow as a phone. Style sheets use the same width.
 */
import { useEffect, useState } from "preact/hooks";

const narrow = matchMedia("(max-width: 720px)");

export function useNarrow(): boolean {
	const [is, change] = useState(narrow.matches);

	useEffect(() => {
		const hear = () => change(narrow.matches);
		narrow.addEventListener("change", hear);
		return () => narrow.removeEventListener("change", hear);
	}, []);
	return is;
}

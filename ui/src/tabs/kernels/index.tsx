/*
 * index.tsx - tab: kernels by name, what they take, and what runs beside them.
 */
import { TableView } from "../../parts/table-view";
import type { Tab } from "../tab";

function Kernels() {
	return (
		<div class="pane">
			<TableView view="kernels" />
		</div>
	);
}

export const kernelsTab: Tab = { id: "kernels", title: "Kernels", component: Kernels };

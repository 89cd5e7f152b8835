/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.tsx - tab: kernels by name, durations, sequences, copies, streams.
 */
import { TabParts } from "../../parts/tab-parts";
import type { Tab } from "../tab";
import { TensorShare } from "./tensor";

function Kernels() {
	return <TabParts tab="kernels" above={{ kernels: TensorShare }} />;
}

export const kernelsTab: Tab = { id: "kernels", title: "Kernels", component: Kernels };

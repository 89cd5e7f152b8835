/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary.tsx - keeps an error in one part of the page from breaking the others, and shows it.
 */
import { Component, type ComponentChildren } from "preact";
import { Failed } from "../parts/state";

export class Boundary extends Component<{ children: ComponentChildren }, { error: string | null }> {
	override state = { error: null };

	static override getDerivedStateFromError(error: unknown) {
		return { error: error instanceof Error ? error.message : String(error) };
	}

	override render() {
		const { error } = this.state;
		if (error === null) return this.props.children;
		return (
			<Failed
				error={`This part of the page failed: ${error}`}
				retry={() => this.setState({ error: null })}
			/>
		);
	}
}

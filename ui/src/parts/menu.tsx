/* SPDX-License-Identifier: Apache-2.0 */
/*
 * menu.tsx - a button that opens a box; a click outside or Escape closes it.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import "./menu.css";

/* Of something in it that leads elsewhere. */
export function closeMenu(inside: Element): void {
	inside.closest("details.menu")?.removeAttribute("open");
}

export function Menu(props: {
	text: string;
	label?: string; /* where the text is a sign */
	children: ComponentChildren;
}) {
	const box = useRef<HTMLDetailsElement>(null);

	useEffect(() => {
		const close = (event: Event) => {
			const element = box.current;
			if (element?.open && !element.contains(event.target as Node))
				element.open = false;
		};
		addEventListener("pointerdown", close);
		return () => removeEventListener("pointerdown", close);
	}, []);
	return (
		<details
			class="menu"
			ref={box}
			onKeyDown={(event) => {
				if (event.key !== "Escape" || !box.current?.open) return;
				box.current.open = false;
				box.current.querySelector("summary")?.focus();
				event.stopPropagation();
			}}
		>
			<summary class="button" aria-label={props.label}>
				{props.text}
			</summary>
			<div class="menu-body">{props.children}</div>
		</details>
	);
}

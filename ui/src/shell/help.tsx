/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.tsx - a dialog with all keyboard shortcuts and the licences of what is in the page.
 */
import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "./keys";
import { Licences } from "./licences";

export function Help({ version, onClose }: { version: string; onClose: () => void }) {
	const box = useRef<HTMLDialogElement>(null);

	useEffect(() => {
		const element = box.current;
		element?.showModal();
		return () => element?.close();
	}, []);
	return (
		<dialog
			ref={box}
			class="help"
			aria-labelledby="help-title"
			onCancel={(event) => {
				event.preventDefault();
				onClose();
			}}
			onClick={(event) => {
				if (event.target === box.current) onClose();
			}}
			onKeyDown={(event) => {
				event.stopPropagation();
				if (event.key !== "?" && event.key !== "Escape") return;
				event.preventDefault();
				onClose();
			}}
		>
			<header>
				<h2 id="help-title">Keyboard shortcuts</h2>
				<span class="soft">stepscope {version}</span>
				<button type="button" class="button" onClick={onClose}>
					Close
				</button>
			</header>
			<div class="help-groups">
				{KEYS.map((group) => (
					<section key={group.title}>
						<h3>{group.title}</h3>
						<dl>
							{group.keys.map((key) => (
								<div key={key.keys}>
									<dt>{key.keys}</dt>
									<dd>{key.does}</dd>
								</div>
							))}
						</dl>
					</section>
				))}
			</div>
			<Licences />
		</dialog>
	);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.ts - collects dropped files, and the traces in dropped folders.
 *
 * A page opened from disk may not read entries (file() and readEntries() are refused there), but
 * it may take files from the drop itself and folders by their handles. Browsers without handles
 * have entries.
 */
import type { Picked } from "../core/transport";

/* In folders only what looks like a trace is taken: checkpoints lie there too. */
const TRACE = /\.(json|gz|zst|pickle|pkl|stepscope|digest)$/i;

/* `stepscope pack` writes it beside the trace, and it says the same. */
const PACK = /\.stepscope$/i;
const PACKED = /\.json(\.gz|\.zst)?$/i;

/* A folder with more than this is not a folder of ranks. */
const MOST_FILES = 4096;

/* Not in the types of all browsers that the page runs in. */
type ItemWithHandle = DataTransferItem & {
	getAsFileSystemHandle?: () => Promise<FileSystemHandle | null>;
};
type FolderHandle = FileSystemDirectoryHandle & {
	values(): AsyncIterable<FileSystemFileHandle | FileSystemDirectoryHandle>;
};

/* What a drop gives while its event lasts: afterwards items are empty. */
interface Dropped {
	file: File | null;
	folder: FileSystemDirectoryEntry | null;
	handle: Promise<FileSystemHandle | null>;
}

export function isTrace(name: string): boolean {
	return TRACE.test(name) && !name.startsWith(".");
}

/* A folder, whichever way it is read: what is in it, files and folders. */
interface Folder {
	path: string;
	list(): AsyncIterable<Folder | { path: string; open(): Promise<File> }>;
}

function folderOfHandle(handle: FolderHandle, path: string): Folder {
	return {
		path,
		async *list() {
			for await (const inner of handle.values()) {
				const at = `${path}/${inner.name}`;
				if (inner.kind === "directory")
					yield folderOfHandle(inner as FolderHandle, at);
				else yield { path: at, open: () => inner.getFile() };
			}
		},
	};
}

function readSome(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
	return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}

function folderOfEntry(entry: FileSystemDirectoryEntry, path: string): Folder {
	return {
		path,
		async *list() {
			const reader = entry.createReader();
			/* A reader gives a hundred at a time, and none at the end. */
			for (let some = await readSome(reader); some.length; some = await readSome(reader))
				for (const inner of some) {
					const at = `${path}/${inner.name}`;
					if (inner.isDirectory)
						yield folderOfEntry(
							inner as FileSystemDirectoryEntry,
							at,
						);
					else
						yield {
							path: at,
							open: () =>
								new Promise<File>((resolve, reject) =>
									(inner as FileSystemFileEntry).file(
										resolve,
										reject,
									),
								),
						};
				}
		},
	};
}

async function within(root: Folder): Promise<Picked[]> {
	const waiting = [root];
	const files: Picked[] = [];
	for (let next = waiting.shift(); next; next = waiting.shift())
		for await (const inner of next.list()) {
			if (files.length >= MOST_FILES) return files;
			if ("list" in inner) waiting.push(inner);
			else if (isTrace(inner.path.split("/").at(-1) ?? ""))
				files.push({ path: inner.path, file: await inner.open() });
		}
	return files;
}

/* Everything is asked for at once: behind the first await the drop is over. */
function take(item: ItemWithHandle): Dropped {
	const entry = item.webkitGetAsEntry?.() ?? null;
	const folder = entry?.isDirectory ? (entry as FileSystemDirectoryEntry) : null;
	const handle = folder ? item.getAsFileSystemHandle?.() : undefined;
	return {
		file: folder ? null : item.getAsFile(),
		folder,
		handle: (handle ?? Promise.resolve(null)).catch(() => null),
	};
}

async function filesOf(dropped: Dropped): Promise<Picked[]> {
	const { file, folder } = dropped;
	if (file) return [{ path: file.name, file }];
	const handle = await dropped.handle;
	if (handle?.kind === "directory")
		return within(folderOfHandle(handle as FolderHandle, handle.name));
	return folder ? within(folderOfEntry(folder, folder.name)) : [];
}

/* In their order; a trace beside its pack is left out, as the command does. */
function byPath(files: Picked[]): Picked[] {
	const numbers = new Intl.Collator("en", { numeric: true });
	const packs = new Set(
		files.filter(({ path }) => PACK.test(path)).map(({ path }) => path.replace(PACK, "")),
	);
	return files
		.filter(({ path }) => !PACKED.test(path) || !packs.has(path.replace(PACKED, "")))
		.sort((a, b) => numbers.compare(a.path, b.path));
}

export async function droppedFiles(data: DataTransfer): Promise<Picked[]> {
	const items = [...data.items].filter((item) => item.kind === "file").map(take);
	return byPath((await Promise.all(items.map(filesOf))).flat());
}

export function chosenFiles(list: FileList, folder: boolean): Picked[] {
	return byPath(
		[...list]
			.filter((file) => !folder || isTrace(file.name))
			.map((file) => ({ path: file.webkitRelativePath || file.name, file })),
	);
}

/*
 * files.ts - the files of a drop: those that were dropped, and the traces in dropped folders.
 */

/* In folders only what looks like a trace is taken: checkpoints lie there too. */
const TRACE = /\.(json|json\.gz|json\.zst|gz|zst|pickle|pkl)$/i;

/* A folder with more than this is not a folder of ranks. */
const MOST_FILES = 4096;

function fileOf(entry: FileSystemFileEntry): Promise<File> {
	return new Promise((resolve, reject) => entry.file(resolve, reject));
}

function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
	const reader = folder.createReader();
	const all: FileSystemEntry[] = [];
	return new Promise((resolve, reject) => {
		/* A reader gives a hundred at a time, and none at the end. */
		const more = () =>
			reader.readEntries((some) => {
				all.push(...some);
				if (some.length && all.length < MOST_FILES) more();
				else resolve(all);
			}, reject);
		more();
	});
}

export function isTrace(name: string): boolean {
	return TRACE.test(name) && !name.startsWith(".");
}

async function within(roots: FileSystemEntry[]): Promise<File[]> {
	const waiting = roots.map((entry) => ({ entry, dropped: true }));
	const files: File[] = [];
	for (
		let next = waiting.shift();
		next && files.length < MOST_FILES;
		next = waiting.shift()
	) {
		const { entry, dropped } = next;
		if (entry.isFile && (dropped || isTrace(entry.name)))
			files.push(await fileOf(entry as FileSystemFileEntry));
		else if (entry.isDirectory)
			for (const inner of await entriesOf(entry as FileSystemDirectoryEntry))
				waiting.push({ entry: inner, dropped: false });
	}
	return files;
}

function byName(files: File[]): File[] {
	const numbers = new Intl.Collator("en", { numeric: true });
	return files.sort((a, b) => numbers.compare(a.name, b.name));
}

export async function droppedFiles(data: DataTransfer): Promise<File[]> {
	const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
	return byName(entries.length ? await within(entries) : [...data.files]);
}

export function chosenFiles(list: FileList, folder: boolean): File[] {
	return byName([...list].filter((file) => !folder || isTrace(file.name)));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One script for pages and Node; tools/npm_package calls it with the folder to write. */
const here = import.meta.dirname;

export default {
	configFile: false,
	root: here,
	publicDir: false,
	build: {
		target: "es2022",
		minify: false,
		emptyOutDir: true,
		outDir: process.env.STEPSCOPE_NPM_FOLDER,
		lib: { entry: `${here}/index.ts`, formats: ["es"], fileName: () => "index.js" },
	},
};

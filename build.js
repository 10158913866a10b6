/**
 * Builds what is run and shipped, after `npm ci` and by `npm run build`: the program (dist) and the pages of its
 * administration area (web/dist). The program becomes a few files: to find and load a thousand modules, most of them
 * of two libraries, takes Node longer than everything else of a start, and 20 MiB.
 */
import { fileURLToPath } from 'node:url'

const { build } = await import('vite').catch(error => {
  console.error(`The build needs the development dependencies: npm ci --include=dev. (${error.message})`)
  process.exit(1)
})

const here = path => fileURLToPath(new URL(path, import.meta.url))
const logLevel = 'warn'
const license = { fileName: 'licenses.md' }

await build({
  root: here('.'),
  configFile: false,
  logLevel,
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: 'dist',
    target: 'node24',
    minify: false,
    license,
    rolldownOptions: {
      input: ['src/main.ts', 'src/storage/sqlite/thread.ts'],
      // All in one folder, at the depth of src: what is found relative to a file is found in both.
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name].js',
        comments: false,
        // V8 keeps the whole text of a file with two bytes for each character, if only one of them needs it.
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
      },
      // What is not used may be there to throw, as decodeURIComponent is: nothing is left out.
      treeshake: false,
    },
  },
})
// What pages of the shop load: as small as it can be, and by itself.
await build({
  configFile: false,
  logLevel,
  build: {
    outDir: here('dist'),
    emptyOutDir: false,
    target: 'es2020',
    lib: { entry: here('web/script/a.ts'), name: 'a', formats: ['iife'], fileName: () => 'script.js' },
  },
})
await build({ configFile: here('web/vite.config.ts'), logLevel, build: { license } })

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const SMALLEST_COMPRESSED_BYTES = 1024

/** Writes a .br and a .gz beside each text file of the build, so that the server never compresses. */
function precompress(): Plugin {
  let folder = ''
  return {
    name: 'precompress',
    apply: 'build',
    configResolved: config => {
      folder = join(config.root, config.build.outDir, config.build.assetsDir)
    },
    closeBundle: async () => {
      const names = (await readdir(folder)).filter(name => /\.(js|css|svg)$/.test(name))
      for (const name of names) {
        const content = await readFile(join(folder, name))
        if (content.length < SMALLEST_COMPRESSED_BYTES) continue
        await writeFile(join(folder, `${name}.br`), await promisify(brotliCompress)(content))
        await writeFile(join(folder, `${name}.gz`), await promisify(gzip)(content, { level: 9 }))
      }
    },
  }
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/admin/',
  plugins: [react(), precompress()],
  build: {
    outDir: 'dist',
    // As src/admin/web.ts serves them.
    assetsDir: '_built',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/admin/api': 'http://127.0.0.1:8080' } },
})

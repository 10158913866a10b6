// Builds the administration area after `npm ci`. Where the development dependencies were left out (a production
// install of a checkout), there is nothing to build with and a build that exists is used.
import { existsSync } from 'node:fs'

if (existsSync(new URL('../node_modules/vite', import.meta.url))) {
  const { build } = await import('vite')
  await build({ configFile: new URL('vite.config.ts', import.meta.url).pathname, logLevel: 'warn' })
}

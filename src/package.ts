import { readFileSync } from 'node:fs'

/** The folder of the package, seen from the sources and from the build alike. */
export const packageFolder = new URL('../', import.meta.url)

const manifest = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8')) as {
  version: string
}

/** The program's version, from package.json. */
export const version = manifest.version

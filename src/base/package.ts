import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'

const file = pathToFileURL(findPackageJSON(import.meta.url)!)

/** The folder of the package. */
export const packageFolder = new URL('./', file)

const manifest: { readonly version: string } = JSON.parse(readFileSync(file, 'utf8'))

/** The program's version, from package.json. */
export const version = manifest.version

/** The script for the shop's pages (web/script/a.ts), with the settings, compressed once for each encoding. */
import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { packageFolder } from '../../base/package.ts'
import type { TrackingSettings } from '../../base/settings.ts'
import { DAY_SECONDS } from '../../base/time.ts'
import { cookieDomains } from './cookie.ts'

/** The script in one encoding. */
export interface EncodedScript {
  readonly encoding: 'br' | 'gzip' | undefined
  readonly body: Buffer
  /** An entity tag, which includes the encoding. */
  readonly tag: string
}

const PLACE = 'AFFILIATED_SETTINGS'

export class Script {
  #source: string | undefined
  #settings = ''
  #encoded = new Map<string, EncodedScript>()

  /** @param accepted the Accept-Encoding header */
  encoded(settings: TrackingSettings, accepted = ''): EncodedScript {
    const text = JSON.stringify(settingsOf(settings))
    if (text !== this.#settings) {
      this.#settings = text
      this.#encoded = new Map()
    }
    const encoding = (['br', 'gzip'] as const).find(name => takes(accepted, name))
    const cached = this.#encoded.get(encoding ?? '')
    if (cached) return cached
    const encoded = this.#encode(encoding)
    this.#encoded.set(encoding ?? '', encoded)
    return encoded
  }

  #encode(encoding: EncodedScript['encoding']): EncodedScript {
    this.#source ??= sourceOf()
    const plain = Buffer.from(this.#source.replace(PLACE, () => this.#settings))
    const tag = `"${hash('sha256', plain, 'base64url').slice(0, 16)}${encoding ? `-${encoding}` : ''}"`
    const body = encoding === 'br' ? brotliCompressSync(plain) : encoding === 'gzip' ? gzipSync(plain) : plain
    return { encoding, body, tag }
  }
}

/** The settings that the script needs, in its order; anybody can read them. */
function settingsOf({ attributionDays, consentRequired, page, hosts }: TrackingSettings) {
  const host = URL.parse(page)?.host
  return [
    attributionDays * DAY_SECONDS,
    consentRequired,
    [...new Set([...(host ? [host] : []), ...hosts])],
    cookieDomains(hosts),
  ]
}

/** The built script; the source where the program runs from its sources. */
function sourceOf(): string {
  const built = new URL('dist/script.js', packageFolder)
  const source = new URL('web/script/a.ts', packageFolder)
  const isBuild = import.meta.url.startsWith(new URL('dist/', packageFolder).href)
  return isBuild || !existsSync(source)
    ? readFileSync(built, 'utf8')
    : stripTypeScriptTypes(readFileSync(source, 'utf8').replace(/^declare const .*$/m, ''))
}

/** Whether the encoding is accepted, and not with a weight of 0. */
function takes(accepted: string, encoding: string): boolean {
  return accepted.split(',').some(entry => {
    const [name, weight = ''] = entry.split(';')
    return name!.trim() === encoding && !/^\s*q=0(\.0*)?\s*$/.test(weight)
  })
}

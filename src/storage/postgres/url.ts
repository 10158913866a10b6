/** The URL of a PostgreSQL database. */
import type pg from 'pg'
import { parse, toClientConfig } from 'pg-connection-string'
import { messageOf } from '../../base/unknown.ts'
import { UrlInvalid } from '../database.ts'

const TLS_PARAMETERS = ['sslmode', 'sslnegotiation', 'sslrootcert', 'sslcert', 'sslkey']

/** Several hosts after user and password (which may contain commas), or in the parameter `host`. */
const SEVERAL_HOSTS = /^\w+:\/\/(?:[^/?]*@|(?![^/?]*@))[^@/?]*,|[?&]host=[^&]*,/

/** `sslmode` has the same meaning as for PostgreSQL's own programs. */
export function configOf(url: string): pg.ClientConfig {
  if (SEVERAL_HOSTS.test(url)) {
    throw new UrlInvalid(
      'The database URL names several hosts: name one address, which leads to the primary also after a failover.',
    )
  }
  const parameters = URL.canParse(url) ? new URL(url).searchParams : new URLSearchParams()
  const names = [...parameters.keys()]
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) {
    throw new UrlInvalid(`The database URL says ${repeated} twice: say it once.`)
  }
  // A misspelt parameter would leave the connection without TLS.
  const misspelt = names.find(name => /ssl/i.test(name) && !TLS_PARAMETERS.includes(name))
  if (misspelt !== undefined) {
    throw new UrlInvalid(
      `The database URL says ${misspelt}, which is not known. What TLS is to be like is said by ${TLS_PARAMETERS.join(', ')}.`,
    )
  }
  const sslmode = parameters.get('sslmode')
  if (sslmode !== null && !['disable', 'require', 'verify-ca', 'verify-full'].includes(sslmode)) {
    throw new UrlInvalid(
      `sslmode must be disable, require, verify-ca or verify-full; with ${sslmode}, somebody in between could choose.`,
    )
  }
  try {
    return toClientConfig(parse(url, { useLibpqCompat: true }))
  } catch (error) {
    throw new UrlInvalid(`The database URL cannot be read: ${messageOf(error)}`, error)
  }
}

/**
 * Serves the built web application: its files, and index.html under every other path of the area, because the application
 * has client-side routes. The build compresses the files; nothing is compressed on the fly.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Failure } from '../base/errors.ts'
import { packageFolder } from '../base/package.ts'

const folder = fileURLToPath(new URL('web/dist/', packageFolder))
const indexFile = join(folder, 'index.html')

const IMMUTABLE = 'public, max-age=31536000, immutable'
const NONCE_PLACEHOLDER = '__CSP_NONCE__'

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>affiliated</title>
<h1>The administration area is not built</h1>
<p>Run <code>npm run build</code> and start the service again.</p>
</html>
`

/**
 * Content security policy of a page: only resources from here. Styles need the nonce, which is new for each page.
 * @param nonce undefined: only styles in files
 */
export function contentPolicy(nonce?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === undefined ? '' : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** The folder of built files, see web/vite.config.ts: no resource, whose pages have its name, can be called that. */
const BUILT = '_built'

/** A Fastify plugin, for the prefix of the area. */
export async function web(scope: FastifyInstance): Promise<void> {
  // Read once, like the names of the files: the page of a newer build would request files that are not known here.
  const page = existsSync(indexFile) ? readFileSync(indexFile, 'utf8') : undefined
  if (page !== undefined) {
    await scope.register(files, {
      root: folder,
      serve: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders: (reply, path) => {
        reply.header('Cache-Control', path.startsWith(join(folder, BUILT)) ? IMMUTABLE : 'no-cache')
      },
    })
    // Not a route per file: hundreds of them take a part of each start.
    for (const place of ['', `${BUILT}/`]) {
      const names = servedIn(place)
      scope.route<{ Params: { file: string } }>({
        method: ['GET', 'HEAD'],
        url: `/${place}:file`,
        // Every other path is left to the application.
        handler: ({ params: { file } }, reply) =>
          names.has(file) ? reply.sendFile(place + file) : reply.callNotFound(),
      })
    }
  }
  scope.setNotFoundHandler(async (request, reply) => {
    const [path] = request.url.split('?', 1)
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new Failure('no_route')
    // A missing file, such as one of an older build, must not be answered with a page.
    if (path!.startsWith(`${scope.prefix}/${BUILT}/`)) throw new Failure('no_route')
    reply.type('text/html; charset=utf-8')
    return page === undefined ? reply.send(NOT_BUILT) : sendPage(reply, page)
  })
}

/** Names of the files that browsers request there: not the page, and not what others are when they are compressed. */
function servedIn(place: string): ReadonlySet<string> {
  const files = readdirSync(join(folder, place), { withFileTypes: true }).filter(entry => entry.isFile())
  const names = files.map(({ name }) => name)
  return new Set(names.filter(name => name !== 'index.html' && !/\.(?:br|gz)$/.test(name)))
}

function sendPage(reply: FastifyReply, page: string): FastifyReply {
  const nonce = randomBytes(16).toString('base64')
  return reply
    .headers({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': contentPolicy(nonce) })
    .send(page.replaceAll(NONCE_PLACEHOLDER, nonce))
}

/**
 * Every option of the service, declared once: flag, environment variable, default, meaning, validation. Flags win
 * over variables.
 */
import { isIP } from 'node:net'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { MailOptions } from '../accounts/recovery/post.ts'
import { isEmail } from '../base/text.ts'
import { databaseOption, secretKeyOption, wholeNumber } from '../cli/options.ts'
import { isUrl } from '../operations/audit/anchor-places.ts'

export interface ServeConfig {
  readonly database: string
  readonly readDatabase?: string
  readonly databasePool: number
  readonly preparedStatements: 'auto' | 'never'
  readonly secretKeyFile?: string
  readonly auditAnchor?: string
  readonly host: string
  readonly port: number
  readonly workers: number
  readonly logLevel: string
  readonly rateLimit: number
  readonly readSeconds: number
  readonly bodyLimit: number
  readonly metricsPort?: number
  readonly metricsHost: string
  readonly mail: MailOptions | undefined
  readonly corsOrigins: string[]
  readonly trustProxy: string[] | number
  readonly bootstrap: boolean
  readonly demo: boolean
}

/** As the flags and variables say them. */
export interface ServeFlags extends Omit<ServeConfig, 'mail'> {
  readonly smtpUrl?: string
  readonly mailFrom?: string
  readonly publicUrl?: string
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

export const serveOptions = (): Option[] => [
  ...placeOptions(),
  ...mailOptions(),
  ...limitOptions(),
  ...clientOptions(),
]

/** Options for database and listening address. */
const placeOptions = (): Option[] => [
  databaseOption(),
  new Option('--read-database <url>', 'PostgreSQL replica to read lists and records from: postgres://…').env(
    'READ_DATABASE_URL',
  ),
  new Option('--database-pool <number>', 'connections to PostgreSQL that each process opens at most')
    .env('DATABASE_POOL')
    .default(10)
    .argParser(wholeNumber(1, 1000)),
  new Option(
    '--prepared-statements <when>',
    'whether PostgreSQL prepares statements once per connection: auto (until a pooler turns out not to support it) or never',
  )
    .env('PREPARED_STATEMENTS')
    .default('auto')
    .choices(['auto', 'never']),
  secretKeyOption(),
  new Option(
    '--audit-anchor <place>',
    "file or URL, out of reach of the database's owner, that receives each seal of the audit log",
  )
    .env('AUDIT_ANCHOR')
    .argParser(anchor),
  new Option('--host <address>', 'address to listen on').env('HOST').default('127.0.0.1'),
  new Option('--port <number>', 'port to listen on; 0 means any free port')
    .env('PORT')
    .default(8080)
    .argParser(wholeNumber(0, 65_535)),
  new Option('--workers <number>', 'processes that answer requests; 0 means one per core')
    .env('WORKERS')
    .default(1)
    .argParser(wholeNumber(0, 256)),
  new Option('--log-level <level>', 'log messages of this severity and above')
    .env('LOG_LEVEL')
    .default('info')
    .choices(logLevels),
  new Option('--metrics-port <number>', 'port of the Prometheus metrics, at /metrics')
    .env('METRICS_PORT')
    .argParser(wholeNumber(1, 65_535)),
  new Option('--metrics-host <address>', 'address that the metrics port listens on')
    .env('METRICS_HOST')
    .default('127.0.0.1'),
]

/** Options for password reset by e-mail. */
const mailOptions = (): Option[] => [
  new Option(
    '--smtp-url <url>',
    'mail server for password resets: smtp://user:password@host:587, or smtps://',
  )
    .env('SMTP_URL')
    .argParser(smtp),
  new Option('--mail-from <address>', 'sender of these e-mails').env('MAIL_FROM').argParser(sender),
  new Option('--public-url <url>', 'public address of the service, for links in e-mails')
    .env('PUBLIC_URL')
    .argParser(publicUrl),
]

/** @param serve ends with wrong usage if only some of them are set */
export function configOf(
  { smtpUrl, mailFrom, publicUrl, ...flags }: ServeFlags,
  serve: Command,
): ServeConfig {
  if (smtpUrl === undefined) return { ...flags, mail: undefined }
  if (mailFrom === undefined || publicUrl === undefined)
    return serve.error('error: --smtp-url needs --mail-from and --public-url as well.')
  return { ...flags, mail: { smtpUrl, from: mailFrom, publicUrl } }
}

/** The value is not repeated in an error: it may contain a password. */
function smtp(text: string): string {
  const url = URL.parse(text)
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new InvalidArgumentError(
      'It must be smtp://host, with user:password@ and :port where needed, or smtps://.',
    )
  }
  return text
}

function sender(text: string): string {
  if (!isEmail(text)) throw new InvalidArgumentError('It must be an e-mail address.')
  return text
}

function publicUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search || url.hash || url.username) {
    throw new InvalidArgumentError('It must be a URL such as https://affiliates.example.com.')
  }
  return text
}

const limitOptions = (): Option[] => [
  new Option(
    '--rate-limit <number>',
    'requests per minute and API key, and per address without a valid key; 0 means no limit',
  )
    .env('RATE_LIMIT')
    .default(6000)
    .argParser(wholeNumber(0, 1_000_000_000)),
  new Option(
    '--read-seconds <number>',
    'how many seconds a request may read the database before it gets its answer, or the next part of it',
  )
    .env('READ_SECONDS')
    .default(20)
    .argParser(wholeNumber(1, 3600)),
  new Option('--body-limit <bytes>', 'largest request body, in bytes')
    .env('BODY_LIMIT')
    .default(1_048_576)
    .argParser(wholeNumber(1024, 1_073_741_824)),
]

/** Options about clients, and the first start. */
const clientOptions = (): Option[] => [
  new Option(
    '--cors-origins <list>',
    'origins, separated by commas, whose pages may use the API from a browser; with *, any origin may read',
  )
    .env('CORS_ORIGINS')
    .default([], 'none')
    .argParser(origins),
  new Option(
    '--trust-proxy <list>',
    'proxies, separated by commas, whose X-Forwarded headers are trusted: addresses, networks (10.0.0.0/8), loopback; or how many proxies there are',
  )
    .env('TRUST_PROXY')
    .default(['loopback'], 'loopback')
    .argParser(proxies),
  new Option(
    '--no-bootstrap',
    'do not create a first administrator and API key in a database without accounts',
  ),
  new Option('--demo', 'fill an empty database with sample data').default(false),
]

function parts(text: string): string[] {
  return text
    .split(',')
    .map(entry => entry.trim())
    .filter(part => part !== '')
}

function anchor(text: string): string {
  if (text === '')
    throw new InvalidArgumentError('It must be a file, or a URL that begins with https:// or http://.')
  if (isUrl(text) && !['https:', 'http:'].includes(URL.parse(text)?.protocol ?? '')) {
    throw new InvalidArgumentError('A URL must begin with https:// or http://, and name a host.')
  }
  return text
}

const MOST_PROXIES = 16

function proxies(text: string): string[] | number {
  return /^\d+$/.test(text) ? wholeNumber(0, MOST_PROXIES)(text) : networks(text)
}

function networks(text: string): string[] {
  const list = parts(text)
  for (const network of list) {
    const [address, bits = '0', ...more] = network.split('/')
    const most = isIP(address!) === 6 ? 128 : 32
    const valid = isIP(address!) !== 0 && /^\d+$/.test(bits) && Number(bits) <= most && more.length === 0
    if (network !== 'loopback' && !valid) {
      throw new InvalidArgumentError(
        `${network} is not an address, a network such as 10.0.0.0/8, or loopback.`,
      )
    }
  }
  return list
}

function origins(text: string): string[] {
  const list = parts(text)
  for (const origin of list) {
    if (origin === '*') continue
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new InvalidArgumentError(`${origin} is neither an origin such as https://shop.example.com nor *.`)
    }
  }
  return list
}

/** A real browser before the real process, both started once for all scenarios. */
import assert from 'node:assert/strict'
import sparticuz from '@sparticuz/chromium'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { type ServeProcess, serveProcess, temporaryFolder } from '../harness.ts'
import { MailServer } from '../mail.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const WAIT_MS = 15_000

export interface Look {
  width?: number
  height?: number
  colorScheme?: 'light' | 'dark'
  locale?: string
  timezoneId?: string
}

/** A page, and what went wrong on it that nobody sees: failures of scripts and requests to other hosts. */
export interface Visit {
  readonly page: Page
  readonly complaints: string[]
}

export class World {
  readonly server: ServeProcess
  /** Gets what the service sends. */
  readonly mail: MailServer
  readonly #browser: Browser
  readonly #remove: () => Promise<void>

  private constructor(server: ServeProcess, mail: MailServer, browser: Browser, remove: () => Promise<void>) {
    this.server = server
    this.mail = mail
    this.#browser = browser
    this.#remove = remove
  }

  /** @param args of `affiliated serve`, on a fresh database */
  static async start(...args: string[]): Promise<World> {
    const folder = await temporaryFolder()
    const mail = await MailServer.listen()
    const sending = ['--smtp-url', mail.url, '--mail-from', 'service@example.com']
    const server = await serveProcess([
      '--database',
      `sqlite:${folder.path}/browser.db`,
      ...sending,
      '--public-url',
      'https://service.example',
      ...args,
    ])
    return new World(server, mail, await launch(), folder.remove)
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.server.stop()
    await this.mail.close()
    await this.#remove()
  }

  /** Opens a page in a browser that nobody has logged in with, and closes it after the steps. */
  async visit(path: string, steps: (page: Page) => Promise<void>, look: Look = {}): Promise<void> {
    const context = await this.#newContext(look)
    try {
      await this.#walk(context, path, steps)
    } finally {
      await context.close()
    }
  }

  /** The same, logged in as the administrator. */
  async work(path: string, steps: (page: Page) => Promise<void>, look: Look = {}): Promise<void> {
    const context = await this.#newContext(look)
    try {
      const { login, password } = this.server.announced
      const reply = await context.request.post('/admin/api/session', {
        headers: { 'x-admin-request': '1' },
        data: { login, password },
      })
      assert.equal(reply.status(), 201, await reply.text())
      await this.#walk(context, path, steps)
    } finally {
      await context.close()
    }
  }

  /** Calls the API as a program does. */
  async api(
    method: string,
    path: string,
    body?: object,
    token = this.server.announced.token,
  ): Promise<Response> {
    return fetch(`${this.server.announced.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  }

  async read<T = any>(path: string): Promise<T> {
    const reply = await this.api('GET', path)
    assert.equal(reply.status, 200, await reply.clone().text())
    return (await reply.json()) as T
  }

  async make<T = any>(path: string, body: object): Promise<T> {
    const reply = await this.api('POST', path, body)
    assert.equal(reply.status, 201, await reply.clone().text())
    return (await reply.json()) as T
  }

  #newContext({ width = 1280, height = 900, colorScheme = 'light', ...rest }: Look): Promise<BrowserContext> {
    return this.#browser.newContext({
      viewport: { width, height },
      colorScheme,
      reducedMotion: 'reduce',
      baseURL: this.server.announced.url,
      ...rest,
    })
  }

  /** What nobody sees fails the scenario as well: errors of scripts, and requests to any other host. */
  async #walk(context: BrowserContext, path: string, steps: (page: Page) => Promise<void>): Promise<void> {
    const page = await context.newPage()
    page.setDefaultTimeout(WAIT_MS)
    const complaints: string[] = []
    page.on('pageerror', error => complaints.push(String(error)))
    page.on('console', message => {
      // An answer of 400 or more is reported by the browser itself; scenarios look at those where they expect them.
      const isAnswer = message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && !isAnswer) complaints.push(message.text())
    })
    page.on('request', request => {
      const isElsewhere =
        /^(https?|wss?):/.test(request.url()) && !request.url().startsWith(this.server.announced.url)
      if (isElsewhere) complaints.push(`asked another host: ${request.url()}`)
    })
    await page.goto(`/admin${path}`)
    await steps(page)
    assert.deepEqual(complaints, [])
  }
}

/** A button that does something at once, when that is done: until then it takes no other press. */
export function idle(button: Locator): Locator {
  return button.and(button.page().locator('[aria-busy=false]'))
}

/** Waits until what is asserted holds: for what comes a little later than the click that caused it. */
export async function eventually(holds: () => Promise<void>): Promise<void> {
  const late = Date.now() + WAIT_MS
  for (;;) {
    try {
      return await holds()
    } catch (error) {
      if (Date.now() > late) throw error
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
}

/** The browser that comes with the packages on Linux, else one that is installed. */
export async function launch(...flags: readonly string[]): Promise<Browser> {
  const args = [...FLAGS, ...flags]
  if (process.platform !== 'linux') return chromium.launch({ channel: 'chrome', args })
  return chromium.launch({ executablePath: await sparticuz.executablePath(), args })
}

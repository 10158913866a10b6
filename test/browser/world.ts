/** A real browser before the real process, both started once for all scenarios. */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { after, before, describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core'
import { type ServeProcess, serveProcess, temporaryFolder, Visitor } from '../harness.ts'
import { MailServer } from '../mail.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // What pages leave behind is short-lived: to collect it in larger portions costs less. To optimise what runs as shortly
  // as a page of a scenario costs more than it saves.
  '--js-flags=--min-semi-space-size=64,--no-opt',
]
refuseOldPages()

/** Long, because a busy machine is far more common than a page that never appears. */
export const WAIT_MS = 60_000

/** What scenarios listen to. */
const OBSERVED = ['pageerror', 'console', 'request', 'requestfinished', 'requestfailed', 'dialog']

/** What a browser cannot change later. */
interface Place {
  locale?: string
  timezoneId?: string
}

export interface Look extends Place {
  width?: number
  height?: number
  colorScheme?: 'light' | 'dark'
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly url: string
}

export class World {
  readonly server: ServeProcess
  /** Gets what the service sends. */
  readonly mail: MailServer
  readonly #browser: Browser
  /** Fails once the browser has ended. */
  readonly #ended: Promise<never>
  /** Where the next scenario goes on. */
  readonly #idle = new Map<string, Page>()
  readonly #remove: () => Promise<void>
  #administrator: Visitor | undefined

  private constructor(server: ServeProcess, mail: MailServer, browser: Browser, remove: () => Promise<void>) {
    this.server = server
    this.mail = mail
    this.#browser = browser
    this.#ended = new Promise((_, reject) => {
      browser.once('disconnected', () => reject(new Error('the browser has ended by itself')))
    })
    // Nobody waits for it between scenarios.
    this.#ended.catch(() => {})
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
  visit(path: string, steps: (page: Page) => Promise<void>, look: Look = {}): Promise<void> {
    return this.#inTime(this.#walk(path, steps, look, []))
  }

  /** The same, logged in as the administrator. */
  async work(path: string, steps: (page: Page) => Promise<void>, look: Look = {}): Promise<void> {
    await this.#inTime(this.#walk(path, steps, look, await this.#cookies()))
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

  /** Logs in again where a scenario has ended the session only: a password takes long to check. */
  async administrator(): Promise<Visitor> {
    const { url, login, password } = this.server.announced
    this.#administrator ??= new Visitor(url)
    if ((await this.#administrator.get('/session')).status !== 200) {
      const { status, body } = await this.#administrator.logIn(login, password)
      assert.equal(status, 201, JSON.stringify(body))
    }
    return this.#administrator
  }

  async #cookies(): Promise<Cookie[]> {
    const { url } = this.server.announced
    const { cookie } = await this.administrator()
    return cookie!.split('; ').map(cookie => {
      const [name, value] = cookie.split('=')
      return { name: name!, value: value!, url }
    })
  }

  /** A scenario does not wait for what a browser that has ended never does. */
  #inTime(walk: Promise<void>): Promise<void> {
    return Promise.race([walk, this.#ended])
  }

  /** What nobody sees fails the scenario as well: errors of scripts, and requests to any other host. */
  async #walk(
    path: string,
    steps: (page: Page) => Promise<void>,
    { width = 1280, height = 900, colorScheme = 'light', ...place }: Look,
    cookies: Cookie[],
  ): Promise<void> {
    const page = await this.#pageAt(place)
    const complaints: string[] = []
    const unanswered = new Set<Request>()
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
      unanswered.add(request)
    })
    page.on('requestfinished', request => unanswered.delete(request))
    page.on('requestfailed', request => unanswered.delete(request))
    try {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.context().addCookies(cookies)
      await page.goto(`/admin${path}`)
      await steps(page)
      assert.deepEqual(complaints, [])
    } catch (cause) {
      const shown = await page.locator('body').ariaSnapshot({ timeout: 5_000 }).catch(String)
      const requests = [...unanswered].map(request => `${request.method()} ${request.url()}`)
      const seen = inspect({ complaints, unanswered: requests })
      await page.context().close()
      throw new Error(`${page.url()} after it failed: ${seen}\n${shown}`, { cause })
    }
    await this.#leave(page, place)
  }

  /** A page of whose browser nobody knows anything. */
  async #pageAt(place: Place): Promise<Page> {
    const key = JSON.stringify(place)
    const idle = this.#idle.get(key)
    this.#idle.delete(key)
    if (idle) return idle
    const context = await this.#browser.newContext({ baseURL: this.server.announced.url, ...place })
    const page = await context.newPage()
    page.setDefaultTimeout(WAIT_MS)
    return page
  }

  /** Leaves nothing of a scenario in the page but what it has compiled: a new one takes twice as long to load. */
  async #leave(page: Page, place: Place): Promise<void> {
    const context = page.context()
    await page.unrouteAll({ behavior: 'wait' })
    // It is of the same origin, so it can forget what that has stored, and belongs to no application.
    await page.goto('/admin/favicon.svg')
    await page.evaluate('localStorage.clear(); sessionStorage.clear()')
    await page.emulateMedia({ media: null })
    for (const other of context.pages()) if (other !== page) await other.close()
    await context.clearCookies()
    await context.clearPermissions()
    for (const event of OBSERVED) page.removeAllListeners(event)
    this.#idle.set(JSON.stringify(place), page)
  }
}

/** Scenarios that share one world, one after the other. @param title names them */
export function describeInWorld(
  title: string,
  ...scenarios: readonly ((world: () => World) => void)[]
): void {
  describe(title, () => {
    let world: World
    before(async () => {
      world = await World.start('--demo')
    })
    after(() => world.close())
    for (const describeSome of scenarios) describeSome(() => world)
  })
}

/** To a page of the application, without loading it anew, which takes twice as long. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`/admin${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
}

/** Goes back, and stays when the page asks. @returns the question */
export async function goBackUnlessAsked(page: Page): Promise<string> {
  const asked = page.waitForEvent('dialog')
  await page.evaluate('history.back()')
  const question = await asked
  await question.dismiss()
  return question.message()
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
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}

/** Pages that are not built yet would only be missed, one after the other, each for a minute. */
function refuseOldPages(): void {
  const web = fileURLToPath(new URL('../../web/', import.meta.url))
  const built = statSync(`${web}dist/index.html`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const changed = readdirSync(web, { recursive: true, encoding: 'utf8' }).find(
    path => /^(src|script)\b/.test(path) && statSync(web + path).mtimeMs > built,
  )
  assert.equal(changed, undefined, `web/${changed} is newer than the pages: npm run build`)
}

/** The browser that comes with the packages on Linux, else one that is installed. */
export async function launch(...flags: readonly string[]): Promise<Browser> {
  const args = [...FLAGS, ...flags]
  if (process.platform !== 'linux') return chromium.launch({ channel: 'chrome', args })
  return chromium.launch({ executablePath: await sparticuz.executablePath(), args })
}

/** A server that takes e-mail, and gives it to a test. */
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

export interface ReceivedLetter {
  readonly to: string[]
  readonly text: string
}

export class MailServer {
  readonly url: string
  /** What came and was not asked for. */
  readonly waiting: ReceivedLetter[] = []
  readonly #server: SMTPServer
  #wanted: ((letter: ReceivedLetter) => void) | undefined

  private constructor(server: SMTPServer, port: number) {
    this.#server = server
    this.url = `smtp://user:secret@127.0.0.1:${port}`
  }

  static async listen(): Promise<MailServer> {
    let mail: MailServer | undefined
    const server = new SMTPServer({
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: ({ username, password }, _session, done) =>
        username === 'user' && password === 'secret' ? done(null, { user: 'user' }) : done(new Error('no')),
      onData: async (stream, { envelope }, done) => {
        const raw = await text(stream)
        mail!.#take({ to: envelope.rcptTo.map(({ address }) => address), text: decoded(raw) })
        done()
      },
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    mail = new MailServer(server, (server.server.address() as AddressInfo).port)
    return mail
  }

  #take(letter: ReceivedLetter): void {
    const wanted = this.#wanted
    this.#wanted = undefined
    if (wanted) wanted(letter)
    else this.waiting.push(letter)
  }

  /** The next one to come, or the first that came. */
  async next(): Promise<ReceivedLetter> {
    const first = this.waiting.shift()
    return (
      first ??
      new Promise(resolve => {
        this.#wanted = resolve
      })
    )
  }

  close(): Promise<void> {
    return new Promise(resolve => this.#server.close(() => resolve()))
  }
}

/** Quoted-printable (RFC 2045): lines are cut by '=' at their end, and '=' itself is '=3D'. */
const decoded = (raw: string) =>
  raw
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))

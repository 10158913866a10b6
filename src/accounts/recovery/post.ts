/** Outgoing e-mail, by the server of `--smtp-url`. */
import type { Transporter } from 'nodemailer'

/** As long as the transport allows for connecting. Its limit for an answer starts anew with each byte that the server sends. */
const DELIVERED_WITHIN_MS = 120_000

export interface MailOptions {
  /** smtp://user:password@host:587, or smtps:// */
  readonly smtpUrl: string
  readonly from: string
  /** Base of the links in mails: never the host of a request, which may be forged. */
  readonly publicUrl: string
}

export interface Letter {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export class Post {
  readonly publicUrl: string
  readonly #options: MailOptions
  readonly #deliveredWithinMs: number
  readonly #ending = new AbortController()
  #transport: Promise<Transporter> | undefined

  constructor(options: MailOptions, deliveredWithinMs = DELIVERED_WITHIN_MS) {
    this.publicUrl = options.publicUrl.replace(/\/+$/, '')
    this.#options = options
    this.#deliveredWithinMs = deliveredWithinMs
  }

  /** Rejects if the server has not taken it within two minutes. */
  async send(letter: Letter): Promise<void> {
    const { smtpUrl, from } = this.#options
    // Loaded with the first mail, since most services send none.
    this.#transport ??= import('nodemailer').then(({ createTransport }) => createTransport(smtpUrl))
    const transport = await this.#transport
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(this.#deliveredWithinMs)])
    await transport.sendMail({ from, ...letter, signal })
  }

  /** Gives up what is under way: a mail server may take minutes to say anything. */
  abort(): void {
    this.#ending.abort()
  }

  async close(): Promise<void> {
    ;(await this.#transport)?.close()
  }
}

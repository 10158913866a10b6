/** What differs between the types of sources: how deliveries are signed, and what their payloads mean. */
import type { Conversion } from '../conversions/conversion.ts'
import type { CreateArguments } from '../conversions/schema.ts'
import type { Delivery } from './report.ts'
import type { Headers, Signed } from './signatures.ts'

/** A source as it was set up. */
export interface Setup {
  readonly secret: string
  readonly signature_header: string
  readonly mode: 'live' | 'test'
  /** JSON. */
  readonly mapping: string
}

/** What was reported to the shop of a source before. */
export interface Reports {
  /** Of the payment that has any of these names. */
  of(names: readonly string[]): Promise<readonly Conversion[]>
  /** Another source of the same type that is active, has the same context, and has recorded this. */
  otherSourceOf(recorded: Conversion): Promise<{ readonly id: number; readonly name: string } | undefined>
  /** The currency of a report that names none. */
  currencyUnsaid(sent: Pick<CreateArguments, 'kind' | 'part' | 'reference'>): Promise<string>
}

export interface Sender {
  isSigned(delivery: Signed, setup: Setup): boolean | Promise<boolean>
  /**
   * @param payload of a delivery whose signature was verified
   * @param headers which are not signed; none of a sample
   */
  read(payload: unknown, setup: Setup, reports: Reports, headers: Headers): Delivery | Promise<Delivery>
  /** Whether it only asks if anybody listens, which is not signed. */
  isPing?(body: Buffer): boolean
}

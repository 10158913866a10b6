/** Fields that callers cannot send, or that the record does not show, for use in definitions. */
import { Type } from 'typebox'
import { fromUnits, sumFromUnits } from '../base/money.ts'
import type { Settings } from '../base/settings.ts'
import type { Facts } from '../storage/table.ts'
import type { Field } from './field.ts'
import { timeOrNone } from './kinds-of-field.ts'

/** Only the service sets it. */
export const serviceOnly = <F extends Pick<Field, 'create' | 'edit'>>({
  create: _create,
  edit: _edit,
  ...field
}: F): Omit<F, 'create' | 'edit'> => field

/** It is sent when the record is created, and stays as it is. */
export const atCreation = <F extends Pick<Field, 'edit'>>({ edit: _edit, ...field }: F): Omit<F, 'edit'> =>
  field

/** It is not part of the record, whose fields client programs know. */
export const besideRecord = <F extends Pick<Field, 'wire'>, const R extends Reader>(
  { wire: _wire, ...field }: F,
  reader: R,
): Omit<F, 'wire'> & R => ({ ...field, ...reader })

/** Who reads it in events. */
type Reader = { readonly inEvents: boolean } | { readonly secret: true }

type Rest = Facts & Reader

/** Text that the service keeps beside the record. */
export const internalText = <const R extends Rest>(rest: R) =>
  ({
    type: 'text',
    nullable: false,
    initial: '',
    show: (stored: string) => stored,
    sample: () => '',
    ...rest,
  }) as const

/** A whole number that the service keeps beside the record. */
export const internalNumber = <const R extends Rest>(rest: R) =>
  ({
    type: 'integer',
    nullable: false,
    initial: 0,
    show: (stored: number) => stored,
    sample: () => 0,
    ...rest,
  }) as const

/** When the service did something; empty before. */
export const timeOnceDone = (description: string) =>
  ({
    ...timeOrNone,
    wire: Type.String({ description: `${description}: YYYY-MM-DD HH:MM:SS, UTC; empty before.` }),
  }) as const

/** An amount computed from other records. */
export const derivedAmount = (description: string) =>
  ({
    type: 'integer',
    nullable: false,
    personal: false,
    money: 'derived',
    wire: Type.Number({ description }),
    initial: 0,
    // Raw JSON, if it exceeds a number's exact range.
    show: (value: number, { decimals }: Settings) => sumFromUnits(value, decimals) as number,
    json: (value: number | string, { decimals }: Settings) =>
      typeof value === 'number'
        ? String(fromUnits(value, decimals))
        : JSON.stringify(sumFromUnits(value, decimals)),
    sample: () => 0,
  }) as const

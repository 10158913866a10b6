import assert from 'node:assert/strict'
import { test } from 'node:test'
import { neither } from '../storage/table.ts'
import { kind } from './kind.ts'
import { created, dated, text } from './kinds-of-field.ts'
import { besideRecord } from './service-fields.ts'

test('two fields with a filter of one name - are refused, until one of them has none', () => {
  const made = created('created_at', 'When it was made')
  const due = dated('due_at', 'When it is due')
  assert.throws(() => kind({ name: 'pledge', table: 'pledges', fields: { date: made, due } }), {
    message:
      'The fields date and due both have the filter date: give one of them `filters` of another name, or `filters: {}` for none.',
  })
  const pledge = kind({
    name: 'pledge',
    table: 'pledges',
    fields: { date: made, due: { ...due, filters: {} } },
  })
  assert.ok('date' in pledge.filters)
})

test('a field that nothing can be counted by - is refused', () => {
  const bonus = text(9, 'A text.', neither)
  const counted = (field: object) => () =>
    kind({ name: 'pledge', table: 'pledges', fields: { bonus: { ...bonus, ...field } }, counted: 'bonus' })
  assert.doesNotThrow(counted({}))
  for (const field of [{ column: 'other' }, { type: 'integer' }, { nullable: true }, { personal: 'erase' }]) {
    assert.throws(
      counted(field),
      /^Error: The field bonus of the kind pledge cannot be what it is counted by/,
    )
  }
})

test('a field whose own filter would hide an argument of every list - is refused', () => {
  for (const name of ['number', 'search', 'updated_since']) {
    assert.throws(
      () => kind({ name: 'pledge', table: 'pledges', fields: { [name]: text(9, 'A text.', neither) } }),
      {
        message: `The field ${name} has the filter ${name}, which would hide the argument ${name} of every list: give it \`filters\` of another name, or \`filters: {}\` for none.`,
      },
    )
  }
})

test('a field beside the record - says whether the events of the API show it, or does not compile', () => {
  const aside = text(9, 'A text.', neither)
  const { wire: _wire, ...unsaid } = aside
  const fields = {
    seen: besideRecord(aside, { inEvents: true }),
    unseen: besideRecord(aside, { inEvents: false }),
  }
  const { logged } = kind({ name: 'pledge', table: 'pledges', fields }).table
  assert.deepEqual([logged.plain, logged.ofArea], [['seen', 'unseen'], ['unseen']])
  // @ts-expect-error: it does not say it.
  kind({ name: 'pledge', table: 'pledges', fields: { unsaid } })
})

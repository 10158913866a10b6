import type { Resource } from '../../http/endpoint.ts'
import { crud, listingOf } from '../../records/crud.ts'
import { rule } from './rule.ts'
import { rules as whatIsTrue } from './rules.ts'

const plain = crud(rule, whatIsTrue, { edit: ['rule_conflict'], delete: ['rule_conflict'] })

export const rules: Resource = plain

export const listing = listingOf(rule, whatIsTrue)

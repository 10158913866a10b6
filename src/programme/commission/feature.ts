import { feature } from '../../records/feature.ts'
import { listing, rules as resource } from './routes.ts'
import { rule } from './rule.ts'

export const commissionRules = feature(rule, { resource, listing })

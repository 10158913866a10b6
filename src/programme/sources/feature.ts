import { feature } from '../../records/feature.ts'
import { deliveries } from './deliveries.ts'
import { listing, sources as resource } from './routes.ts'
import { source } from './source.ts'

export const sources = feature(source, { resource, listing, signed: [deliveries] })

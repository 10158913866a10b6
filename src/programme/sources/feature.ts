import { feature } from '../../records/feature.ts'
import { listing, sources as resource } from './routes.ts'
import { source } from './source.ts'

export const sources = feature(source, { resource, listing })

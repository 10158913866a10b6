import { together } from '../together.ts'

await together('admin', 'operations')

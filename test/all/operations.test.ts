import { together } from '../together.ts'

await together('src/admin', 'src/operations')

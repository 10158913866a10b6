import { together } from '../together.ts'

await together('src/programme')

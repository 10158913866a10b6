/**
 * Runs generated histories on rules that are read from a folder, in a process of their own.
 * Exits with 1, and the operation, when a figure is not what the model says.
 */
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { histories, run } from './history.ts'
import { programmeOn } from './programme.ts'

const [folder, databaseUrl, runs] = process.argv.slice(2)
const source = pathToFileURL(`${folder}/`)
const read = (path: string) => import(new URL(path, source).href)
const [{ openDatabase }, { schema }, { addAccount }] = await Promise.all([
  read('storage/open.ts'),
  read('app.ts'),
  read('accounts/users/rules.ts'),
])
const database = await openDatabase(databaseUrl, schema)
await database.transaction((tx: never) => addAccount(tx, { login: 'admin', email: 'admin@example.com' }))
const programme = await programmeOn(database, source)
try {
  const property = fc.asyncProperty(histories(60), async history => {
    await run(programme, history)
  })
  await fc.assert(property, { numRuns: Number(runs), endOnFailure: true })
} catch (error) {
  const { message, cause } = error as Error
  process.stderr.write(`${cause instanceof Error ? cause.message : ''}\n${message.slice(0, 2000)}\n`)
  process.exitCode = 1
} finally {
  await database.close()
}

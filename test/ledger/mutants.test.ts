/** Generated histories find each of these faults; else they would prove nothing. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../folder.ts'
import { type Mutant, mutants } from './mutants.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const HISTORIES = 40
/** A fault that this many do not find is taken for one that none would find; most are found by the first ones. */
const MOST_HISTORIES = 200
/** All of them take some minutes. */
const tried = process.env.LONG ? mutants : mutants.filter((_, index) => index % 8 === 0)

/** @returns whether every figure was what the model says, and what was not */
async function judge(mutant: Mutant | undefined): Promise<{ passed: boolean; said: string }> {
  const folder = await temporaryFolder()
  try {
    const source = join(folder.path, 'src')
    await cp(join(root, 'src'), source, { recursive: true, filter: path => !path.endsWith('.test.ts') })
    await cp(join(root, 'package.json'), join(folder.path, 'package.json'))
    await symlink(join(root, 'node_modules'), join(folder.path, 'node_modules'))
    if (mutant) await change(join(source, 'programme', mutant.file), mutant)
    const args = [
      join(root, 'test/ledger/histories.ts'),
      source,
      `sqlite:${folder.path}/test.db`,
      String(mutant ? MOST_HISTORIES : HISTORIES),
    ]
    return await new Promise(resolve => {
      execFile(process.execPath, args, (error, _stdout, stderr) =>
        resolve({ passed: error === null, said: stderr }),
      )
    })
  } finally {
    await folder.remove()
  }
}

async function change(path: string, mutant: Mutant): Promise<void> {
  await writeFile(path, (await textOf(path, mutant)).replace(mutant.from, mutant.to))
}

/** The file that a fault is put into. */
async function textOf(path: string, { from }: Mutant): Promise<string> {
  const text = await readFile(path, 'utf8')
  assert.equal(text.split(from).length, 2, `${path} has this once: ${from}`)
  return text
}

describe('faults in the rules', () => {
  test('each has its place in the rules, also those that are tried at length only', async () => {
    for (const mutant of mutants) await textOf(join(root, 'src/programme', mutant.file), mutant)
  })

  test('without one, histories pass', async () => {
    const { passed, said } = await judge(undefined)
    assert.ok(passed, said)
  })

  for (const mutant of tried) {
    test(`found: ${mutant.what}`, async () => {
      const { passed, said } = await judge(mutant)
      assert.ok(!passed, 'no history found it')
      // Found by a figure or an answer that differs, or refused by the database, and not because the sources are broken.
      assert.match(said, /operation \d+|is not the sum|is paid by two|CHECK constraint|out of its bounds/)
    })
  }
})

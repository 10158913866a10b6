import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { describeService, runCommand, temporaryFolder } from '../../../test/harness.ts'

describeService(
  'an import',
  service => {
    test('waits for others that write many records, instead of locking balances in a circle with them', async t => {
      const folder = await temporaryFolder()
      t.after(folder.remove)
      const { id } = await service().newAffiliate('imported')
      const file = join(folder.path, 'referrals.csv')
      await writeFile(file, `affiliate_id,reference,amount\n${id},first,1\n${id},second,2\n`)
      const isWriting = Promise.withResolvers<void>()
      const end = Promise.withResolvers<void>()
      const writing = service().database.transaction(async tx => {
        await sql`SELECT 1`.execute(tx)
        isWriting.resolve()
        await end.promise
      }, 'many')
      await isWriting.promise
      const imported = runCommand(['referrals', 'import', file, '--database', service().databaseUrl])
      assert.equal(await Promise.race([imported, delay(1500, 'it waits')]), 'it waits')
      end.resolve()
      await writing
      const { code, stdout, stderr } = await imported
      assert.deepEqual([code, stdout], [0, 'Imported 2 of 2 lines; 0 were there already.\n'], stderr)
    })
  },
  { only: 'PostgreSQL' },
)

/** Queries on the files of payout runs: when each was downloaded, and who handed it over. */
import type { Db, Tx } from '../../storage/database.ts'

/** The files of a run that were downloaded or handed over. */
export async function filesOf(db: Db, runId: number) {
  return db
    .selectFrom('run_files')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('format')
    .orderBy('part')
    .execute()
}

/** Stores when a file was first downloaded. @param time in seconds */
export async function markDownloaded(
  tx: Tx,
  file: { run_id: number; format: string; part: number },
  time: number,
): Promise<void> {
  await tx
    .insertInto('run_files')
    .values({ ...file, downloaded_at: time, handed_over_at: null, handed_over_by: 0 })
    .onConflict(conflict => conflict.doNothing())
    .execute()
}

/** Stores that a file was handed over. @param by the account, 0 for the command line @param time in seconds */
export async function markHandedOver(
  tx: Tx,
  file: { run_id: number; format: string; part: number },
  by: number,
  time: number,
): Promise<void> {
  await tx
    .insertInto('run_files')
    .values({ ...file, downloaded_at: time, handed_over_at: time, handed_over_by: by })
    .onConflict(conflict =>
      conflict
        .columns(['run_id', 'format', 'part'])
        .doUpdateSet({ handed_over_at: time, handed_over_by: by }),
    )
    .execute()
}

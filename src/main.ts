/** The command line as a process of its own. */
import { run } from './process/program.ts'

// Databases and backups contain names, addresses and amounts: new files are readable by their owner only.
process.umask(0o077)

await run(process.argv.slice(2), process)

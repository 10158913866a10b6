#!/usr/bin/env node
// Plain JavaScript that an old Node can read as well: finds a Node that is new enough and starts the program with it.
import { spawn } from 'node:child_process'
import cluster from 'node:cluster'
import { existsSync, readdirSync, statSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const OLDEST_MAJOR = 24
// Requests and long lists leave much short-lived memory behind. Collecting it in small portions keeps the process
// small and costs nothing that can be measured. So does collecting the rest for the first time at 40 MiB, and from then
// on at twice what was in use: V8 by itself waits for up to four times as much when it is busy.
const FLAGS = ['--max-semi-space-size=8', '--initial-old-space-size=40', '--heap-growing-percent=100']
// glibc otherwise keeps freed memory for each thread apart, where no other can use it.
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2', ...process.env }

const here = path => fileURLToPath(new URL(path, import.meta.url))
const launcher = fileURLToPath(import.meta.url)
const args = process.argv.slice(2)

if (Number.parseInt(process.versions.node, 10) < OLDEST_MAJOR) runPinned()
else if (process.execve && !FLAGS.every(flag => process.execArgv.includes(flag))) {
  // Node takes the flags at its start only. This replaces the process by one that has them; it stays the same process.
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...FLAGS, launcher, ...args],
    ENVIRONMENT,
  )
} else await run()

async function run() {
  // When the launcher of an older Node was killed, this process must not outlive it. (A worker hears from another.)
  if (process.channel && !cluster.isWorker) {
    process.channel.unref()
    process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  }
  // What was compiled at the last start is not compiled again. It is kept where only those can write who can change the
  // program: by default Node takes the folder for temporary files, where anybody could put code that this would run.
  module.enableCompileCache(here('../node_modules/.cache/affiliated'))
  await import(program())
}

/** The build, which starts in half the time; the sources where one of them, or of their folders, changed after it. */
function program() {
  const [build, sources] = [here('../dist/main.js'), here('../src/')]
  if (!existsSync(sources)) return build
  const changed = path => statSync(sources + path).mtimeMs
  const built = existsSync(build) ? statSync(build).mtimeMs : 0
  const isCurrent = ['', ...readdirSync(sources, { recursive: true })].every(path => changed(path) < built)
  return isCurrent ? build : `${sources}main.ts`
}

function runPinned() {
  const pinned = here('../node_modules/node/bin/node')
  if (!existsSync(pinned)) {
    console.error(
      `affiliated needs Node ${OLDEST_MAJOR} or newer, and this is ${process.versions.node}: install a newer Node, or run "npm ci" in a clone to get the pinned one.`,
    )
    process.exit(1)
  }
  const child = spawn(pinned, [...FLAGS, launcher, ...args], {
    env: ENVIRONMENT,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGKILL' ? 137 : 1)
  })
}

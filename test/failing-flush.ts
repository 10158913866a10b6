/**
 * Loaded into a process before its program (`--import`): makes every flush of a file to the disk fail from the signal SIGUSR2 on,
 * or from the beginning where FLUSHES_FAIL is set. The system itself refuses: a seccomp filter answers fdatasync and fsync with EIO,
 * after what was written before has been written. Linux only, for all threads of the process, and not to be undone.
 */
import { dlopen, getRawPointer } from 'node:ffi'
import { constants, EOL } from 'node:os'
import { isMainThread } from 'node:worker_threads'

const PR_SET_NO_NEW_PRIVS = 38n
const SECCOMP_SET_MODE_FILTER = 1n
const SECCOMP_FILTER_FLAG_TSYNC = 1n
const SECCOMP_RET_ERRNO = 0x0005_0000
const SECCOMP_RET_ALLOW = 0x7fff_0000
// Instructions of the packet filter (linux/bpf_common.h).
const LOAD_NUMBER_OF_CALL = 0x20
const JUMP_IF_EQUAL = 0x15
const RETURN = 0x06
const [FSYNC, FDATASYNC, SECCOMP] = process.arch === 'arm64' ? [82, 83, 277n] : [74, 75, 317n]

/** Code, how many to skip when it is true and when it is not, operand. */
const filter = [
  [LOAD_NUMBER_OF_CALL, 0, 0, 0],
  [JUMP_IF_EQUAL, 1, 0, FSYNC],
  [JUMP_IF_EQUAL, 0, 1, FDATASYNC],
  [RETURN, 0, 0, SECCOMP_RET_ERRNO | constants.errno.EIO],
  [RETURN, 0, 0, SECCOMP_RET_ALLOW],
] as const

function failFlushes(): void {
  const { functions } = dlopen(null, {
    prctl: { arguments: ['int64', 'uint64', 'uint64', 'uint64', 'uint64'], return: 'int32' },
    syscall: { arguments: ['int64', 'uint64', 'uint64', 'uint64'], return: 'int64' },
  })
  const instructions = Buffer.alloc(filter.length * 8)
  for (const [index, [code, whenTrue, whenFalse, operand]] of filter.entries()) {
    instructions.writeUInt16LE(code, index * 8)
    instructions.writeUInt8(whenTrue, index * 8 + 2)
    instructions.writeUInt8(whenFalse, index * 8 + 3)
    instructions.writeUInt32LE(operand, index * 8 + 4)
  }
  const program = Buffer.alloc(16)
  program.writeUInt16LE(filter.length, 0)
  program.writeBigUInt64LE(getRawPointer(instructions), 8)
  const refused =
    functions.prctl(PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n) ||
    functions.syscall(SECCOMP, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, getRawPointer(program))
  process.stderr.write(refused ? `The system takes no filter.${EOL}` : `Flushes fail.${EOL}`)
}

if (isMainThread && process.env.FLUSHES_FAIL) failFlushes()
else if (isMainThread) process.on('SIGUSR2', failFlushes)

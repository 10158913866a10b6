/** Whether a program can listen, and why not. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { codeOf } from '../base/unknown.ts'
import { CommandFailed } from '../cli/command.ts'

/**
 * Waits until the server listens.
 * @param prefix of the two options for host and port
 * @throws CommandFailed that names the cause and the remedy
 */
export async function listensOn<T>(
  listening: Promise<T>,
  host: string,
  port: number,
  prefix = '',
): Promise<T> {
  try {
    return await listening
  } catch (error) {
    const problem = listenProblem(codeOf(error), host, port, prefix)
    throw problem === undefined ? error : new CommandFailed(problem, { cause: error })
  }
}

/** @param code of the system error */
export function listenProblem(
  code: string | undefined,
  host: string,
  port: number,
  prefix: string,
): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `Another program uses port ${port} of ${host}; choose another port with --${prefix}port.`
    case 'EACCES':
      return `Port ${port} of ${host} needs a privilege: choose one from 1024 on with --${prefix}port, or give the program CAP_NET_BIND_SERVICE.`
    case 'EADDRNOTAVAIL':
      return `${host} is no address of this machine; choose one that is with --${prefix}host.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The name ${host} leads to no address (${code}); choose another one, or an address, with --${prefix}host.`
    default:
      return undefined
  }
}

/** @throws the system's error if nobody can listen there */
export async function tryPort(host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host)
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

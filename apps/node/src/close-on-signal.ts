import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import type { RunningNode } from './start-node.js'

/** Signals of faults. With a handler, Node returns to the failed instruction for ever. */
const faults = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const

/** Closes a node on SIGTERM, SIGINT, SIGQUIT, SIGHUP and an unhandled error, then ends the process. */
export function closeOnSignal(node: Pick<RunningNode, 'close'>, log: Logger, delay: number): void {
  let closing = false
  const skip = [...faults, 'SIGUSR2' as const, 'SIGHUP' as const]
  const { close } = closeWithGrace({ delay, logger: log, skip }, async ({ signal, manual, err }) => {
    closing = true
    if (err) log.fatal({ err }, 'Unhandled error: shutting down')
    else
      log.info(
        { signal: manual ? 'SIGHUP' : signal },
        'Shutting down: finishing requests and the current batch',
      )
    await node.close()
    log.info('Closed')
  })
  // A second SIGTERM ends the process at once, but a terminal that closes may send more than one SIGHUP.
  process.on('SIGHUP', () => {
    if (!closing) close()
  })
  leaveClosedTerminals()
}

/** Node 20 aborts at its end if it cannot reset a terminal, as one that was closed, of an open descriptor. */
function leaveClosedTerminals(): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor))
  process.once('exit', () => {
    for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor)
  })
}

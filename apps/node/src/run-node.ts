import { banner } from './banner.js'
import { closeOnSignal } from './close-on-signal.js'
import { isSettingsError, isStartError } from './errors.js'
import { createLogger, logFormat } from './server/logger.js'
import { type Environment, readSettings } from './settings/read.js'
import { startNode } from './start-node.js'

/**
 * Runs a node as a process: logs, prints a banner in a terminal, closes on a signal. If it does not
 * start, it prints why to standard error and sets the exit status 1.
 */
export async function runNode(environment: Environment): Promise<void> {
  try {
    const warnings: string[] = []
    const settings = readSettings(environment, (message) => warnings.push(message))
    const log = createLogger(settings)
    for (const message of warnings) log.warn(message)
    const node = await startNode(settings, { log })
    closeOnSignal(node, log, settings.SHUTDOWN_TIMEOUT_MS + 1000)

    // For the program that launched this one, if there is one and it still runs.
    process.send?.('up', () => undefined)
    if (logFormat(settings) === 'pretty') console.log(banner(node))
    else {
      // Logged at every LOG_LEVEL: with PORT=0, only this line says where the node is.
      const { url, places, genesis } = node
      const { NODE_ROLE: role, NETWORK: network } = settings
      log.child({}, { level: 'info' }).info({ url, role, network, ...places, genesis }, 'Ratatosk is up')
    }
  } catch (error) {
    process.exitCode = 1
    process.stderr.write(explainFailure(error))
  }
}

/** The reason of a failed start, for people. @throws the error itself if no start ends with it on purpose */
export function explainFailure(error: unknown): string {
  if (!isSettingsError(error) && !isStartError(error)) throw error
  const cause = error.cause === undefined ? '' : `Cause: ${reasonOf(error.cause)}\n`
  return `\nRatatosk did not start.\n${error.message}\n${cause}\n`
}

function reasonOf(error: unknown): string {
  // PGlite's file system throws the errno of WASI, where 51 is ENOSPC.
  const { name, errno } = (error ?? {}) as { readonly name?: unknown; readonly errno?: unknown }
  if (name === 'ErrnoError') return errno === 51 ? 'No space is left on the disk' : `WASI errno ${errno}`
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`
}

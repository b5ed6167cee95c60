import { closeSync, existsSync } from 'node:fs'
import { isatty } from 'node:tty'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { isSettingsError, isStartError } from './errors.js'
import { duties, servesConsole, servesLayer2 } from './roles.js'
import { createLogger, logFormat } from './server/logger.js'
import { type Environment, readSettings } from './settings/read.js'
import type { Settings } from './settings/schema.js'
import { type RunningNode, startNode } from './start-node.js'

/**
 * Runs a node as a process: logs, prints a banner in a terminal, closes on a signal. If it does not
 * start, it prints why to standard error, as a line of its log if `asJson`, and sets the exit status 1.
 */
export async function runNode(environment: Environment, asJson = false): Promise<void> {
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
    process.stderr.write(explainFailure(error, asJson))
  }
}

/**
 * The reason of a failed start, for people or as a line of the log.
 * @throws the error itself if no start ends with it on purpose
 */
export function explainFailure(error: unknown, asJson = false): string {
  if (!isSettingsError(error) && !isStartError(error)) throw error
  const { code, message } = error
  const cause = error.cause === undefined ? undefined : reasonOf(error.cause)
  if (asJson) {
    const line = { level: 60, time: Date.now(), code, msg: `Ratatosk did not start. ${message}`, cause }
    return `${JSON.stringify(line)}\n`
  }
  const reason = cause === undefined ? '' : `Cause: ${cause}\n`
  return `\nRatatosk did not start.\n${message}\n${reason}Code: ${code}\n\n`
}

function reasonOf(error: unknown): string {
  // PGlite's file system throws the errno of WASI, where 51 is ENOSPC.
  const { name, errno } = (error ?? {}) as { readonly name?: unknown; readonly errno?: unknown }
  if (name === 'ErrnoError') return errno === 51 ? 'No space is left on the disk' : `WASI errno ${errno}`
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`
}

/** The terminal's text after a start: where the node is, and what to try. */
export function banner(node: RunningNode): string {
  const { url, settings, places, genesis, stateQueueAddress, watcherAddress } = node
  const { NODE_ROLE, NETWORK, BRIDGE = NETWORK === 'devnet', SERVE_DOCS } = settings
  const hasConsole = servesConsole(duties[NODE_ROLE], settings)
  const rows = [
    ...(hasConsole ? [['console', `${url}/console`]] : []),
    ['address', url],
    ['role', NODE_ROLE],
    ['network', NETWORK],
    ['store', places.store],
    ['queue', places.queue],
  ]
  if (places.layer1 !== undefined) rows.push(['layer 1', places.layer1])
  if (stateQueueAddress !== undefined) rows.push(['state queue', stateQueueAddress])
  if (watcherAddress !== undefined) rows.push(['watcher pays from', watcherAddress])
  if (genesis !== undefined) {
    const how = genesis.applied ? 'applied now' : 'applied earlier'
    rows.push(['genesis', `${genesis.outputs} outputs, ${how}`])
  }
  if (hasConsole && BRIDGE)
    rows.push(['bridge', `${url}/console#/bridge (or ratatosk deposit, ratatosk withdraw)`])
  if (SERVE_DOCS && NODE_ROLE !== 'tx-processor') rows.push(['all endpoints', `${url}/docs`])
  if (servesLayer2(duties[NODE_ROLE], settings))
    rows.push(['for SDKs', `${url}/l2/blockfrost/api/v0 (also kupo, ogmios)`])
  const width = Math.max(...rows.map(([name = '']) => name.length))
  const table = rows.map(([name = '', value]) => `  ${name.padEnd(width)}  ${value}`)
  return [
    '',
    '  Ratatosk is up',
    '',
    ...table,
    '',
    '  Try:',
    '',
    ...hints(url, settings, genesis?.example),
    '',
  ].join('\n')
}

/** Shows a payment: from a checkout by its script. */
const demo = existsSync(new URL('../../../scripts/demo.mjs', import.meta.url))
  ? 'npm run demo --'
  : 'npx @ratatosk/cli demo'

function hints(
  url: string,
  { NODE_ROLE: role, NETWORK }: Pick<Settings, 'NODE_ROLE' | 'NETWORK'>,
  address: string | undefined,
): string[] {
  const lines = [`  curl ${url}/health/ready`]
  const { serves } = duties[role]
  if (serves.includes('ledger')) {
    if (address !== undefined) lines.push(`  curl '${url}/utxos?address=${address}'`)
    lines.push(`  curl ${url}/stateQueue`)
    // The demo pays from the devnet's test wallets.
    if (role === 'all' && NETWORK === 'devnet')
      lines.push(`  ${demo} --url ${url}  # a payment, from submission to merge, step by step`)
  }
  if (role === 'api') {
    lines.push(`  curl -H 'content-type: text/plain' -d '<hex CBOR>' ${url}/submit`)
    lines.push(`  curl ${url}/stateQueue/root-unit-diagnostics`)
  }
  if (role === 'archivist' || role === 'watcher') lines.push(`  curl ${url}/block/1`)
  return lines
}

/** They end a node in order. */
const endings = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const

/** Signals of faults. With a handler, Node returns to the failed instruction for ever. */
const faults = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const

/**
 * For how long after the first signal another one is the same request: a signal to a group of processes
 * reaches the node, and each of its parents that forwards signals (npm, its shell, the starter).
 */
const oneRequestMs = 2000

/** Closes a node on SIGTERM, SIGINT, SIGQUIT, SIGHUP and an unhandled error, then ends the process. */
function closeOnSignal(node: Pick<RunningNode, 'close'>, log: Logger, delay: number): void {
  let closingSince: number | undefined
  let signal: NodeJS.Signals | undefined
  const skip = [...faults, 'SIGUSR2' as const, ...endings]
  const { close } = closeWithGrace({ delay, logger: log, skip }, async ({ err }) => {
    closingSince = performance.now()
    if (err) log.fatal({ err }, 'Unhandled error: shutting down')
    else log.info({ signal }, 'Shutting down: finishing requests and the current batch')
    await node.close()
    log.info('Closed')
  })
  for (const ending of endings)
    process.on(ending, () => {
      if (closingSince === undefined) {
        signal = ending
        close()
        // A terminal that closes may send more than one SIGHUP.
      } else if (ending !== 'SIGHUP' && performance.now() - closingSince > oneRequestMs) {
        log.error(`A second request to end, ${ending}: ending at once`)
        process.exit(1)
      }
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

#!/usr/bin/env node
import closeWithGrace from 'close-with-grace'
import { banner } from './banner.js'
import { SettingsError, StartError } from './errors.js'
import { createLogger, logFormat } from './server/logger.js'
import { readSettings } from './settings/read.js'
import { startNode } from './start-node.js'

try {
  const settings = readSettings(process.env)
  const log = createLogger(settings)
  const node = await startNode(settings, { log })

  closeWithGrace({ delay: settings.SHUTDOWN_TIMEOUT_MS + 1000, logger: log }, async ({ signal, err }) => {
    if (err) log.fatal({ err }, 'An error that nobody handled: shutting down')
    else log.info({ signal }, 'Shutting down: requests and the batch under way are finished')
    await node.close()
    log.info('Closed')
  })

  if (logFormat(settings) === 'pretty') console.log(banner(node))
  else {
    // Whatever the level: with PORT=0 this line alone tells where the node is.
    const { url, places, genesis } = node
    const { NODE_ROLE: role, NETWORK: network } = settings
    log.child({}, { level: 'info' }).info({ url, role, network, ...places, genesis }, 'Ratatosk is up')
  }
} catch (error) {
  process.exitCode = 1
  if (error instanceof SettingsError || error instanceof StartError) {
    process.stderr.write(`\nRatatosk does not start.\n${error.message}\n`)
    if (error.cause !== undefined) process.stderr.write(`Because: ${reasonOf(error.cause)}\n`)
    process.stderr.write('\n')
  } else throw error
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`
}

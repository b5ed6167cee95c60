#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import closeWithGrace from 'close-with-grace'
import { readCommand, type StandaloneOptions, usage } from './standalone/options.js'

/** With a handler for these, Node returns to the instruction that failed: a crash would never end it. */
const faults = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const

const command = readCommand(process.argv.slice(2))
switch (command.kind) {
  case 'help':
    process.stdout.write(usage)
    break
  case 'version':
    process.stdout.write(`${readVersion()}\n`)
    break
  case 'invalid':
    process.stderr.write(`${command.message}\nRun "devnet --help" for the options.\n`)
    process.exitCode = 2
    break
  case 'start':
    await run(command.options)
}

async function run(options: StandaloneOptions): Promise<void> {
  try {
    // Loaded here, so that help and version need neither Fastify nor the ledger.
    const { start } = await import('./standalone/start.js')
    const standalone = await start(options)
    process.stdout.write(standalone.banner)
    closeWithGrace({ delay: 10_000, skip: [...faults] }, async ({ err }) => {
      if (err !== undefined) process.stderr.write(`${err.stack ?? err.message}\n`)
      await standalone.close()
    })
  } catch (error) {
    process.stderr.write(`Failed to start the devnet: ${error instanceof Error ? error.message : error}\n`)
    process.exit(1)
  }
}

function readVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}

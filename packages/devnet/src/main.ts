#!/usr/bin/env node
import closeWithGrace from 'close-with-grace'
import { banner } from './standalone/banner.js'
import { readOptions, type StandaloneOptions, usage } from './standalone/options.js'
import { start } from './standalone/start.js'

let options: StandaloneOptions | undefined
try {
  options = readOptions(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exit(2)
}

if (options === undefined) process.stdout.write(usage)
else {
  try {
    const standalone = await start(options)
    process.stdout.write(banner(standalone, options))
    closeWithGrace({ delay: 10_000 }, async ({ err }) => {
      if (err !== undefined) process.stderr.write(`${err.stack ?? err.message}\n`)
      await standalone.close()
    })
  } catch (error) {
    process.stderr.write(`The devnet could not start: ${error instanceof Error ? error.message : error}\n`)
    process.exit(1)
  }
}

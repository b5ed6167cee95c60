#!/usr/bin/env node
// Imports only what old versions of Node can load, so that they get a message.
import { nodeVersionProblem } from '@ratatosk/node/node-version'

const problem = nodeVersionProblem(process.versions.node)
if (problem === undefined) {
  const { runCli } = await import('./run-cli.js')
  const ask = async (question: string) => {
    const { createInterface } = await import('node:readline/promises')
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    // Ctrl-C and Ctrl-D close it, and `question` then never ends.
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    return Promise.race([lines.question(question), closed]).finally(() => lines.close())
  }
  const status = await runCli(process.argv.slice(2), {
    environment: process.env,
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY,
    ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
  })
  // `start` sets it later, if the node fails.
  if (status !== 0) process.exitCode = status
} else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}

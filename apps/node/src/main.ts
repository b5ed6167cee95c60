#!/usr/bin/env node
// Imports only what old versions of Node can load, so that they get a message.
import { answerCommandLine } from './command-line.js'

const answer = answerCommandLine(process.argv.slice(2), process.versions.node)
if (answer === undefined) {
  const { loadNode } = await import('./load-node.js')
  const { runNode, keepCode } = await loadNode()
  await runNode(process.env)
  keepCode()
} else {
  process.exitCode = answer.exitCode
  const stream = answer.exitCode === 0 ? process.stdout : process.stderr
  stream.write(answer.text)
}

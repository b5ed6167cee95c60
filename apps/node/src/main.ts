#!/usr/bin/env node
import { answerCommandLine } from './command-line.js'
import { runNode } from './run-node.js'

const answer = answerCommandLine(process.argv.slice(2))
if (answer === undefined) await runNode(process.env)
else {
  process.exitCode = answer.exitCode
  const stream = answer.exitCode === 0 ? process.stdout : process.stderr
  stream.write(answer.text)
}

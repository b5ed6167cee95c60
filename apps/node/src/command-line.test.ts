import { expect, test } from 'vitest'
import { answerCommandLine } from './command-line.js'

test.each([[], ['--version']])('an old version of Node.js gets a message, with arguments %j', (...args) => {
  const text =
    'Ratatosk needs Node.js 20.19 or later, and this is 20.18.3: install it from https://nodejs.org.\n'
  expect(answerCommandLine(args, '20.18.3')).toEqual({ text, exitCode: 1 })
})

test.each(['20.19.0', '22.0.0'])('Node.js %s starts the node', (node) => {
  expect(answerCommandLine([], node)).toBeUndefined()
})

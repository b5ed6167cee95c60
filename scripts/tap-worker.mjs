// Runs files of tap one after another in this process, so that they load its modules once. Reads their paths
// from stdin, a line each. A comment in the TAP, as JSON, ends each file.
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import t from 'tap'
import { takeFaults } from '../packages/test-kit/dist/answers-hook.js'
import { processorSeconds } from './processor-time.mjs'

/** How long the tests of a file may take; a file may change it. */
const timeLimitMs = Number(process.env.TAP_TIMEOUT) * 1000
/** The turns of the event loop are judged after a server has closed. */
const judgedMs = 20

// A tear-down of tap's root test would run when the process ends, and not after the file.
const teardowns = []
t.teardown = (work) => void teardowns.unshift(work)

let charged = 0
for await (const file of createInterface({ input: process.stdin })) {
  t.setTimeout(timeLimitMs)
  let fault = ''
  try {
    await import(pathToFileURL(resolve(file)))
    // The tests of the file are queued. This is the last.
    await t.test('(end of the file)', async () => undefined)
    for (const work of teardowns.splice(0)) await work()
  } catch (error) {
    fault = inspect(error)
  }
  // No time-out between files.
  t.setTimeout(0)
  await pause(judgedMs)
  const seconds = processorSeconds()
  // The root test keeps what it reports until its next test.
  const ended = { seconds: seconds - charged, fault: fault + takeFaults() }
  process.stdout.write(`# ended: ${JSON.stringify(ended)}\n`)
  charged = seconds
}

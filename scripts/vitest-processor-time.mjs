// A setup file of vitest: appends the processor time of each test file to the file that RATATOSK_SECONDS
// names.
import { appendFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'
import { processorSeconds } from './processor-time.mjs'

const report = process.env.RATATOSK_SECONDS
/** Files of one worker may share its modules: each is charged with all since the one before. */
const charged = Symbol.for('ratatosk.charged-seconds')

// The first hook that a file registers is the last that runs.
if (report !== undefined)
  afterAll(() => {
    const seconds = processorSeconds()
    const file = expect.getState().testPath
    appendFileSync(report, `${JSON.stringify({ file, seconds: seconds - (globalThis[charged] ?? 0) })}\n`)
    globalThis[charged] = seconds
  })

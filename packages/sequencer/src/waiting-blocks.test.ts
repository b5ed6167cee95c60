import { expect, test } from 'vitest'
import { createWaitingBlocks } from './commit-policy.js'
import { SequencerError } from './errors.js'

const notInTurn = new SequencerError('SEQUENCER_NOT_IN_TURN', 'It is another turn')
const tooMany = new SequencerError('SEQUENCER_TOO_MANY_UNCONFIRMED', '8 blocks are unconfirmed')

function begin() {
  const lines: [object, string][] = []
  const info = (fields: object, message: string) => lines.push([fields, message])
  return { lines, waiting: createWaitingBlocks({ info, warn() {}, error() {} }) }
}

test('each reason is logged once, after a minute', () => {
  const { lines, waiting } = begin()
  for (let now = 5000; now <= 64_000; now += 1000) waiting.waits(now, notInTurn)
  expect(lines).toEqual([])
  for (let now = 65_000; now <= 90_000; now += 1000) waiting.waits(now, notInTurn)
  for (let now = 91_000; now <= 95_000; now += 1000) waiting.waits(now, tooMany)
  expect(lines).toEqual([
    [{ code: 'SEQUENCER_NOT_IN_TURN' }, 'A block has waited for 60 s: It is another turn'],
    [{ code: 'SEQUENCER_TOO_MANY_UNCONFIRMED' }, 'A block has waited for 86 s: 8 blocks are unconfirmed'],
  ])
})

test('the minute begins again when a block was committed', () => {
  const { lines, waiting } = begin()
  waiting.waits(0, notInTurn)
  waiting.ended()
  waiting.waits(60_000, notInTurn)
  expect(lines).toEqual([])
  waiting.waits(120_000, notInTurn)
  expect(lines).toHaveLength(1)
  waiting.ended()
  waiting.waits(300_000, notInTurn)
  waiting.waits(360_000, notInTurn)
  expect(lines).toHaveLength(2)
})

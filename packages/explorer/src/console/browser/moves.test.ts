import type { BlockEvent } from '@ratatosk/client'
import { beforeEach, expect, test } from 'vitest'
import { moves, noteMove } from './moves.js'

let now = 0
let block = 0
beforeEach(() => {
  moves.value = []
  block++
})

/** Notes events of one block, a second apart. */
function note(states: readonly BlockEvent['state'][], before?: BlockEvent['state']): void {
  for (const state of states) {
    now += 1000
    const at = new Date(now).toISOString()
    const event = {
      headerHash: `${block}`,
      height: block,
      transactions: 1,
      commitTxHash: '',
      endTime: at,
      at,
    }
    noteMove({ ...event, state }, before)
  }
}

test('a block that moves on is neither uncoupled nor repaired', () => {
  note(['built', 'submitted', 'committed', 'mature', 'merged'])
  expect(new Set(moves.value.map(({ kind }) => kind))).toEqual(new Set(['moved']))
})

test('a roll-back uncouples a block until it has the state again', () => {
  note(['submitted', 'built', 'submitted', 'committed', 'mature'], 'committed')
  expect(moves.value.toReversed().map(({ kind, from, lostMs }) => [kind, from, lostMs])).toEqual([
    ['uncoupled', 'committed', undefined],
    ['uncoupled', 'submitted', undefined],
    ['moved', undefined, undefined],
    ['repaired', undefined, 3000],
    ['moved', undefined, undefined],
  ])
})

test('a removed block is uncoupled, and old moves are forgotten', () => {
  note(['committed', 'removed'])
  expect(moves.value[0]).toMatchObject({ kind: 'uncoupled', state: 'removed', from: 'committed' })
  for (let many = 0; many < 200; many++) {
    block++
    note(['built'])
  }
  expect(moves.value.length).toBe(100)
})

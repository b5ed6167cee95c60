import { decodeTransaction, judge } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { afterAll, describe, expect, it } from 'vitest'
import { complete } from '../test/complete.js'
import { engines, parameters, zeroTime } from '../test/evaluate.js'
import * as queue from '../test/queue/scenarios.js'
import * as registry from '../test/registry/scenarios.js'
import { createWorld } from '../test/world.js'

const world = createWorld()
const evaluator = createEvaluator({ threads: 1 })
afterAll(() => evaluator.close())

const scenarios = {
  init: [queue.init, 0n],
  deinit: [queue.deinit, 0n],
  'commit on the root': [queue.commitFirst, 50n],
  'commit on a block': [queue.commitSecond, 50n],
  merge: [queue.merge, 90n],
  'begin a registry': [registry.init, 0n],
  'end a registry': [registry.deinit, 0n],
  register: [registry.registerSecond, 0n],
  retire: [registry.retire, 59n],
  release: [registry.release, 180n],
} as const

describe.each(Object.entries(engines))('with the budgets of %s', (_name, evaluate) => {
  it.each(Object.entries(scenarios))('layer 1 takes the transaction: %s', async (_, [scenario, slot]) => {
    const { bytes, utxos } = complete(scenario(world), evaluate)
    const context = { parameters, networkId: 0, slot }
    const slots = { zeroTime, zeroSlot: 0n, slotLength: 1000 }
    expect(await judge(decodeTransaction(bytes), utxos, context, { evaluator, slots })).toEqual([])
  })
})

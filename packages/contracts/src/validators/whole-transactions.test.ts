import { decodeTransaction, validate } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { afterAll, describe, expect, it } from 'vitest'
import * as bridge from '../test/bridge/scenarios.js'
import {
  complete,
  engines,
  layer1Parameters as parameters,
  testedEngines,
  zeroTime,
} from '../test/evaluate.js'
import * as removals from '../test/queue/removals.js'
import * as queue from '../test/queue/scenarios.js'
import * as registry from '../test/registry/scenarios.js'
import { removeByExpiry } from '../test/summons/costs.js'
import { scenarios } from '../test/summons/scenarios.js'
import type { TestKey, TestTransaction } from '../test/transaction.js'
import { administrator, byMultisig, createWorld, multisig, type World } from '../test/world.js'

const world = createWorld()
const evaluator = createEvaluator({ threads: 1 })
afterAll(() => evaluator.close())

const transactions: { readonly [name: string]: readonly [(world: World) => TestTransaction, bigint] } = {
  init: [queue.init, 0n],
  deinit: [queue.deinit, 0n],
  remove: [(of) => queue.remove(of), 0n],
  'verdict, removal and slash': [removals.removeActive, 0n],
  'verdict, removal and slash of a retired operator': [removals.removeRetired, 0n],
  'removal by a verdict, already slashed': [removals.removeAlreadySlashed, 0n],
  prune: [removals.prune, 0n],
  'commit on the root': [queue.commitFirst, 50n],
  'commit on a block': [queue.commitSecond, 50n],
  merge: [(of) => queue.merge(of), 90n],
  'merge with a settlement': [bridge.mergeAndSettle, 90n],
  deposit: [(of) => bridge.deposit(of, { tokens: bridge.bridgedTokens(3) }), 50n],
  payout: [bridge.payAssets, 0n],
  'payout from deposits': [bridge.payFromDeposits, 0n],
  'last payout': [bridge.payLast, 0n],
  tidying: [(of) => bridge.tidy(of), 0n],
  'init of a registry': [registry.init, 0n],
  'deinit of a registry': [registry.deinit, 0n],
  register: [registry.registerSecond, 59n],
  retire: [registry.retire, 59n],
  'retire by the administrator': [registry.evict, 59n],
  release: [registry.release, 280n],
  'question about a subtree': [scenarios.askForSubtree, 65n],
  'question about an entry': [scenarios.askForEntry, 65n],
  'answer with a subtree': [scenarios.showSubtree, 85n],
  'answer with an entry': [scenarios.showEntry, 85n],
  'answer with a leaf': [scenarios.showLeaf, 85n],
  'answer with a chunk': [scenarios.showChunk, 85n],
  'end of a question with a verdict': [scenarios.expire, 85n],
  'end of a question, removal and slash': [removeByExpiry, 85n],
}

describe.each(Object.entries(testedEngines))('with the budgets of %s', (_name, evaluate) => {
  it.each(Object.entries(transactions))(
    'the layer-1 rules accept the transaction: %s',
    async (_, [scenario, slot]) => {
      const { bytes, utxos } = complete(scenario(world), evaluate)
      const context = { parameters, networkId: 0, slot }
      const slots = { zeroTime, zeroSlot: 0n, slotLength: 1000 }
      expect(await validate(decodeTransaction(bytes), utxos, context, { evaluator, slots })).toEqual([])
    },
  )
})

it('the layer-1 rules ask for the signatures that a native script as administrator demands', async () => {
  const shared = createWorld({ administrator: { kind: 'script', hash: multisig.hash } })
  const validateSigned = (...cosigners: TestKey[]) => {
    const { bytes, utxos } = complete(byMultisig(queue.deinit(shared)), engines.cek, cosigners)
    const context = { parameters, networkId: 0, slot: 0n }
    const slots = { zeroTime, zeroSlot: 0n, slotLength: 1000 }
    return validate(decodeTransaction(bytes), utxos, context, { evaluator, slots })
  }
  expect(await validateSigned(administrator)).toEqual([])
  expect(await validateSigned()).toMatchObject([{ predicate: 'ScriptWitnessNotValidatingUTXOW' }])
})

import { decodeHeader } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { createKupmiosLayer1, type Layer1, openWallet } from '@ratatosk/layer1'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { openStore } from '@ratatosk/store'
import { databaseUrl, logOf } from '@ratatosk/test-kit'
import { tellStory } from '../../../../protocol/dist/fraud/test/lying-blocks.js'
import {
  otherKeys,
  provableContracts,
  summonsContracts,
} from '../../../../protocol/dist/test/protocol-scene.js'
import { createWatcher } from '../index.js'
import { followQueue } from './follow-queue.js'
import { honest, invalidBlock, largeLie, ofLie } from './lies.js'

/** A block with an ordinary fraud, one whose body no one serves, or one with a false `utxos_root`. */
export type DisputedKind = 'invalid' | 'withheld' | 'hidden'

// A watcher in a process of its own, for a test that kills it at a step.
const [, , schema = '', kupoUrl = '', ogmiosUrl = '', header = '', kind = '', killAt = ''] = process.argv

const network = createKupmiosLayer1({ kupoUrl, ogmiosUrl, networkMagic: 42, pollMs: 50 })
// The time of the test's layer 1 is not that of this machine.
const layer1: Layer1 = { ...network, currentSlot: async (options) => (await network.tip(options)).slot }
const [parameters, slots] = [await layer1.parameters(), await layer1.slots()]
const story = await tellStory(parameters, slots)
const contracts = kind === 'invalid' ? provableContracts : summonsContracts
const lie = kind === 'invalid' ? largeLie(story) : ofLie('wrongOutputsAfter', story)
const block = {
  ...invalidBlock(lie, decodeHeader(fromHex(header))),
  ...(kind === 'hidden' && { afterTransactions: honest(story).after }),
}
const evaluator = createEvaluator({ threads: 1 })
const store = await openStore({ url: databaseUrl, schema, maxConnections: 3 })
const silent = { info() {}, warn() {}, error() {} }
const watcher = createWatcher({
  contracts,
  rules: { parameters, networkId: 0, slots },
  layer1,
  wallet: openWallet({ layer1, keys: otherKeys, evaluator, withholdMs: 50 }),
  verdicts: store.verdicts,
  archive: store.archive,
  evaluator,
  log: logOf('watcher') ?? silent,
  pollMs: 20,
  patienceMs: 20_000,
  validityMs: 600_000,
  observer: {
    step(name) {
      if (name === killAt) process.kill(process.pid, 'SIGKILL')
    },
  },
})
const withheld = { judge: async () => false }
followQueue(layer1, contracts, watcher, [block], kind === 'withheld' ? withheld : undefined)

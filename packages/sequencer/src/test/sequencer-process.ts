import { createKupmiosLayer1, keyAuthority, openWallet } from '@ratatosk/layer1'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { initRegistry } from '@ratatosk/protocol'
import { openRoots } from '@ratatosk/roots'
import { openStore } from '@ratatosk/store'
import { databaseUrl, fundsOf, keyOf, logOf } from '@ratatosk/test-kit'
import type { WalletKeys } from '@ratatosk/transaction'
import { createSequencer } from '../create-sequencer.js'
import { acceptingAll } from './accept.js'
import {
  administratorKeys,
  contractsOf,
  devnetDeploymentOutput,
  operatorKeys,
  userSeed,
} from './rollup-contracts.js'

// A sequencer in a process of its own, for tests that kill it: at a step, where they say at which.
const [, , schema = '', kupoUrl = '', ogmiosUrl = '', path = '', holder = '', funds = '0', window = ''] =
  process.argv
let killAt: string | undefined
process.on('message', (step: string) => {
  killAt = step
})

const layer1 = createKupmiosLayer1({ kupoUrl, ogmiosUrl, networkMagic: 42, pollMs: 50 })
const evaluator = createEvaluator({ threads: 1 })
const wallet = (keys: WalletKeys) => openWallet({ layer1, keys, evaluator, withholdMs: 500 })
const contracts = contractsOf(BigInt(window), devnetDeploymentOutput())
const administrator = wallet(administratorKeys)
const operator = wallet(operatorKeys)
const store = await openStore({ url: databaseUrl, schema, maxConnections: 3 })

// The evaluator's thread is slow to start; the successor must be quick.
const [utxo] = await layer1.utxosAt(administrator.address)
if (utxo === undefined) throw new Error('the administrator has no funds')
const { deploymentOutput } = contracts.parameters
// The draft names the deployment output even if it is spent: the transaction is built and never sent.
const draft = initRegistry(contracts, { ...utxo, reference: deploymentOutput })
administrator.release((await administrator.build(draft)).id)

const log = logOf(holder)
const sequencer = createSequencer({
  store,
  submissions: acceptingAll(store),
  layer1,
  contracts,
  operator,
  administrator: { wallet: administrator, authority: keyAuthority(administratorKeys.payment) },
  roots: await openRoots({ path }),
  genesis: fundsOf(keyOf(userSeed), Number(funds), 10_000_000n),
  holder,
  autoInit: true,
  commitEveryMs: 200,
  mergeEveryMs: 300,
  pollMs: 50,
  blockValidityMs: 3000,
  leaseMs: 700,
  observer: {
    step(name) {
      if (name === killAt) process.kill(process.pid, 'SIGKILL')
    },
  },
  ...(log && { log }),
})
sequencer.subscribe((active) => {
  if (active) process.send?.('active')
})
process.send?.('ready')
await sequencer.start()

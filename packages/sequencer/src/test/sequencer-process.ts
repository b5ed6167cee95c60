import { createKupmiosLayer1, keyAuthority, openWallet } from '@ratatosk/layer1'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { initRegistry } from '@ratatosk/protocol'
import { openAnswers, openRoots } from '@ratatosk/roots'
import { openStore } from '@ratatosk/store'
import { databaseUrl, fundsOf, keyOf, logOf } from '@ratatosk/test-kit'
import type { WalletKeys } from '@ratatosk/transaction'
import { createSequencer } from '../create-sequencer.js'
import { answerKeys } from '../summons/answer-wallet.js'
import { acceptingAll } from './accept.js'
import {
  administratorKeys,
  contractsOf,
  devnetDeploymentOutput,
  operatorKeys,
  summonsTerms,
  userSeed,
} from './rollup-contracts.js'

// A sequencer in a process of its own, for tests that kill it: at a step, where they say at which.
const [
  ,
  ,
  schema = '',
  kupoUrl = '',
  ogmiosUrl = '',
  path = '',
  holder = '',
  funds = '0',
  window = '',
  terms,
] = process.argv
let killAt: string | undefined
process.on('message', (step: string) => {
  killAt = step
})

const layer1 = createKupmiosLayer1({ kupoUrl, ogmiosUrl, networkMagic: 42, pollMs: 50 })
const evaluator = createEvaluator({ threads: 1 })
const wallet = (keys: WalletKeys) => openWallet({ layer1, keys, evaluator, withholdMs: 500 })
const summons = terms === 'summons' ? summonsTerms : undefined
const contracts = contractsOf(BigInt(window), devnetDeploymentOutput(), undefined, summons)
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
const roots = await openRoots({ path })
const genesis = fundsOf(keyOf(userSeed), Number(funds), 10_000_000n)
const sequencer = createSequencer({
  store,
  submissions: acceptingAll(store),
  layer1,
  contracts,
  operator,
  administrator: { wallet: administrator, authority: keyAuthority(administratorKeys.payment) },
  roots,
  answers: { blocks: openAnswers({ store, roots, genesis }), wallet: wallet(answerKeys(operatorKeys)) },
  genesis,
  holder,
  autoInit: true,
  commitEveryMs: 200,
  mergeEveryMs: 300,
  pollMs: 50,
  // An answer outlives the process that recorded it.
  blockValidityMs: summons ? 30_000 : 3000,
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

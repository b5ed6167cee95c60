import { Socket } from 'node:net'
import { createPeers } from '@ratatosk/follower'
import { createKupmiosLayer1, keyAuthority, type Layer1, openWallet } from '@ratatosk/layer1'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { initRegistry } from '@ratatosk/protocol'
import { openStore } from '@ratatosk/store'
import { databaseUrl, freeOfCharge, fundsOf, keyOf, logOf } from '@ratatosk/test-kit'
import { createSequencer } from '../create-sequencer.js'
import { openAnswers, openRoots } from '../roots/index.js'
import { createSettler, settlerKeys } from '../settler/index.js'
import { answerKeys } from '../summons/answer-wallet.js'
import { acceptingAll } from './accept.js'
import {
  administratorKeys,
  attackerKeys,
  contractsOf,
  devnetDeploymentOutput,
  type Extra,
  extraTerms,
  operatorKeys,
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
  extra,
] = process.argv
let killAt: string | undefined
process.on('message', (step: string) => {
  killAt = step
})
const { RATATOSK_PEER: peer = '' } = process.env
const adopts = peer !== ''

const layer1 = createKupmiosLayer1({ kupoUrl, ogmiosUrl, networkMagic: 42, pollMs: 50 })
const evaluator = createEvaluator({ threads: 1 })
const wallet = (keys: WalletKeys) => openWallet({ layer1, keys, evaluator, withholdMs: 500 })
const terms = extra === undefined ? {} : extraTerms[extra as Extra]
const contracts = contractsOf(BigInt(window), devnetDeploymentOutput(), undefined, terms)
const bridge = contracts.bridge?.place.script.hash
const administrator = wallet(administratorKeys)
const operator = wallet(adopts ? attackerKeys : operatorKeys)
const store = await openStore({ url: databaseUrl, schema, maxConnections: 3 })

// The evaluator's thread is slow to start; the successor must be quick.
const [utxo] = await layer1.utxosAt(administrator.address)
if (utxo === undefined) throw new Error('the administrator has no funds')
const { deploymentOutput } = contracts.parameters
// The draft names the deployment output even if it is spent: the transaction is built and never sent.
const draft = initRegistry(contracts, { ...utxo, reference: deploymentOutput })
administrator.release((await administrator.build(draft)).id)

const log = logOf(holder)
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
const roots = await openRoots({ path, bridge })
const genesis = fundsOf(keyOf(userSeed), Number(funds), 10_000_000n)
/** The number of statements that this process still sends to the database once a block is judged. */
let sendings: number | undefined
const { write } = Socket.prototype
Socket.prototype.write = function (this: Socket, ...given: Parameters<Socket['write']>) {
  if (sendings !== undefined && this.remotePort === Number(new URL(databaseUrl).port || 5432))
    if (sendings-- === 0) process.kill(process.pid, 'SIGKILL')
  return write.apply(this, given)
} as Socket['write']

const peers = adopts ? createPeers([peer], { backoffMs: 20 }, log ?? silent) : undefined
const rules = { parameters: freeOfCharge, networkId: 0, slots: await layer1.slots(), bridge }
const sequencer = createSequencer({
  store,
  submissions: acceptingAll(store, bridge),
  layer1,
  contracts,
  operator,
  administrator: { wallet: administrator, authority: keyAuthority(administratorKeys.payment) },
  roots,
  answers: { blocks: openAnswers({ store, roots, genesis }), wallet: wallet(answerKeys(operatorKeys)) },
  genesis,
  holder,
  autoInit: !adopts,
  autoCommit: !adopts,
  ...(peers && { adoption: { peers, rules } }),
  commitEveryMs: 200,
  mergeEveryMs: 300,
  pollMs: 50,
  // An answer outlives the process that recorded it.
  blockValidityMs: extra === 'summons' ? 30_000 : 3000,
  leaseMs: 700,
  observer: {
    step(name) {
      if (name === 'block-judged' && killAt !== undefined && /^\d+$/.test(killAt)) sendings = Number(killAt)
      if (name === 'block-adopted') sendings = undefined
      if (name === killAt) process.kill(process.pid, 'SIGKILL')
    },
  },
  ...(log && { log }),
})
sequencer.subscribe((active) => {
  if (active) process.send?.('active')
})
if (contracts.bridge !== undefined) {
  const dyingAt = (name: string) => name === killAt && process.kill(process.pid, 'SIGKILL')
  const payingLayer1: Layer1 = {
    ...layer1,
    async submit(...given) {
      dyingAt('payout-built')
      const id = await layer1.submit(...given)
      dyingAt('payout-sent')
      return id
    },
  }
  const settler = createSettler({
    layer1,
    contracts: { ...contracts, bridge: contracts.bridge },
    blocks: store.blocks,
    leases: store.leases,
    wallet: openWallet({ layer1: payingLayer1, keys: settlerKeys(operatorKeys), evaluator, withholdMs: 500 }),
    fundedBy: operator,
    isNeeded: () => sequencer.active,
    holder,
    pollMs: 50,
    leaseMs: 700,
    validityMs: 5000,
    tidyFrom: 5,
    ...(log && { log }),
  })
  await settler.start()
}
process.send?.('ready')
await sequencer.start()

import { createKupmiosLayer1, initRegistry, openWallet, type WalletKeys } from '@ratatosk/layer1'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { openStore } from '@ratatosk/store'
import { databaseUrl } from '@ratatosk/test-services'
import { createSequencer, openRoots } from '../index.js'
import { logOf } from './log.js'
import { administratorKeys, contractsOf, operatorKeys, userSeed } from './rollup-contracts.js'
import { fundsOf, keyOf } from './transfers.js'

// A sequencer in a process of its own, for tests that kill it: at a step, where they say at which.
const [, , schema = '', kupoUrl = '', ogmiosUrl = '', path = '', holder = '', funds = '0'] = process.argv
let killAt: string | undefined
process.on('message', (step: string) => {
  killAt = step
})

const layer1 = createKupmiosLayer1({ kupoUrl, ogmiosUrl, networkMagic: 42, pollMs: 50 })
const evaluator = createEvaluator({ threads: 1 })
const wallet = (keys: WalletKeys) => openWallet({ layer1, keys, evaluator, withholdMs: 500 })
const contracts = contractsOf(1500n)
const administrator = wallet(administratorKeys)
const operator = wallet(operatorKeys)
const store = await openStore({ url: databaseUrl, schema, maxConnections: 3 })

// The evaluator's thread is slow to start; whoever takes over shall be quick.
administrator.release((await administrator.build(initRegistry(contracts))).id)

const log = logOf(holder)
const sequencer = createSequencer({
  store,
  layer1,
  contracts,
  operator,
  administrator,
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

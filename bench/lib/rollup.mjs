import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromHex } from '@ratatosk/cbor'
import { createDevnet, testGenesis, testWallets } from '@ratatosk/devnet'
import { createDevnetLayer1, keyAuthority, openWallet } from '@ratatosk/layer1'
import { decodeTransaction, decodeTransactionOutput, effects } from '@ratatosk/ledger'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { openContracts } from '@ratatosk/protocol'
import { createSequencer } from '@ratatosk/sequencer'
import { openRoots } from '@ratatosk/sequencer/roots'
import { openStore } from '@ratatosk/store'
import { processorMicros } from './figures.mjs'
import { databaseUrl, defer, removeTraces } from './services.mjs'

// A sequencer in this process, on PostgreSQL and a devnet, that reports when a block was begun, read, hashed,
// signed and stored.

const [administratorKeys, operatorKeys, otherKeys] = [0, 1, 2].map((account) =>
  keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account }),
)

/** No block matures meanwhile, and the first turn since 1970 is not over. */
const hour = 3_600_000n
const longTurn = 1_000_000n * hour
const [transactionId, index] = testGenesis().utxos[0].outref.split('#')
const contracts = openContracts(
  {
    protocol: 'RATATOSK',
    administrator: { kind: 'key', hash: administratorKeys.payment.hash },
    deploymentOutput: { transactionId: fromHex(transactionId), index: Number(index) },
    permissioned: true,
    maturityWindow: hour,
    turnLength: longTurn,
    bond: 500_000_000n,
    releaseDelay: hour + longTurn,
    maxOperators: 100n,
  },
  0,
)

/** Takes transactions into a mempool, as validation does. */
async function acceptAll(store, transactions) {
  const batch = 1000
  for (let start = 0; start < transactions.length; start += batch) {
    const accepted = transactions.slice(start, start + batch).map(acceptedTransaction)
    await store.withLedger((ledger) => ledger.apply({ transactions: accepted }))
  }
}

/** Opens the store and what the sequencer is made of; {@link cleanUp} closes and removes them. */
export async function openRollup(name, genesis) {
  defer(() => removeTraces(name))
  const store = await openStore({ url: databaseUrl, schema: name })
  defer(() => store.close())
  const evaluator = createEvaluator()
  defer(() => evaluator.close())
  const devnet = await createDevnet({ evaluator })
  defer(() => devnet.close())
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-blocks-'))
  defer(() => rmSync(folder, { recursive: true, force: true }))
  const roots = await openRoots({ path: folder })
  defer(() => roots.close())
  const layer1 = createDevnetLayer1(devnet)
  const operator = openWallet({ layer1, keys: operatorKeys, evaluator })
  const otherOperator = openWallet({ layer1, keys: otherKeys, evaluator })
  const administrator = {
    wallet: openWallet({ layer1, keys: administratorKeys, evaluator }),
    authority: keyAuthority(administratorKeys.payment),
  }
  const entries = ledgerEntries(genesis)

  return {
    store,
    layer1,
    /** A wallet of another operator. */
    otherOperator,
    entries,
    /** Of the outputs' trie. */
    folder,
    accept: (transactions) => acceptAll(store, transactions),

    /**
     * Starts a sequencer of its own, which must be closed.
     *
     * @param {(times: BlockTimes) => void} onBlock told of each block once its row is durable
     * @typedef {{ begun: number, read: number, hashed: number, signed: number, stored: number, total: number,
     *   cpu: number,
     * prepared: number, freed: number }} BlockTimes `begun` as `performance.now()` says it, all others
     * milliseconds since the one
     * before; `cpu` of all threads of this process; `freed` by the roots' thread since the block before;
     * `prepared` is the number of
     *   transactions for which the roots were prepared
     */
    async startSequencer(onBlock, options = {}) {
      const marks = { prepared: 0, freed: 0 }
      const blocks = {
        ...store.blocks,
        build(...asked) {
          marks.signed = performance.now()
          return store.blocks.build(...asked)
        },
      }
      const timed = {
        ...roots,
        // Asked before the mempool is read.
        root() {
          marks.begun = performance.now()
          marks.cpu = process.cpuUsage()
          return roots.root()
        },
        applyWithin(...asked) {
          marks.read = performance.now()
          return roots.applyWithin(...asked)
        },
        async prepare(...asked) {
          marks.prepared = await roots.prepare(...asked)
          return marks.prepared
        },
        async free() {
          const started = performance.now()
          await roots.free()
          marks.freed += performance.now() - started
        },
      }
      const sequencer = createSequencer({
        store: { ...store, blocks },
        // No block is removed here.
        submissions: { add: () => Promise.reject(new Error('nothing is resubmitted')) },
        layer1,
        contracts,
        operator,
        administrator,
        roots: timed,
        genesis: entries,
        holder: 'bench',
        autoMerge: false,
        observer: {
          step(name) {
            const now = performance.now()
            if (name === 'roots-applied') marks.hashed = now
            if (name !== 'block-built') return
            const { begun, read, hashed, signed, prepared, freed } = marks
            const cpu = processorMicros(marks.cpu) / 1000
            Object.assign(marks, { prepared: 0, freed: 0 })
            onBlock({
              begun,
              read: read - begun,
              hashed: hashed - read,
              signed: signed - hashed,
              stored: now - signed,
              total: now - begun,
              cpu,
              prepared,
              freed,
            })
          },
        },
        ...options,
      })
      defer(() => sequencer.close())
      await sequencer.start()
      while (!sequencer.active) await new Promise((resolve) => sequencer.subscribe(resolve))
      return sequencer
    },
  }
}

// A store's input without a node: the ledger's first outputs, and transactions as validation accepts them.

function entryOf(reference, bytes) {
  const { address } = decodeTransactionOutput(bytes)
  // Stores of older checkouts take the payment credential too.
  return { reference, output: bytes, address: address.bytes, paymentCredential: address.payment.hash }
}

/** Outputs of `makeTransfers`, as the store takes them. */
export function ledgerEntries(genesis) {
  return genesis.map(({ outref, output }) =>
    entryOf(
      { transactionId: fromHex(outref.slice(0, 64)), index: Number(outref.slice(65)) },
      fromHex(output),
    ),
  )
}

function acceptedTransaction(cbor) {
  const transaction = decodeTransaction(cbor)
  const { spent, produced } = effects(transaction)
  return {
    id: transaction.id,
    cbor,
    spent,
    produced: produced.map(({ reference, output }) => entryOf(reference, output.bytes)),
  }
}

import {
  type BlockBody,
  blockVersion,
  bodyOf,
  createDerivation,
  createOutputTrie,
  createTransactionsMap,
  depositsRoot,
  deriveBlock,
  encodedHeader,
  feeOutput,
} from '@ratatosk/block'
import { encodeOutputReference } from '@ratatosk/ledger'
import { freeOfCharge, fundsOf, keyOf, type SignedTransaction, signed, slots } from '@ratatosk/test-kit'
import { createMemoryStore, emptyRoot } from '@ratatosk/trie'
import { expect, test } from 'vitest'
import type { SequencerContext } from '../context.js'
import { openRoots } from '../roots/index.js'
import { undoBlocks } from '../state/ledger-state.js'
import { accept } from '../test/accept.js'
import { openers } from '../test/services.js'
import type { AdoptionMeans } from '../types.js'
import { adoptBlock } from './adopt-block.js'

const ada = 1_000_000n
const user = keyOf(9)
const genesis = fundsOf(user, 2, 10n * ada)
const bridge = new Uint8Array(28).fill(0xb1)
const operatorVkey = user.address.slice(1)
const payee = { prevHeaderHash: new Uint8Array(28), operatorVkey, networkId: 0 }
/** The fee output of a first block with fees of 5 ada. */
const fees = { transactionId: feeOutput(payee, 5n * ada)!.id, index: 0 }
const signal = new AbortController().signal

/** A first block with these transactions, which its operator does not judge. */
async function blockOf(...transactions: readonly SignedTransaction[]) {
  const trie = createOutputTrie({ store: createMemoryStore(), history: 4 })
  await trie.rebuild(
    genesis.map(({ reference, output }) => [encodeOutputReference(reference), output] as const),
  )
  const prevUtxosRoot = Uint8Array.from(trie.root)
  const { prevHeaderHash } = payee
  const cbors = transactions.map(({ cbor }) => cbor)
  const rules = { bridge, feesTo: payee }
  const body = bodyOf(cbors, rules)
  const { root } = await createTransactionsMap(deriveBlock(cbors, trie.outputHash, rules))
  const derivation = createDerivation({ bridge })
  for (const credit of body.deposits ?? []) derivation.deposit(credit)
  for (const cbor of cbors) derivation.add(cbor)
  trie.applyDerivation(derivation)
  const { bytes, hash } = encodedHeader({
    ...{ prevUtxosRoot, prevHeaderHash, operatorVkey, blockVersion },
    utxosRoot: Uint8Array.from(trie.root),
    transactionsRoot: root,
    depositsRoot: await depositsRoot(body.deposits ?? []),
    withdrawalsRoot: emptyRoot(),
    startTime: BigInt(slots.zeroTime) + 1000n,
    endTime: BigInt(slots.zeroTime) + 61_000n,
  })
  return { body, headerHash: hash, header: bytes }
}

test('the fees of a removed block cannot be spent, also when its successor has fees', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const roots = await openRoots({ bridge })
  context.onTestFinished(() => roots.close())
  await store.applyGenesis(genesis)
  const lease = (await store.leases.acquire('sequencer', 'a test', 3_600_000))!
  const none = () => undefined
  const place = {
    ...{ store, roots, lease, signal, ends: signal, step: none },
    cache: { ahead: [], genesisRoot: undefined, blocksRemoved: none },
    log: { info: none, warn: none, error: none },
    contracts: { bridge: { place: { script: { hash: bridge } } } },
    operator: { release: none },
  } as unknown as SequencerContext
  const adopt = (block: { body: BlockBody; headerHash: Uint8Array; header: Uint8Array }) => {
    const peers = {
      openShare: () => ({ end: none }),
      askBody: ({ check }: { check(body: BlockBody): unknown }) => check(block.body),
    }
    const rules = { parameters: freeOfCharge, networkId: 0, slots, bridge }
    return adoptBlock(place, { peers, rules } as unknown as AdoptionMeans, block, true)
  }
  const [first, second] = genesis.map(({ reference }) => reference)
  const five = signed(user, { inputs: [first!], outputs: [5n * ada], fee: 5n * ada })
  const one = signed(user, { inputs: [second!], outputs: [9n * ada], fee: ada })
  const spending = signed(user, { inputs: [fees], outputs: [5n * ada] })
  expect(await adopt(await blockOf(five))).toBeUndefined()
  await accept(store, [spending])
  await undoBlocks(place, 1n, 'layer 1 no longer has it')
  expect(await store.ledger.outputs([fees])).toEqual([undefined])
  await expect(accept(store, [spending])).rejects.toThrow()
  expect(await adopt(await blockOf(one))).toBeUndefined()
})

import {
  createDerivation,
  createOutputTrie,
  decodeHeader,
  decodeTransactionRecord,
  headerHash,
  type OutputTrie,
} from '@ratatosk/block'
import { decodeOutputReference, decodeTransaction, encodeOutputReference } from '@ratatosk/ledger'
import { SourceChain } from '@ratatosk/test-kit'
import {
  createMemoryStore,
  proofFromCbor,
  proofToCbor,
  verifyExclusion,
  verifyInclusion,
} from '@ratatosk/trie'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openProver, ProverBusyError, type ProverOptions } from './index.js'

/** Proofs; `RATATOSK_PROOFS=10000` is the long run. */
const runs = Number(process.env.RATATOSK_PROOFS ?? 100)

/** A chain of random blocks with the states of its outputs, in the form of the store's blocks. */
async function build(blocks: number, size: number) {
  const chain = new SourceChain()
  const trie: OutputTrie = createOutputTrie({ store: createMemoryStore(), history: 100 })
  await trie.rebuild(chain.genesis.map(({ reference, output }) => [encodeOutputReference(reference), output]))
  const genesisRoot = Uint8Array.from(trie.root)
  for (let n = 0; n < blocks; n++) {
    const { cbors } = await chain.commit(size)
    const derivation = createDerivation()
    for (const cbor of cbors) derivation.add(cbor)
    trie.applyDerivation(derivation)
  }
  const blockOf = (block: (typeof chain.all)[number]) => ({
    ...block,
    utxosRoot: block.fields.utxosRoot,
    state: block.state as string,
  })
  const ids = chain.blocks.map((block) => block.cbors.map((cbor) => decodeTransaction(cbor)))
  const store = {
    async transaction(id: Uint8Array) {
      return ids.flat().find((transaction) => Buffer.compare(transaction.id, id) === 0)?.bytes
    },
    blocks: {
      byHash: async (hash: Uint8Array) => {
        const found = await chain.byHash(hash)
        return found && blockOf(found)
      },
      byHeight: async (height: bigint) => {
        const found = await chain.byHeight(height)
        return found && blockOf(found)
      },
      confirmed: async () =>
        chain.blocks
          .filter(({ state }) => state === 'merged')
          .map(blockOf)
          .at(-1),
      unmerged: async () => chain.blocks.filter(({ state }) => state === 'committed').map(blockOf),
      async ofTransaction(id: Uint8Array) {
        for (const [index, list] of ids.entries()) {
          const position = list.findIndex((transaction) => Buffer.compare(transaction.id, id) === 0)
          if (position >= 0) return { block: blockOf(chain.all[index]!), position }
        }
        return undefined
      },
      creditsOf: async () => [],
      depositsById: async () => [],
      transactionsOf: async (hash: Uint8Array) =>
        ((await chain.byHash(hash))?.cbors ?? []).map((cbor) => ({ cbor })),
    },
  } as unknown as ProverOptions['store']
  const roots: ProverOptions['roots'] = {
    root: async () => Uint8Array.from(trie.root),
    async prove(root, outref) {
      const view = trie.at(root)
      if (view === undefined) return undefined
      const isUnspent = view.has(outref)
      return { isUnspent, proof: proofToCbor(isUnspent ? view.prove(outref) : view.proveAbsence(outref)) }
    },
  }
  const genesis = chain.genesis.map((entry) => ({ ...entry, address: new Uint8Array() }))
  const prover = openProver({ store, roots, genesis })
  onTestFinished(() => prover.close())
  return { chain, trie, prover, store, roots, genesis, ids, genesisRoot }
}

/** Whether a proof holds against a header whose hash is known, as a client with nothing else judges. */
function verified(
  proved: {
    block: { readonly header: Uint8Array } | undefined
    key: Uint8Array
    value: Uint8Array | undefined
    proof: Uint8Array
  },
  known: Uint8Array,
  field: 'utxosRoot' | 'transactionsRoot',
): boolean {
  const { block, key, value, proof } = proved
  if (block === undefined) return false
  try {
    const fields = decodeHeader(block.header)
    if (Buffer.compare(headerHash(fields), known) !== 0) return false
    const steps = proofFromCbor(proof)
    return value === undefined
      ? verifyExclusion(fields[field], key, steps)
      : verifyInclusion(fields[field], key, value, steps)
  } catch {
    return false
  }
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T

function flipped(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes)
  const at = Math.floor(Math.random() * copy.length)
  copy[at] = (copy[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
  return copy
}

describe('a prover', () => {
  test(`makes ${runs} proofs that hold, and that no flipped bit survives`, { timeout: 600_000 }, async () => {
    const { chain, trie, prover, ids } = await build(5, 60)
    const outrefs = [
      ...chain.genesis.map(({ reference }) => reference),
      ...ids.flat().map(({ id }) => ({ transactionId: id, index: 0 })),
    ]
    const unspentAt = ({ utxosRoot }: { readonly utxosRoot: Uint8Array }) =>
      outrefs.filter((outref) => trie.at(utxosRoot)?.has(encodeOutputReference(outref)))
    const counts = { unspent: 0, absent: 0, applied: 0, 'not applied': 0 }
    for (let n = 0; n < runs; n++) {
      const block = pick(chain.blocks)
      const ofTransaction = n % 2 === 0
      const proved = ofTransaction
        ? await prover.transaction(pick(ids.flat()).id, block.headerHash)
        : await prover.utxo(pick(n % 4 === 1 ? unspentAt(block.fields) : outrefs), {
            kind: 'header',
            headerHash: block.headerHash,
          })
      if (typeof proved === 'string') throw new Error(proved)
      const field = ofTransaction ? 'transactionsRoot' : 'utxosRoot'
      if (ofTransaction) counts[proved.value === undefined ? 'not applied' : 'applied']++
      else counts[proved.value === undefined ? 'absent' : 'unspent']++
      expect(proved.root).toEqual(block.fields[field])
      expect(verified(proved, block.headerHash, field)).toBe(true)
      const header = flipped(proved.block!.header)
      expect(verified({ ...proved, block: { header } }, block.headerHash, field), `header ${n}`).toBe(false)
      for (const part of ['key', 'value', 'proof'] as const) {
        const bytes = proved[part]
        if (bytes === undefined) continue
        const other = flipped(bytes)
        // A proof in another encoding is the same proof.
        if (part === 'proof' && isSameProof(other, bytes)) continue
        // The absence of another key may follow from the same neighbours.
        if (part === 'key' && proved.value === undefined) continue
        expect(verified({ ...proved, [part]: other }, block.headerHash, field), `${part} ${n}`).toBe(false)
      }
    }
    for (const [kind, count] of Object.entries(counts)) expect(count, kind).toBeGreaterThan(0)
  })

  test('proves the position and the hash of a transaction', async () => {
    const { chain, prover, ids } = await build(2, 7)
    const proved = await prover.transaction(ids[1]![3]!.id)
    if (proved === 'no block') throw new Error(proved)
    const { headerHash } = chain.blocks[1]!
    expect(proved).toMatchObject({ block: { headerHash, height: 2n }, position: 3 })
    expect(decodeTransactionRecord(proved.value!)).toMatchObject({ kind: 'transaction', id: ids[1]![3]!.id })
    const absent = await prover.transaction(ids[1]![3]!.id, chain.blocks[0]!.headerHash)
    expect(absent).toMatchObject({ value: undefined, position: undefined })
    expect(decodeOutputReference((absent as { key: Uint8Array }).key).transactionId).toEqual(ids[1]![3]!.id)
  })

  test('proves against what is confirmed and what is committed', async () => {
    const { chain, prover, genesisRoot } = await build(3, 30)
    const [{ reference }] = chain.genesis as [(typeof chain.genesis)[number]]
    const before = await prover.utxo(reference, { kind: 'confirmed' })
    expect(before).toMatchObject({ root: genesisRoot, block: undefined })
    expect((before as { value: unknown }).value).toEqual(chain.genesis[0]!.output)
    chain.merge(2)
    const named = chain.blocks.map(({ headerHash }) => ({ block: { headerHash } }))
    expect(await prover.utxo(reference, { kind: 'confirmed' })).toMatchObject(named[1]!)
    expect(await prover.utxo(reference, { kind: 'committed' })).toMatchObject(named[2]!)
  })

  test('knows no blocks that layer 1 does not hold, and says which states are gone', async () => {
    const { chain, prover, store, roots, genesis, ids } = await build(1, 3)
    const [block] = chain.blocks
    const [{ reference }] = chain.genesis as [(typeof chain.genesis)[number]]
    expect(await prover.utxo(reference, { kind: 'header', headerHash: new Uint8Array(28) })).toBe('no block')
    expect(await prover.transaction(new Uint8Array(32))).toBe('no block')
    const forgetful = openProver({ store, roots: { ...roots, prove: async () => undefined }, genesis })
    expect(await forgetful.utxo(reference, { kind: 'committed' })).toBe('not kept')
    block!.state = 'removed'
    expect(await prover.utxo(reference, { kind: 'header', headerHash: block!.headerHash })).toBe('no block')
    expect(await prover.transaction(ids[0]![0]!.id, block!.headerHash)).toBe('no block')
  })

  test('refuses more than it makes at a time', async () => {
    const { prover, ids } = await build(1, 3)
    const all = await Promise.allSettled(Array.from({ length: 40 }, () => prover.transaction(ids[0]![0]!.id)))
    const refused = all.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(8)
    expect((refused[0] as PromiseRejectedResult).reason).toBeInstanceOf(ProverBusyError)
    expect(await prover.transaction(ids[0]![0]!.id)).toMatchObject({ position: 0 })
  })
})

function isSameProof(one: Uint8Array, other: Uint8Array): boolean {
  try {
    return Buffer.compare(proofToCbor(proofFromCbor(one)), proofToCbor(proofFromCbor(other))) === 0
  } catch {
    return false
  }
}

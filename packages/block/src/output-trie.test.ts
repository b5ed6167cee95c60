import {
  encodeDraft,
  encodeInput,
  encodeList,
  encodeUint,
  keyOf,
  outputOf,
  type SignedTransaction,
  transfer,
} from '@ratatosk/fixtures'
import { blake2b256, encodeOutputReference, type OutputReference, outputReferenceKey } from '@ratatosk/ledger'
import { createMemoryStore, emptyRoot, type TrieEntry } from '@ratatosk/trie'
import { describe, expect, it } from 'vitest'
import { bodyOf, createDerivation, type Derivation, deriveBlock } from './derivation/derive.js'
import { transactionsRoot } from './derivation/transactions-map.js'
import { createOutputTrie, type OutputTrie } from './output-trie.js'

const key = keyOf(3)
const references = Array.from({ length: 4 }, (_, n) => ({
  transactionId: new Uint8Array(32).fill(n + 1),
  index: n,
}))
const genesis = references.map(
  (reference): TrieEntry => [encodeOutputReference(reference), outputOf(key, 5n)],
)
const first = transfer(key, [references[0]!], [2n, 3n])
const second = transfer(key, [{ transactionId: first.id, index: 1 }], [3n])

const derived = (...transactions: readonly SignedTransaction[]): Derivation => {
  const derivation = createDerivation()
  for (const { cbor } of transactions) derivation.add(cbor)
  return derivation
}

async function open(history?: number): Promise<OutputTrie> {
  const trie = createOutputTrie({ store: createMemoryStore(), ...(history !== undefined && { history }) })
  await trie.rebuild(genesis)
  return trie
}

describe('the trie of unspent outputs', () => {
  it('reaches the same root by transactions and by the diff that follows from them', async () => {
    const byTransactions = await open()
    const byDiff = await open()
    const before = byDiff.root
    byTransactions.applyDerivation(derived(first, second))
    const after = byTransactions.root
    const diff = bodyOf([first.cbor, second.cbor])
    await byDiff.applyBlock(diff, { prevUtxosRoot: before, utxosRoot: after })
    expect(byDiff.root).toEqual(after)
    expect(byDiff.size).toBe(5)
    const { outref } = diff.produced[0]!
    expect(byDiff.has(outref)).toBe(true)
    expect(byDiff.outputHash(outref)).toEqual(byTransactions.outputHash(outref))
    expect(byDiff.has(genesis[0]![0])).toBe(false)
    expect(byDiff.outputHash(genesis[0]![0])).toBeUndefined()
  })

  it('is prepared for a block piece by piece, and changes when the block is applied', async () => {
    const spender = transfer(key, [{ transactionId: first.id, index: 0 }, references[2]!], [7n])
    const transactions = [first, second, transfer(key, [references[1]!], [5n]), spender]
    const plain = await open()
    const expected = await transactionsRoot(plain.applyDerivation(derived(...transactions)))
    // After which transactions the trie is prepared, as bits.
    for (let pieces = 0; pieces < 2 ** transactions.length; pieces++) {
      const trie = await open()
      const before = trie.root
      const derivation = createDerivation()
      for (const [position, { cbor }] of transactions.entries()) {
        derivation.add(cbor)
        if ((pieces >> position) % 2 === 1) trie.prepareDerivation(derivation)
      }
      expect(trie.root).toEqual(before)
      expect(await transactionsRoot(trie.applyDerivation(derivation))).toEqual(expected)
      expect(trie.root).toEqual(plain.root)
      expect(trie.size).toBe(plain.size)
      expect(trie.revert(before)).toBe(true)
    }
  })

  it('refuses to prepare what it could not apply, and applies another block then', async () => {
    const trie = await open()
    const wrong = derived(second)
    expect(() => trie.prepareDerivation(wrong)).toThrowError(
      expect.objectContaining({ code: 'BLOCK_INPUT_MISSING' }),
    )
    expect(() => trie.prepareDerivation(derived(first, first))).toThrowError(
      expect.objectContaining({ code: 'BLOCK_DOUBLE_SPEND' }),
    )
    const plain = await open()
    plain.applyDerivation(derived(first))
    trie.prepareDerivation(derived(transfer(key, [references[3]!], [5n])))
    trie.applyDerivation(derived(first))
    expect(trie.root).toEqual(plain.root)
  })

  it('stays unchanged when a block spends a missing output, and names the output', async () => {
    const trie = await open()
    const before = trie.root
    const reference = outputReferenceKey({ transactionId: first.id, index: 1 })
    expect(() => trie.applyDerivation(derived(second))).toThrowError(
      expect.objectContaining({ code: 'BLOCK_INPUT_MISSING', reference }),
    )
    await expect(
      trie.applyBlock(bodyOf([second.cbor]), { prevUtxosRoot: before, utxosRoot: before }),
    ).rejects.toThrowError(expect.objectContaining({ code: 'BLOCK_INVALID', reference }))
    expect(trie.root).toEqual(before)
  })

  it('derives the map from the outputs before the block, and refuses contradictions', async () => {
    const trie = await open()
    const before = new Map(genesis.map(([outref]) => [outref, trie.outputHash(outref)]))
    const reader = reading(references[1]!, references[2]!, { transactionId: first.id, index: 0 })
    const hashBefore = (outref: Uint8Array) =>
      [...before].find(([other]) => Buffer.compare(other, outref) === 0)?.[1]
    const expected = deriveBlock([first.cbor, second.cbor, reader], hashBefore)
    const derivation = derived(first, second)
    derivation.add(reader)
    const map = trie.applyDerivation(derivation)
    expect([...map.entries()]).toEqual([...expected.entries()])
    expect(await transactionsRoot(map)).toEqual(await transactionsRoot(expected))
    expect(map.transactions[2]!.resolved).toEqual(
      blake2b256(
        Buffer.concat([
          hashBefore(genesis[1]![0])!,
          hashBefore(genesis[2]![0])!,
          blake2b256(outputOf(key, 2n)),
        ]),
      ),
    )
    const { root } = trie
    const twice = derived(transfer(key, [references[3]!], [1n]), transfer(key, [references[3]!], [2n]))
    expect(() => trie.applyDerivation(twice)).toThrowError(
      expect.objectContaining({ code: 'BLOCK_DOUBLE_SPEND', position: 1 }),
    )
    expect(trie.root).toEqual(root)
  })

  it('stays unchanged when a block begins with, or leads to, another root than its header', async () => {
    const trie = await open()
    const before = trie.root
    const diff = bodyOf([first.cbor])
    for (const header of [
      { prevUtxosRoot: emptyRoot(), utxosRoot: before },
      { prevUtxosRoot: before, utxosRoot: emptyRoot() },
      { prevUtxosRoot: before, utxosRoot: before },
    ]) {
      await expect(trie.applyBlock(diff, header)).rejects.toThrowError(
        expect.objectContaining({ code: 'BLOCK_INVALID' }),
      )
      expect(trie.root).toEqual(before)
    }
    const empty = { spent: [], produced: [] }
    await expect(
      trie.applyBlock(empty, { prevUtxosRoot: before, utxosRoot: emptyRoot() }),
    ).rejects.toThrowError(expect.objectContaining({ code: 'BLOCK_INVALID' }))
    await trie.applyBlock(empty, { prevUtxosRoot: before, utxosRoot: before })
  })

  it('applies a diff of many outputs as one update, while other work runs, or not at all', async () => {
    const trie = await open(1)
    const [before, { size }] = [trie.root, trie]
    const produced = Array.from({ length: 20_000 }, (_, index) => ({
      outref: encodeOutputReference({ transactionId: first.id, index }),
      output: outputOf(key, 1n),
    }))
    let turns = 0
    const ticks = setInterval(() => turns++, 1)
    await trie.applyDiff({ spent: [], produced })
    clearInterval(ticks)
    expect(turns).toBeGreaterThan(1)
    expect(trie.size).toBe(size + produced.length)
    expect(trie.revert(before)).toBe(true)
    await expect(trie.applyDiff({ spent: [], produced: [...produced, produced[0]!] })).rejects.toMatchObject({
      code: 'BLOCK_OUTPUT_EXISTS',
    })
    expect([trie.root, trie.size]).toEqual([before, size])
  })

  it('reverts to a kept state, and returns false for any other', async () => {
    const trie = await open(1)
    const before = trie.root
    trie.applyDerivation(derived(first))
    const between = trie.root
    trie.applyDerivation(derived())
    trie.applyDerivation(derived(second))
    expect(trie.revert(before)).toBe(false)
    expect(trie.revert(between)).toBe(true)
    expect(trie.root).toEqual(between)
    expect(trie.revert(between)).toBe(true)
  })

  it('refuses to rebuild from a set with a repeated reference, and stays unchanged', async () => {
    const trie = await open()
    const before = trie.root
    await expect(trie.rebuild([...genesis, genesis[1]!])).rejects.toMatchObject({
      code: 'BLOCK_OUTPUT_EXISTS',
    })
    expect(trie.root).toEqual(before)
  })
})

function reading(spent: OutputReference, ...read: readonly OutputReference[]): Uint8Array {
  const inputs = (list: readonly OutputReference[]) =>
    encodeList(list.map(({ transactionId, index }) => encodeInput(transactionId, index)))
  const body = new Map([
    [0, inputs([spent])],
    [1, encodeList([outputOf(key, 5n)])],
    [2, encodeUint(0)],
    [18, inputs(read)],
  ])
  return encodeDraft({ body, witnesses: new Map(), signers: [], isValid: true })
}

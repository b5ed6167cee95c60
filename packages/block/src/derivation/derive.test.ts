import { CborWriter, toHex } from '@ratatosk/cbor'
import { encodeOutput, keyOf, outputOf } from '@ratatosk/fixtures'
import {
  blake2b256,
  decodeTransaction,
  encodeOutputReference,
  type OutputReference,
  outputReferenceKey,
} from '@ratatosk/ledger'
import {
  createMemoryStore,
  createTrie,
  type TrieEntry,
  verifyExclusion,
  verifyInclusion,
} from '@ratatosk/trie'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxChunkLength } from './chunks.js'
import { createDerivation, type DerivedBlock, deriveBlock } from './derive.js'
import { partsOf } from './parts.js'
import { encodeOutputRecord, encodeTransactionRecord, transactionKey } from './records.js'
import { createTransactionsMap } from './transactions-map.js'

const key = keyOf(3)
const genesis = [0, 1, 2, 3].map((index) => ({ transactionId: new Uint8Array(32).fill(0xaa), index }))
/** Of the genesis outputs, the last does not exist. */
const before = new Map(
  genesis
    .slice(0, 3)
    .map((reference, n) => [toHex(encodeOutputReference(reference)), outputOf(key, BigInt(n))]),
)
const hashBefore = (outref: Uint8Array) => {
  const output = before.get(toHex(outref))
  return output && blake2b256(output)
}

interface Made {
  readonly cbor: Uint8Array
  readonly body: Uint8Array
  readonly witnessSet: Uint8Array
  readonly rest: Uint8Array
  readonly inputs: readonly OutputReference[]
  readonly referenceInputs: readonly OutputReference[]
  readonly outputs: readonly Uint8Array[]
  readonly fee: bigint
}

/** `rest` does not follow from the body; the others do not decode. */
type Flaw = 'none' | 'witnesses' | 'rest' | 'body' | 'garbage'

function make(
  inputs: readonly OutputReference[],
  referenceInputs: readonly OutputReference[],
  amounts: readonly bigint[],
  fee: bigint,
  flaw: Flaw = 'none',
): Made {
  const outputs = amounts.map((amount) => outputOf(key, amount))
  const list = (writer: CborWriter, references: readonly OutputReference[]) => {
    writer.tag(258).array(references.length)
    for (const { transactionId, index } of references) writer.array(2).bytes(transactionId).uint(index)
  }
  const writer = new CborWriter().map(3 + Number(referenceInputs.length > 0)).uint(0)
  list(writer, inputs)
  writer.uint(1).array(outputs.length)
  for (const output of outputs) writer.raw(output)
  writer.uint(2)
  if (flaw === 'body') writer.text('no fee')
  else writer.uint(fee)
  if (referenceInputs.length > 0) list(writer.uint(18), referenceInputs)
  const body = writer.toBytes()
  const witnessSet = Uint8Array.from(flaw === 'witnesses' ? [0xa1, 0x18, 99, 0] : [0xa0])
  const rest = new CborWriter()
    .boolean(flaw !== 'rest')
    .null()
    .toBytes()
  const cbor = new CborWriter().array(4).raw(body).raw(witnessSet).raw(rest).toBytes()
  const nothing = { inputs: [], referenceInputs: [], outputs: [], fee: 0n }
  if (flaw === 'body') return { cbor, body, witnessSet, rest, ...nothing }
  if (flaw === 'garbage') {
    return wholeOf(cbor.subarray(0, cbor.length - 3))
  }
  return { cbor, body, witnessSet, rest, inputs, referenceInputs, outputs, fee }
}

/** Bytes that are no transaction. */
function wholeOf(cbor: Uint8Array): Made {
  const nothing = { inputs: [], referenceInputs: [], outputs: [], fee: 0n }
  return { cbor, body: cbor, witnessSet: new Uint8Array(), rest: new Uint8Array(), ...nothing }
}

/** The chunks of a block: position of the first transaction, and bytes. */
function chunksOf(block: readonly Made[], first = 0): { readonly first: number; readonly bytes: Buffer }[] {
  if (first === block.length) return []
  const frames = block
    .slice(first)
    .map(({ body, witnessSet, rest }) =>
      Buffer.concat([body, witnessSet, rest].flatMap((part) => [uint32(part.length), part])),
    )
  let count = 1
  while (count < frames.length && Buffer.concat(frames.slice(0, count + 1)).length <= maxChunkLength) count++
  return [{ first, bytes: Buffer.concat(frames.slice(0, count)) }, ...chunksOf(block, first + count)]
}

const uint32 = (number: number) => Buffer.from(number.toString(16).padStart(8, '0'), 'hex')

/** The definition, read literally: quadratic, and without any state. */
function modelOf(block: readonly Made[]): Map<string, string> {
  const map = new Map<string, string>()
  const hex = (reference: OutputReference) => toHex(encodeOutputReference(reference))
  const made = block.flatMap(({ body, outputs }, position) =>
    outputs.map((output, index) => ({
      outref: hex({ transactionId: blake2b256(body), index }),
      position,
      hash: toHex(blake2b256(output)),
    })),
  )
  const spends = block.flatMap(({ inputs }, position) =>
    inputs.map((reference) => ({ outref: hex(reference), position })),
  )
  const old = (outref: string) => {
    const output = before.get(outref)
    return output === undefined ? '00'.repeat(32) : toHex(blake2b256(output))
  }
  const creator = (outref: string) => made.find((one) => one.outref === outref)
  const hashOf = (outref: string) => creator(outref)?.hash ?? old(outref)
  const number = (value: number | bigint) => value.toString(16).padStart(16, '0')
  for (const { outref } of [...made, ...spends]) {
    const created = creator(outref)?.position ?? -1
    const spent = spends.find((one) => one.outref === outref)?.position ?? -1
    map.set(outref, number(created + 1) + number(spent + 1) + hashOf(outref))
  }
  let fees = 0n
  const chunks = chunksOf(block)
  for (const [n, { first, bytes }] of chunks.entries())
    map.set(toHex(uint32(n)), `03${number(first)}${number(chunks.length)}${toHex(blake2b256(bytes))}`)
  for (const [position, { body, witnessSet, inputs, referenceInputs, fee }] of block.entries()) {
    fees = (fees + fee) % 2n ** 64n
    const resolved = [...inputs, ...referenceInputs].map((reference) => hashOf(hex(reference))).join('')
    const hashes = [body, witnessSet, Buffer.from(resolved, 'hex')].map((bytes) => toHex(blake2b256(bytes)))
    const lengths = [body, witnessSet].map((part) => toHex(uint32(part.length)))
    map.set(number(position), `02${hashes.join('')}${number(fees)}${lengths.join('')}`)
  }
  return map
}

const entriesOf = (derived: DerivedBlock) =>
  new Map(Array.from(derived.entries(), ([entry, value]) => [toHex(entry), toHex(value)]))

/** Blocks whose transactions also spend twice, read spent outputs, come too early, repeat, or are broken. */
const blocks = fc
  .array(
    fc.record({
      inputs: fc.uniqueArray(fc.nat(30), { maxLength: 4 }),
      referenceInputs: fc.uniqueArray(fc.nat(30), { maxLength: 3 }),
      amounts: fc.array(fc.bigInt(0n, 1000n), { maxLength: 3 }),
      fee: fc.oneof(fc.bigInt(0n, 1000n), fc.constant(2n ** 64n - 1n)),
      flaw: fc.oneof(
        { weight: 8, arbitrary: fc.constant<Flaw>('none') },
        fc.constantFrom<Flaw>('witnesses', 'rest', 'body', 'garbage'),
      ),
      place: fc.nat(),
    }),
    { maxLength: 12 },
  )
  .map((plans) => {
    const known: OutputReference[] = [...genesis]
    const made = plans.map(({ inputs, referenceInputs, amounts, fee, flaw, place }) => {
      const pick = (picks: readonly number[]) => [...new Set(picks.map((n) => known[n % known.length]!))]
      const transaction = make(pick(inputs), pick(referenceInputs), amounts, fee, flaw)
      known.push(...amounts.map((_, index) => ({ transactionId: blake2b256(transaction.body), index })))
      return { transaction, place }
    })
    const mixed = made.some(({ place }) => place % 3 === 0)
    return (mixed ? made.toSorted((a, b) => a.place - b.place) : made).map(({ transaction }) => transaction)
  })

describe('the transactions map', () => {
  it('is the one of the definition, whatever the block', () => {
    fc.assert(
      fc.property(blocks, (block) => {
        const derived = deriveBlock(
          block.map(({ cbor }) => cbor),
          hashBefore,
        )
        expect(entriesOf(derived)).toEqual(modelOf(block))
      }),
      { numRuns: 300 },
    )
  })

  it('has the chunks of the definition, whatever the lengths', () => {
    const lengths = fc.oneof(
      fc.integer({ min: 0, max: 3000 }),
      // Alone, with the three lengths of its frames, it just fits or does not.
      fc.constantFrom(maxChunkLength - 24, maxChunkLength - 13, maxChunkLength - 12, maxChunkLength - 11),
      fc.integer({ min: maxChunkLength, max: 3 * maxChunkLength }),
    )
    fc.assert(
      fc.property(fc.array(lengths, { maxLength: 30 }), (block) => {
        const made = block.map((length, n) => wholeOf(new Uint8Array(length).fill(n)))
        const transactions = made.map(({ cbor }) => cbor)
        expect(entriesOf(deriveBlock(transactions, hashBefore))).toEqual(modelOf(made))
      }),
      { numRuns: 100 },
    )
  })

  it('exists for any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), (block) => {
        const derived = deriveBlock(block, hashBefore)
        expect(derived.transactions).toHaveLength(block.length)
        for (const [, { length }] of derived.entries()) expect([48, 49, 113]).toContain(length)
      }),
    )
  })

  it('is the same for decoded transactions', () => {
    const parent = make([genesis[0]!], [genesis[1]!], [1n, 2n], 5n)
    const child = make([{ transactionId: blake2b256(parent.body), index: 0 }], [], [1n], 6n)
    const cbors = [parent.cbor, child.cbor]
    expect(entriesOf(deriveBlock(cbors.map(decodeTransaction), hashBefore))).toEqual(
      entriesOf(deriveBlock(cbors, hashBefore)),
    )
  })

  it('proves what it has and what it lacks', async () => {
    const block = [make([genesis[0]!], [], [1n, 2n], 5n), make([genesis[1]!], [genesis[2]!], [1n], 6n)]
    const derived = deriveBlock(
      block.map(({ cbor }) => cbor),
      hashBefore,
    )
    const map = await createTransactionsMap(derived)
    const grown = createTrie({ store: createMemoryStore() })
    for (const [entry, value] of derived.entries()) grown.insert(entry, value)
    expect(map.root).toEqual(grown.root)

    const record = encodeTransactionRecord(derived.transactions[1]!)
    expect(verifyInclusion(map.root, transactionKey(1), record, map.proveTransaction(1))).toBe(true)
    expect(verifyExclusion(map.root, transactionKey(2), map.proveNoTransaction(2))).toBe(true)
    for (const output of derived.outputs.values())
      expect(
        verifyInclusion(map.root, output.outref, encodeOutputRecord(output), map.proveOutput(output.outref)),
      ).toBe(true)
    // Only read, so the block does nothing with it.
    const read = encodeOutputReference(genesis[2]!)
    expect(verifyExclusion(map.root, read, map.proveNoOutput(read))).toBe(true)
    expect(() => map.proveOutput(read)).toThrow(expect.objectContaining({ code: 'TRIE_KEY_MISSING' }))
    expect(() => map.proveNoTransaction(0)).toThrow(expect.objectContaining({ code: 'TRIE_KEY_EXISTS' }))
  })
})

describe('events', () => {
  const bridge = new Uint8Array(28).fill(0xb1)
  const deposit = { id: new Uint8Array(32).fill(0xdd), output: outputOf(key, 7n) }
  const reference = { transactionId: deposit.id, index: 0 }
  const kept = outputOf(key, 5n)
  const left = encodeOutput({ address: Uint8Array.of(0x70, ...bridge), lovelace: 3n })
  const spending = (inputs: readonly OutputReference[], outputs: readonly Uint8Array[]) => {
    const writer = new CborWriter().array(4).map(3)
    writer.uint(0).array(inputs.length)
    for (const input of inputs) writer.raw(encodeOutputReference(input))
    writer.uint(1).array(outputs.length)
    for (const output of outputs) writer.raw(output)
    writer.uint(2).uint(0)
    return writer.map(0).boolean(true).null().toBytes()
  }
  const outrefOf = (cbor: Uint8Array, index: number) => ({ transactionId: partsOf(cbor).id, index })
  const [coin, other] = genesis as [OutputReference, OutputReference]
  const keys = (entries: Iterable<TrieEntry>) =>
    [...entries].map(([name, output]) => [toHex(name), toHex(output)])

  it('credits deposits before the first transaction, whenever they are added', () => {
    const cbor = spending([reference, coin], [kept])
    const early = createDerivation()
    early.deposit(deposit)
    early.add(cbor)
    const late = createDerivation()
    late.add(cbor)
    late.deposit(deposit)
    late.deposit({ ...deposit, output: kept })
    for (const derivation of [early, late]) {
      expect(derivation.fault).toBeUndefined()
      const { spent, produced } = derivation.diff()
      expect(spent).toEqual([encodeOutputReference(coin)])
      expect(produced.map(({ output }) => output)).toEqual([kept])
      const derived = derivation.derive(hashBefore)
      expect(keys(derived.deposits())).toEqual([
        [toHex(encodeOutputReference(reference)), toHex(deposit.output)],
      ])
      const record = derived.outputs.get(outputReferenceKey(reference))
      expect(record).toMatchObject({ createdBy: undefined, spentBy: 0 })
      expect(record?.outputHash).toEqual(blake2b256(deposit.output))
    }
  })

  it('notes a deposit that nothing spends, in a block without transactions', () => {
    const derived = deriveBlock([], hashBefore, { deposits: [deposit] })
    expect([...derived.entries()]).toHaveLength(1)
    expect(derived.outputs.get(outputReferenceKey(reference))).toMatchObject({
      createdBy: undefined,
      spentBy: undefined,
    })
  })

  it('lets what is paid to the bridge leave, and only with a bridge', () => {
    const cbor = spending([coin], [kept, left])
    const derivation = createDerivation({ bridge })
    derivation.add(cbor)
    expect(derivation.diff().produced.map(({ output }) => output)).toEqual([kept])
    const derived = derivation.derive(hashBefore)
    expect(keys(derived.withdrawals())).toEqual([
      [toHex(encodeOutputReference(outrefOf(cbor, 1))), toHex(left)],
    ])
    expect(derived.outputs.get(outputReferenceKey(outrefOf(cbor, 1)))).toMatchObject({
      createdBy: 0,
      spentBy: 'bridge',
    })
    const without = createDerivation()
    without.add(cbor)
    expect(without.diff().produced).toHaveLength(2)
    expect([...without.derive(hashBefore).withdrawals()]).toEqual([])
  })

  it('lets nothing spend what has left', () => {
    const leaving = spending([coin], [left])
    const derivation = createDerivation({ bridge })
    derivation.add(leaving)
    derivation.add(spending([other, outrefOf(leaving, 0)], [kept]))
    expect(derivation.fault).toMatchObject({ code: 'BLOCK_DOUBLE_SPEND', position: 1 })
    const record = derivation.derive(hashBefore).outputs.get(outputReferenceKey(outrefOf(leaving, 0)))
    expect(record?.spentBy).toBe('bridge')
  })
})

describe('the derivation names', () => {
  const faultOf = (...block: readonly Made[]) => {
    const derivation = createDerivation()
    for (const { cbor } of block) derivation.add(cbor)
    return derivation.fault
  }

  it('the first contradiction of a block', () => {
    const parent = make([genesis[0]!], [], [1n, 2n], 5n)
    const child = make([{ transactionId: blake2b256(parent.body), index: 0 }], [], [1n], 6n)
    const rival = make([genesis[0]!], [], [7n], 5n)
    expect(faultOf(parent, child)).toBeUndefined()
    expect(faultOf(parent, rival)).toMatchObject({ code: 'BLOCK_DOUBLE_SPEND', position: 1 })
    expect(faultOf(child, parent)).toMatchObject({ code: 'BLOCK_SPENT_BEFORE_PRODUCED', position: 1 })
    expect(faultOf(make([], [], [1n], 0n), make([], [], [1n], 0n))).toMatchObject({
      code: 'BLOCK_OUTPUT_EXISTS',
      position: 1,
    })
    for (const flaw of ['body', 'garbage', 'rest'] as const)
      expect(faultOf(parent, make([genesis[1]!], [], [1n], 1n, flaw))).toMatchObject({
        code: 'BLOCK_TRANSACTION_MALFORMED',
        position: 1,
      })
  })

  it('bytes around body and witness set that do not follow from them', () => {
    const { cbor, body, witnessSet } = make([genesis[0]!], [], [1n], 5n)
    expect(partsOf(cbor).isFramed).toBe(true)
    const framed = (...rest: number[]) =>
      partsOf(Uint8Array.from([0x84, ...body, ...witnessSet, ...rest])).isFramed
    expect(framed(0xf5, 0xf6)).toBe(true)
    expect(framed(0xf4, 0xf6)).toBe(false)
    expect(framed(0xf5, 0xa0)).toBe(false)
    expect(framed(0xf5, 0xf6, 0x00)).toBe(false)
    expect(framed(0xf5)).toBe(false)
    // An array of indefinite length is no transaction to the derivation.
    const open = Uint8Array.from([0x9f, ...body, ...witnessSet, 0xf5, 0xf6, 0xff])
    expect(partsOf(open)).toMatchObject({ isDecoded: false, body: open })
    expect(partsOf(decodeTransaction(open))).toEqual(partsOf(open))
  })

  it('auxiliary data by their hash in the body', () => {
    const data = Uint8Array.of(0xa1, 0x01, 0x02)
    const withHash = (hash: Uint8Array) => {
      const writer = new CborWriter().map(4).uint(0).array(0).uint(1).array(0).uint(2).uint(0)
      const body = writer.uint(7).bytes(hash).toBytes()
      return Uint8Array.from([0x84, ...body, 0xa0, 0xf5, ...data])
    }
    expect(partsOf(withHash(blake2b256(data))).isFramed).toBe(true)
    expect(partsOf(decodeTransaction(withHash(blake2b256(data)))).isFramed).toBe(true)
    expect(partsOf(withHash(new Uint8Array(32))).isFramed).toBe(false)
  })
})

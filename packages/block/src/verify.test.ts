import { CborWriter, concatBytes, equalBytes, toHex } from '@ratatosk/cbor'
import { keyOf, transfer } from '@ratatosk/fixtures'
import { blake2b256, decodeTransaction, encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import { createMemoryStore, emptyRoot } from '@ratatosk/trie'
import { describe, expect, it } from 'vitest'
import { type BlockBody, decodeBlockBody, encodeBlockBody } from './body.js'
import { bodyOf, deriveBlock } from './derivation/derive.js'
import { transactionsRoot } from './derivation/transactions-map.js'
import { BlockError } from './errors.js'
import { blockVersion, type Header } from './header.js'
import { createOutputTrie } from './output-trie.js'
import { vector, vectorMap } from './test/vector.js'
import { verifyBody } from './verify.js'

const body = decodeBlockBody(vector('body'))
const header: Header = {
  prevUtxosRoot: vector('prev_utxos_root'),
  utxosRoot: vector('utxos_root'),
  transactionsRoot: vector('transactions_root'),
  depositsRoot: emptyRoot(),
  withdrawalsRoot: emptyRoot(),
  startTime: 0n,
  endTime: 1n,
  prevHeaderHash: new Uint8Array(28),
  operatorVkey: new Uint8Array(28),
  blockVersion,
}

const key = keyOf(1)
const genesis = { transactionId: new Uint8Array(32).fill(0xaa), index: 0 }
const hashBefore = (outref: Uint8Array) =>
  equalBytes(outref, encodeOutputReference(genesis)) ? blake2b256(vector('genesis')) : undefined
const headerOf = async (transactions: readonly Uint8Array[]): Promise<Header> => ({
  ...header,
  transactionsRoot: await transactionsRoot(deriveBlock(transactions, hashBefore)),
})

/** Rejects also if no body of the header is acceptable. */
async function verify(given: BlockBody, of: Header, before = hashBefore, bridge?: Uint8Array): Promise<void> {
  const { error } = await verifyBody(given, of, () => before, { bridge })
  if (error !== undefined) throw error
}

describe('the test vector of docs/block-body.md', () => {
  it('is the body that follows from its transactions', () => {
    expect(encodeBlockBody(bodyOf(body.transactions))).toEqual(vector('body'))
  })

  it('belongs to its header', async () => {
    await verify(body, header)
  })

  it('has the transactions map of the document', () => {
    const entries = [...deriveBlock(body.transactions, hashBefore).entries()]
    expect(entries.map(([entry, value]) => [toHex(entry), toHex(value)])).toEqual(vectorMap())
  })

  it('leads from the previous UTxO root to the next', async () => {
    const trie = createOutputTrie({ store: createMemoryStore() })
    await trie.rebuild([[body.spent[0]!, vector('genesis')]])
    expect(trie.root).toEqual(vector('prev_utxos_root'))
    await trie.applyBlock(body, header)
    expect(trie.root).toEqual(vector('utxos_root'))
  })
})

describe('the test vector with events of docs/block-body.md', () => {
  const bridge = vector('bridge')
  const bridged = decodeBlockBody(vector('bridged_body'), undefined, true)
  const { transactions, deposits = [] } = bridged
  const ofBridge: Header = {
    ...header,
    utxosRoot: vector('bridged_utxos_root'),
    transactionsRoot: vector('bridged_transactions_root'),
    depositsRoot: vector('deposits_root'),
    withdrawalsRoot: vector('withdrawals_root'),
  }

  it('is the body that follows from its deposits and transactions', () => {
    expect(encodeBlockBody(bodyOf(transactions, { deposits, bridge }))).toEqual(vector('bridged_body'))
    expect(bridged.produced).toHaveLength(2)
    expect(deposits).toHaveLength(1)
  })

  it('belongs to its header, and to none without the bridge', async () => {
    await verify(bridged, ofBridge, hashBefore, bridge)
    await expect(verify(bodyOf(transactions), ofBridge)).rejects.toMatchObject({ code: 'BLOCK_INVALID' })
    expect(() => decodeBlockBody(vector('bridged_body'))).toThrow(BlockError)
  })

  it('has the maps of the document', () => {
    const derived = deriveBlock(transactions, hashBefore, { deposits, bridge })
    const entries = [...derived.entries()]
    expect(entries.map(([entry, value]) => [toHex(entry), toHex(value)])).toEqual(vectorMap('bridged-map'))
    expect([...derived.withdrawals()].map(([, output]) => output)).toEqual([vector('leaving')])
    expect([...derived.deposits()].map(([, output]) => output)).toEqual(deposits.map(({ output }) => output))
  })

  it('leads from the previous UTxO root to the next', async () => {
    const trie = createOutputTrie({ store: createMemoryStore() })
    await trie.rebuild([[bridged.spent[0]!, vector('genesis')]])
    await trie.applyBlock(bridged, ofBridge)
    expect(trie.root).toEqual(vector('bridged_utxos_root'))
  })

  it.each([
    ['another deposit', 'BLOCK_BODY_MISMATCH', { depositsRoot: new Uint8Array(32).fill(1) }],
    ['no deposit', 'BLOCK_BODY_MISMATCH', { depositsRoot: emptyRoot() }],
    ['another withdrawal', 'BLOCK_INVALID', { withdrawalsRoot: new Uint8Array(32).fill(1) }],
    ['no withdrawal', 'BLOCK_INVALID', { withdrawalsRoot: emptyRoot() }],
  ] as const)('does not belong to a header with %s', async (_, code, change) => {
    const other = { ...ofBridge, ...change }
    await expect(verify(bridged, other, hashBefore, bridge)).rejects.toMatchObject({ code })
  })
})

describe('verifyBody refuses', () => {
  const refused = (wrong: BlockBody, code = 'BLOCK_BODY_MISMATCH', of = header) =>
    expect(verify(wrong, of)).rejects.toMatchObject({ code })

  it('a body that lacks a transaction, adds one, repeats one, or has one that does not decode', async () => {
    const [first, second] = body.transactions as [Uint8Array, Uint8Array]
    const other = transfer(key, [{ transactionId: new Uint8Array(32), index: 1 }], [1n]).cbor
    await refused({ ...body, transactions: [first] })
    await refused({ ...body, transactions: [first, second, other] })
    await refused({ ...body, transactions: [first, second, second] })
    await refused({ ...body, transactions: [first, Uint8Array.of(0x80)] })
  })

  it('a body with a changed witness, although every transaction id stays the same', async () => {
    const [first, second] = body.transactions as [Uint8Array, Uint8Array]
    const forged = Uint8Array.from(second)
    forged[forged.length - 10]! ^= 1
    await refused({ ...body, transactions: [first, forged] })
  })

  it('transactions in another order', async () => {
    await refused({ ...body, transactions: [...body.transactions].reverse() })
  })

  it('a diff that does not follow from the transactions', async () => {
    const [output, other] = body.produced as [BlockBody['produced'][0], BlockBody['produced'][0]]
    await refused({ ...body, spent: [] })
    await refused({ ...body, produced: [output] })
    await refused({ ...body, produced: [output, { ...other, output: output.output }] })
    await refused({ ...body, produced: [output, { ...other, outref: body.spent[0]! }] })
  })

  it('bytes around body and witness set that are not those of the header', async () => {
    const [first, second] = body.transactions as [Uint8Array, Uint8Array]
    const marked = Uint8Array.from(second)
    marked[marked.length - 2] = 0xf4
    await refused({ ...body, transactions: [first, marked] })
  })

  it('an honest body beside other outputs than those before the block', async () => {
    await expect(verify(body, header, () => undefined)).rejects.toMatchObject({
      code: 'BLOCK_BODY_MISMATCH',
    })
  })

  it('a block whose own transactions contradict each other, as invalid', async () => {
    const rivals = [transfer(key, [genesis], [1n]), transfer(key, [genesis], [2n])].map(({ cbor }) => cbor)
    const reversed = [...body.transactions].reverse()
    const malformed = [body.transactions[0]!, Uint8Array.of(0x80)]
    const unframed = [body.transactions[0]!, body.transactions[1]!.with(-2, 0xf4)]
    for (const [transactions, code] of [
      [rivals, 'BLOCK_DOUBLE_SPEND'],
      [reversed, 'BLOCK_SPENT_BEFORE_PRODUCED'],
      [malformed, 'BLOCK_TRANSACTION_MALFORMED'],
      [unframed, 'BLOCK_TRANSACTION_MALFORMED'],
    ] as const) {
      const invalid = bodyOf(transactions)
      expect(decodeBlockBody(encodeBlockBody(invalid))).toEqual(invalid)
      await expect(verify(invalid, await headerOf(transactions))).rejects.toMatchObject({
        code: 'BLOCK_INVALID',
        position: 1,
        cause: { code },
      })
    }
  })

  it('a block of 1,025 chunks, as invalid', async () => {
    const witnessSet = new CborWriter().map(1).uint(9).bytes(new Uint8Array(6100)).toBytes()
    const transactions = Array.from({ length: 1025 }, (_, index) => {
      const { body } = decodeTransaction(transfer(key, [{ ...genesis, index }], [1n]).cbor)
      return concatBytes(Uint8Array.of(0x84), body.bytes, witnessSet, Uint8Array.of(0xf5, 0xf6))
    })
    const most = transactions.slice(1)
    await verify(bodyOf(most), await headerOf(most))
    await expect(verify(bodyOf(transactions), await headerOf(transactions))).rejects.toMatchObject({
      code: 'BLOCK_INVALID',
      position: 1024,
      cause: { code: 'BLOCK_TOO_LARGE' },
    })
  })

  it('a header of another block version, or with deposits or withdrawals, as invalid', async () => {
    await refused(body, 'BLOCK_INVALID', { ...header, blockVersion: 2n })
    await refused(body, 'BLOCK_INVALID', { ...header, depositsRoot: header.utxosRoot })
    await refused(body, 'BLOCK_INVALID', { ...header, withdrawalsRoot: header.utxosRoot })
  })
})

describe('bodyOf', () => {
  it('omits outputs that the block both produces and spends, in a chain of any length', () => {
    const transactions: Uint8Array[] = []
    let input: OutputReference = genesis
    for (let n = 0; n < 20; n++) {
      const { id, cbor } = transfer(key, [input], [BigInt(n + 1), 1n])
      transactions.push(cbor)
      input = { transactionId: id, index: 0 }
    }
    const { spent, produced } = bodyOf(transactions)
    expect(spent).toEqual(body.spent)
    // The second output of each transaction, and the first output of the last.
    expect(produced).toHaveLength(21)
  })
})

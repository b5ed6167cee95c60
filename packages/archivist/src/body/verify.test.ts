import type { Header } from '@ratatosk/contracts'
import type { OutputReference } from '@ratatosk/ledger'
import { createMemoryStore, createTrie } from '@ratatosk/trie'
import { describe, expect, it } from 'vitest'
import { keyOf, transfer } from '../test/transfers.js'
import { vector } from '../test/vector.js'
import { decodeBlockBody } from './decode.js'
import { bodyOf } from './diff.js'
import { encodeBlockBody } from './encode.js'
import type { BlockBody } from './types.js'
import { diffOperations, verifyBody } from './verify.js'

const body = decodeBlockBody(vector('body'))
const header: Header = {
  prevUtxosRoot: vector('prev_utxos_root'),
  utxosRoot: vector('utxos_root'),
  transactionsRoot: vector('transactions_root'),
  depositsRoot: new Uint8Array(32),
  withdrawalsRoot: new Uint8Array(32),
  startTime: 0n,
  endTime: 1n,
  prevHeaderHash: new Uint8Array(28),
  operatorVkey: new Uint8Array(28),
  protocolVersion: 0n,
}

const key = keyOf(1)
const genesis = { transactionId: new Uint8Array(32).fill(0xaa), index: 0 }

describe('the vector of docs/block-body.md', () => {
  it('follows from its transactions', () => {
    expect(encodeBlockBody(bodyOf(body.transactions))).toEqual(vector('body'))
  })

  it('fits its transactions root', async () => {
    await verifyBody(body, header)
  })

  it('leads from one root of the unspent outputs to the other', () => {
    const trie = createTrie({ store: createMemoryStore() })
    trie.insert(body.spent[0]!, vector('genesis'))
    expect(trie.root).toEqual(vector('prev_utxos_root'))
    expect(trie.update(diffOperations(body))).toEqual(vector('utxos_root'))
  })
})

describe('a body is refused', () => {
  const refused = (wrong: BlockBody, code = 'BODY_FOREIGN', of = header) =>
    expect(verifyBody(wrong, of)).rejects.toMatchObject({ code })

  it('without one of its transactions, with another, with one twice, with bytes that are none', async () => {
    const [first, second] = body.transactions as [Uint8Array, Uint8Array]
    const other = transfer(key, [{ transactionId: new Uint8Array(32), index: 1 }], [1n]).cbor
    await refused({ ...body, transactions: [first] })
    await refused({ ...body, transactions: [first, second, other] })
    await refused({ ...body, transactions: [first, second, second] })
    await refused({ ...body, transactions: [first, Uint8Array.of(0x80)] })
  })

  it('with a witness changed, though every transaction keeps its id', async () => {
    const [first, second] = body.transactions as [Uint8Array, Uint8Array]
    const forged = Uint8Array.from(second)
    forged[forged.length - 10]! ^= 1
    await refused({ ...body, transactions: [first, forged] })
  })

  it('with its transactions in an order in which they cannot stand', async () => {
    await refused({ ...body, transactions: [...body.transactions].reverse() })
  })

  it('with a diff that does not follow', async () => {
    const [output, other] = body.produced as [BlockBody['produced'][0], BlockBody['produced'][0]]
    await refused({ ...body, spent: [] })
    await refused({ ...body, produced: [output] })
    await refused({ ...body, produced: [output, { ...other, output: output.output }] })
    await refused({ ...body, produced: [output, { ...other, outref: body.spent[0]! }] })
  })

  it('as an invalid block where its own transactions spend an output twice, or the header has deposits', async () => {
    const transactions = [transfer(key, [genesis], [1n]), transfer(key, [genesis], [2n])]
    const trie = createTrie({ store: createMemoryStore() })
    for (const { id, cbor } of transactions) trie.insert(id, cbor)
    const twice = { ...body, transactions: transactions.map(({ cbor }) => cbor) }
    await refused(twice, 'BLOCK_INVALID', { ...header, transactionsRoot: trie.root })
    await refused(body, 'BLOCK_INVALID', { ...header, depositsRoot: header.utxosRoot })
    await refused(body, 'BLOCK_INVALID', { ...header, withdrawalsRoot: header.utxosRoot })
  })
})

describe('what a block does', () => {
  it('leaves out what it makes and spends itself, however long the chain', () => {
    const transactions: Uint8Array[] = []
    let input: OutputReference = genesis
    for (let n = 0; n < 20; n++) {
      const { id, cbor } = transfer(key, [input], [BigInt(n + 1), 1n])
      transactions.push(cbor)
      input = { transactionId: id, index: 0 }
    }
    const { spent, produced } = bodyOf(transactions)
    expect(spent).toEqual(body.spent)
    // One output of each is left, and the last one's first.
    expect(produced).toHaveLength(21)
  })
})

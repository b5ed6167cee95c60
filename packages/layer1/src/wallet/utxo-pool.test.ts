import { blake2b256, decodeTransaction, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { encodeBody, encodeTransaction, encodeWitnesses, toOutput } from '@ratatosk/ledger/builder'
import { describe, expect, it } from 'vitest'
import { keys } from '../test/devnet-harness.js'
import { createUtxoPool, type InFlightTransaction } from './open-wallet.js'

const output = toOutput({
  address: keys.address.bytes,
  value: { lovelace: 5_000_000n, assets: new Map() },
  datum: { kind: 'none' },
})

const utxo = (name: string, index = 0): Utxo => ({
  reference: { transactionId: blake2b256(Buffer.from(name)), index },
  output,
})

/** A transaction that spends and makes outputs of the wallet. */
function transaction(
  spent: readonly Utxo[],
  validUntil?: bigint,
  collateral: readonly Utxo[] = [],
): InFlightTransaction {
  const body = encodeBody({
    inputs: spent.map(({ reference }) => reference),
    outputs: [output.bytes],
    fee: 1n,
    ...(validUntil !== undefined && { validUntil }),
    collateral: [],
    requiredSigners: [],
    referenceInputs: [],
  })
  const witnesses = encodeWitnesses({ keyWitnesses: [], scripts: [], datums: [], redeemers: [] })
  const decoded = decodeTransaction(encodeTransaction(body, witnesses))
  const produced = [{ reference: { transactionId: decoded.id, index: 0 }, output }]
  return { id: decoded.id, transaction: decoded, spent, collateral, produced }
}

function openPool() {
  const clock = { time: 0 }
  const pool = createUtxoPool({ owns: () => true, withholdMs: 1000, now: () => clock.time })
  const free = () => pool.free().map(({ reference }) => outputReferenceKey(reference))
  const key = ({ reference }: Utxo) => outputReferenceKey(reference)
  return { pool, clock, free, key }
}

const [a, b] = [utxo('a'), utxo('b')]

describe('output pool of a wallet', () => {
  it('reserves the inputs and collateral of a pending transaction and frees its outputs', () => {
    const { pool, free, key } = openPool()
    pool.refresh([a, b], 0n)
    const held = transaction([a], undefined, [b])
    pool.hold(held)
    expect(free()).toEqual([key(held.produced[0]!)])
    pool.release(held.id)
    expect(free()).toEqual([key(a), key(b)])
  })

  it('releases a transaction together with those that spend its outputs', () => {
    const { pool, free, key } = openPool()
    pool.refresh([a], 0n)
    const first = transaction([a])
    const second = transaction(first.produced.slice(0, 1))
    const third = transaction(second.produced.slice(0, 1))
    for (const held of [first, second, third]) pool.hold(held)
    expect(free()).toEqual([key(third.produced[0]!)])
    pool.release(second.id)
    expect(pool.inFlight()).toEqual([first.id])
    expect(free()).toEqual([key(first.produced[0]!)])
  })

  it('offers neither spent nor intermediate outputs of a confirmed chain', () => {
    const { pool, free, key, clock } = openPool()
    pool.refresh([a], 0n)
    const first = transaction([a])
    const second = transaction(first.produced.slice(0, 1))
    pool.hold(first)
    pool.hold(second)
    pool.refresh(second.produced, 1n)
    expect(pool.inFlight()).toEqual([])
    expect(free()).toEqual([key(second.produced[0]!)])
    // An answer from an older block.
    pool.refresh([a], 0n)
    expect(free()).toEqual([])
    clock.time = 1000
    pool.refresh([a], 2n)
    expect(free()).toEqual([key(a)])
  })

  it('drops a transaction and its outputs if another one spends its input', () => {
    const { pool, free, key } = openPool()
    pool.refresh([a, b], 0n)
    const loser = transaction([a])
    pool.hold(loser)
    pool.hold(transaction(loser.produced.slice(0, 1)))
    pool.refresh([b], 1n)
    expect(pool.inFlight()).toEqual([])
    expect(free()).toEqual([key(b)])
  })

  it('frees the inputs of a transaction whose validity interval has ended', () => {
    const { pool, free, key } = openPool()
    pool.refresh([a], 0n)
    const held = transaction([a], 10n)
    pool.hold(held)
    pool.refresh([a], 9n)
    expect(pool.inFlight()).toEqual([held.id])
    pool.refresh([a], 10n)
    expect(pool.inFlight()).toEqual([])
    expect(free()).toEqual([key(a)])
  })
})

import { alice, aliceGenesis, bob, type Draft, draft, first } from '@ratatosk/test-kit/ledger-apis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDevnet } from '../create-devnet.js'
import { createMemoryStore } from '../store/store.js'
import type { Devnet } from '../types.js'

const deposit = 2_000_000n
const credential = { kind: 'key', hash: alice.hash } as const
const register = { registers: true, keyHash: alice.hash, deposit }
/** The Shelley form of the same certificate: not a duplicate in the set of certificates. */
const olderForm = { registers: true, keyHash: alice.hash }
const unregister = { registers: false, keyHash: alice.hash, deposit }
const store = createMemoryStore()

let devnet: Devnet
beforeEach(async () => {
  devnet = await createDevnet({ genesis: aliceGenesis, blockEveryMs: 0 })
})
afterEach(() => devnet.close())

/** A balanced transaction of Alice's, with `balance` lovelace of deposits paid (negative) or received. */
function balanced(draftOf: Partial<Draft>, balance: bigint, input = first, held = 100_000_000n) {
  return draft({
    inputs: [input],
    outputs: [{ address: alice.addressBytes, lovelace: held - 200_000n + balance }],
    fee: 200_000n,
    signers: [alice],
    ...draftOf,
  })
}

async function predicates(cbor: Uint8Array): Promise<string[]> {
  const result = await devnet.submit(cbor)
  return result.kind === 'rejected' ? result.failures.map(({ predicate }) => predicate) : [result.kind]
}

describe('stake credentials', () => {
  it('are registered and unregistered for their deposit, also by roll-backs', async () => {
    const one = balanced({ certificates: [register] }, -deposit)
    expect(await predicates(one.cbor)).toEqual(['accepted'])
    await devnet.produceBlock()
    expect(devnet.stakeDeposit(credential)).toBe(deposit)
    const two = balanced({ certificates: [unregister] }, deposit, `${one.hash}#0`, 97_800_000n)
    expect(await predicates(two.cbor)).toEqual(['accepted'])
    await devnet.produceBlock()
    expect(devnet.stakeDeposit(credential)).toBeUndefined()
    await devnet.rollBack(1)
    expect(devnet.stakeDeposit(credential)).toBe(deposit)
    await devnet.rollBack(1)
    expect(devnet.stakeDeposit(credential)).toBeUndefined()
  })

  it('are visible to later pending transactions and after a restart', async () => {
    const earlier = await createDevnet({ store, genesis: aliceGenesis, blockEveryMs: 0 })
    const one = balanced({ certificates: [olderForm] }, -deposit)
    await earlier.submit(one.cbor)
    const two = balanced({ certificates: [unregister] }, deposit, `${one.hash}#0`, 97_800_000n)
    expect(await earlier.submit(two.cbor)).toMatchObject({ kind: 'accepted' })
    await earlier.produceBlock()
    const three = balanced({ certificates: [register] }, -deposit, `${two.hash}#0`, 99_600_000n)
    await earlier.submit(three.cbor)
    await earlier.produceBlock()
    await earlier.close()
    const restarted = await createDevnet({ store, genesis: aliceGenesis, blockEveryMs: 0 })
    expect(restarted.stakeDeposit(credential)).toBe(deposit)
    await restarted.close()
  })

  it('cannot be registered twice or unregistered without registration', async () => {
    expect(await predicates(balanced({ certificates: [register, olderForm] }, -2n * deposit).cbor)).toEqual([
      'StakeKeyRegisteredDELEG',
    ])
    expect(await predicates(balanced({ certificates: [unregister] }, deposit).cbor)).toEqual([
      'StakeKeyNotRegisteredDELEG',
    ])
    expect(await predicates(balanced({ certificates: [register, unregister] }, 0n).cbor)).toEqual([
      'accepted',
    ])
  })

  it('pay the deposit of the parameters and get back the deposit they paid', async () => {
    const little = { ...register, deposit: 1n }
    expect(await predicates(balanced({ certificates: [little] }, -1n).cbor)).toEqual([
      'IncorrectDepositDELEG',
    ])
    const much = { ...unregister, deposit: 3n * deposit }
    expect(await predicates(balanced({ certificates: [register, much] }, 2n * deposit).cbor)).toEqual([
      'IncorrectDepositDELEG',
    ])
  })

  it('must sign their registration', async () => {
    const certificates = [{ ...register, keyHash: bob.hash }]
    expect(await predicates(balanced({ certificates }, -deposit).cbor)).toEqual(['MissingVKeyWitnessesUTXOW'])
  })
})

describe('withdrawals', () => {
  const account = Uint8Array.from([0xe0, ...alice.hash])

  it('of more than zero are rejected', async () => {
    const one = balanced({ certificates: [register] }, -deposit)
    await devnet.submit(one.cbor)
    const withdrawals = [[account, 5n]] as const
    expect(await predicates(balanced({ withdrawals }, 5n, `${one.hash}#0`, 97_800_000n).cbor)).toEqual([
      'WithdrawalsNotInRewardsCERTS',
    ])
  })

  it('from unregistered accounts, and from keys without a DRep, are rejected', async () => {
    const withdrawals = [[account, 0n]] as const
    expect(await predicates(balanced({ withdrawals }, 0n).cbor)).toEqual(['WithdrawalsNotInRewardsCERTS'])
    const one = balanced({ certificates: [register] }, -deposit)
    await devnet.submit(one.cbor)
    expect(await predicates(balanced({ withdrawals }, 0n, `${one.hash}#0`, 97_800_000n).cbor)).toEqual([
      'ConwayWdrlNotDelegatedToDRep',
    ])
  })
})

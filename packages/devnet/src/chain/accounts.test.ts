import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDevnet } from '../create-devnet.js'
import { createMemoryStore } from '../store/memory-store.js'
import { type Draft, draft } from '../test/draft.js'
import { alice, aliceGenesis, bob, first } from '../test/scenes.js'
import type { Devnet } from '../types.js'

const deposit = 2_000_000n
const credential = { kind: 'key', hash: alice.hash } as const
const register = { registers: true, keyHash: alice.hash, deposit }
/** Says the same, so that it is no duplicate. */
const olderForm = { registers: true, keyHash: alice.hash }
const unregister = { registers: false, keyHash: alice.hash, deposit }
const store = createMemoryStore()

let devnet: Devnet
beforeEach(async () => {
  devnet = await createDevnet({ genesis: aliceGenesis, blockEveryMs: 0 })
})
afterEach(() => devnet.close())

/** A transaction of Alice's that spends one output of 100 ada and balances. */
function of(draftOf: Partial<Draft>, balance: bigint, input = first, held = 100_000_000n) {
  return draft({
    inputs: [input],
    outputs: [{ address: alice.addressBytes, lovelace: held - 200_000n + balance }],
    fee: 200_000n,
    signers: [alice],
    ...draftOf,
  })
}

async function predicates(cbor: Uint8Array): Promise<string[]> {
  const submission = await devnet.submit(cbor)
  return submission.kind === 'rejected'
    ? submission.failures.map(({ predicate }) => predicate)
    : [submission.kind]
}

describe('stake credentials', () => {
  it('are registered and unregistered, for their deposit', async () => {
    const one = of({ certificates: [register] }, -deposit)
    expect(await predicates(one.cbor)).toEqual(['accepted'])
    await devnet.produceBlock()
    expect(devnet.stakeDeposit(credential)).toBe(deposit)
    const two = of({ certificates: [unregister] }, deposit, `${one.hash}#0`, 97_800_000n)
    expect(await predicates(two.cbor)).toEqual(['accepted'])
    await devnet.produceBlock()
    expect(devnet.stakeDeposit(credential)).toBeUndefined()
    await devnet.rollBack(1)
    expect(devnet.stakeDeposit(credential)).toBe(deposit)
    await devnet.rollBack(1)
    expect(devnet.stakeDeposit(credential)).toBeUndefined()
  })

  it('are known to transactions that wait, and after a restart', async () => {
    const kept = await createDevnet({ store, genesis: aliceGenesis, blockEveryMs: 0 })
    const one = of({ certificates: [olderForm] }, -deposit)
    await kept.submit(one.cbor)
    const two = of({ certificates: [unregister] }, deposit, `${one.hash}#0`, 97_800_000n)
    expect(await kept.submit(two.cbor)).toMatchObject({ kind: 'accepted' })
    await kept.produceBlock()
    const three = of({ certificates: [register] }, -deposit, `${two.hash}#0`, 99_600_000n)
    await kept.submit(three.cbor)
    await kept.produceBlock()
    await kept.close()
    const again = await createDevnet({ store, genesis: aliceGenesis, blockEveryMs: 0 })
    expect(again.stakeDeposit(credential)).toBe(deposit)
    await again.close()
  })

  it('are registered once, and unregistered only if they are', async () => {
    expect(await predicates(of({ certificates: [register, olderForm] }, -2n * deposit).cbor)).toEqual([
      'StakeKeyRegisteredDELEG',
    ])
    expect(await predicates(of({ certificates: [unregister] }, deposit).cbor)).toEqual([
      'StakeKeyNotRegisteredDELEG',
    ])
    expect(await predicates(of({ certificates: [register, unregister] }, 0n).cbor)).toEqual(['accepted'])
  })

  it('pay the deposit of the parameters and get back what they paid', async () => {
    const little = { ...register, deposit: 1n }
    expect(await predicates(of({ certificates: [little] }, -1n).cbor)).toEqual(['IncorrectDepositDELEG'])
    const much = { ...unregister, deposit: 3n * deposit }
    expect(await predicates(of({ certificates: [register, much] }, 2n * deposit).cbor)).toEqual([
      'IncorrectDepositDELEG',
    ])
  })

  it('must sign, as the rules of witnesses say', async () => {
    const certificates = [{ ...register, keyHash: bob.hash }]
    expect(await predicates(of({ certificates }, -deposit).cbor)).toEqual(['MissingVKeyWitnessesUTXOW'])
  })
})

describe('withdrawals', () => {
  const account = Uint8Array.from([0xe0, ...alice.hash])

  it('of anything are refused, for there are no rewards', async () => {
    const one = of({ certificates: [register] }, -deposit)
    await devnet.submit(one.cbor)
    const withdrawals = [[account, 5n]] as const
    expect(await predicates(of({ withdrawals }, 5n, `${one.hash}#0`, 97_800_000n).cbor)).toEqual([
      'WithdrawalsNotInRewardsCERTS',
    ])
  })

  it('are refused of accounts that are not registered, and of keys without a DRep', async () => {
    const withdrawals = [[account, 0n]] as const
    expect(await predicates(of({ withdrawals }, 0n).cbor)).toEqual(['WithdrawalsNotInRewardsCERTS'])
    const one = of({ certificates: [register] }, -deposit)
    await devnet.submit(one.cbor)
    expect(await predicates(of({ withdrawals }, 0n, `${one.hash}#0`, 97_800_000n).cbor)).toEqual([
      'ConwayWdrlNotDelegatedToDRep',
    ])
  })
})

import type { Devnet } from '../types.js'
import { draft, unitDatum } from './draft.js'
import { genesisOf, testKey } from './keys.js'
import { scriptAddress } from './scripts.js'

export const alice = testKey(1)
export const bob = testKey(2)
/** Two outputs of 100 ada for Alice. */
export const aliceGenesis = genesisOf([alice.addressBytes, alice.addressBytes])
export const first = `${'11'.repeat(32)}#0`
export const second = `${'11'.repeat(32)}#1`

/** Alice pays Bob 10 ada of 100; the rest is output 1. */
export function payment(input = first) {
  return draft({
    inputs: [input],
    outputs: [
      { address: bob.addressBytes, lovelace: 10_000_000n },
      { address: alice.addressBytes, lovelace: 89_800_000n },
    ],
    fee: 200_000n,
    signers: [alice],
  })
}

/** Locks 20 ada of Alice's with a script, in a block. Returns the output's reference. */
export async function lock(devnet: Devnet, hash: Uint8Array): Promise<string> {
  const locking = draft({
    inputs: [first],
    outputs: [
      { address: scriptAddress(hash), lovelace: 20_000_000n, inlineDatum: unitDatum },
      { address: alice.addressBytes, lovelace: 79_800_000n },
    ],
    fee: 200_000n,
    signers: [alice],
  })
  await devnet.submit(locking.cbor)
  await devnet.produceBlock()
  return `${locking.hash}#0`
}

/** Spends what a script locks, whatever the script says to it. */
export function unlock(output: string, script: Uint8Array) {
  return draft({
    inputs: [output],
    outputs: [{ address: alice.addressBytes, lovelace: 19_700_000n }],
    fee: 300_000n,
    signers: [alice],
    collateral: [second],
    scripts: [script],
    redeemers: [{ tag: 0, index: 0, memory: 10_000n, steps: 10_000_000n }],
  })
}

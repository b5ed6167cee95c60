import { fromHex } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import { draft, unitDatum } from './draft.js'
import { genesisOf, testKey } from './keys.js'

export const alice = testKey(1)
export const bob = testKey(2)
/** Two outputs of 100 ada for Alice. */
export const aliceGenesis = genesisOf([alice.addressBytes, alice.addressBytes])
export const first = `${'11'.repeat(32)}#0`
export const second = `${'11'.repeat(32)}#1`

/** Plutus V3: `(program 1.1.0 (lam context (con unit ())))`. */
export const succeeding = fromHex('450101002499')
/** Plutus V3: `(program 1.1.0 (lam context (error)))`. */
export const failing = fromHex('450101002601')
export const succeedingHash = scriptHash('PlutusV3', succeeding)
export const failingHash = scriptHash('PlutusV3', failing)

/** The enterprise address of a script on a test network. */
function scriptAddress(hash: Uint8Array): Uint8Array {
  return Uint8Array.from([0x70, ...hash])
}

/** A ledger that makes blocks on demand. */
export interface BlockMaker {
  submit(cbor: Uint8Array): Promise<unknown>
  produceBlock(): Promise<unknown>
}

/** Alice pays Bob 10 ada of an output of 100 ada; the change is output 1. */
export function payment(input = first, change = 89_800_000n) {
  return draft({
    inputs: [input],
    outputs: [
      { address: bob.addressBytes, lovelace: 10_000_000n },
      { address: alice.addressBytes, lovelace: change },
    ],
    fee: 200_000n,
    signers: [alice],
  })
}

/** Locks 20 ada of Alice's with a script, in a block. Returns the output reference. */
export async function lock(ledger: BlockMaker, hash: Uint8Array): Promise<string> {
  const locking = draft({
    inputs: [first],
    outputs: [
      { address: scriptAddress(hash), lovelace: 20_000_000n, inlineDatum: unitDatum },
      { address: alice.addressBytes, lovelace: 79_800_000n },
    ],
    fee: 200_000n,
    signers: [alice],
  })
  await ledger.submit(locking.cbor)
  await ledger.produceBlock()
  return `${locking.hash}#0`
}

/** Spends an output that a script locks; Alice's second output is the collateral. */
export function unlock(output: string, script: Uint8Array, isValid = true) {
  return draft({
    inputs: [output],
    outputs: [{ address: alice.addressBytes, lovelace: 19_700_000n }],
    fee: 300_000n,
    signers: [alice],
    collateral: [second],
    scripts: [script],
    redeemers: [{ tag: 0, index: 0, memory: 10_000n, steps: 10_000_000n }],
    isValid,
  })
}

import { blake2b256, type OutputReference } from '@ratatosk/ledger'
import { type Entries, hexOf, payment } from '../blocks.js'
import {
  alice,
  bob,
  datumA,
  datumB,
  dave,
  grace,
  hashOf,
  hashOfNative,
  keyAddressOf,
  locker,
  native,
  outputWith,
  spend,
  type WitnessedDraft,
  witnessed,
} from '../witness/story.js'

/*
 * Transactions as wallets make them: they spend an output of a script and one of a key, and pay two outputs.
 * Each lacks one witness.
 */

/** Two of three sign. */
export const multisig = native.atLeast(2, ...[alice, bob, grace].map(({ hash }) => native.signature(hash)))

const coin = (index: number): OutputReference => ({ transactionId: new Uint8Array(32).fill(0xcc), index })
const ofScript = (hash: Uint8Array, datumHash?: Uint8Array) =>
  outputWith({ address: Uint8Array.of(0x70, ...hash), ...(datumHash && { datumHash }) })

const plutus = {
  signers: [dave],
  plutus: [locker],
  datums: [datumA],
  redeemers: [[spend, 0]],
  languages: [locker.language],
} as const satisfies Partial<WitnessedDraft>

/** The transactions without the part they lack, by the fraud. */
const drafts = {
  nativeScriptFails: { signers: [dave, alice], nativeScripts: [multisig] },
  scriptMissing: { ...plutus, plutus: [] },
  redeemerMissing: { ...plutus, redeemers: [] },
  datumMissing: { ...plutus, datums: [datumB] },
  wrongScriptDataHash: { ...plutus, scriptDataHash: blake2b256(datumA) },
} as const satisfies { readonly [fraud: string]: Partial<WitnessedDraft> }

export type OrdinaryFraud = keyof typeof drafts

/** The transactions, in the order of the frauds. The first input of each is that of the script. */
export const ordinaryTransactions = Object.entries(drafts).map(([fraud, draft], place) => ({
  fraud: fraud as OrdinaryFraud,
  ...witnessed({
    inputs: [coin(2 * place), coin(2 * place + 1)],
    outputs: [payment(1, 3_000_000n), payment(2, 6_800_000n)],
    ...draft,
  }),
}))

/** The outputs that they spend. */
export const ordinaryCoins = (): Entries =>
  new Map(
    ordinaryTransactions.flatMap(({ fraud }, place) => [
      [
        hexOf(coin(2 * place)),
        fraud === 'nativeScriptFails'
          ? ofScript(hashOfNative(multisig))
          : ofScript(hashOf(locker), blake2b256(datumA)),
      ],
      [hexOf(coin(2 * place + 1)), outputWith({ address: keyAddressOf(dave.hash) })],
    ]),
  )

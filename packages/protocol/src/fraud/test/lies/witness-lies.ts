import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256, languageViews, type PlutusLanguage, scriptHash } from '@ratatosk/ledger'
import { keys, otherKeys } from '../../../test/protocol-scene.js'
import { blockOf, type Entries, type Lie, outputsBefore, type Story } from '../lying-blocks.js'
import { coin } from '../theft.js'
import { bytes, keyWitness, list, map, output, type Plan, signed, uint } from './signed.js'

const signature = (hash: Uint8Array) => list(uint(0), bytes(hash))
/** Another operator signs. */
const vault = signature(otherKeys.payment.hash)
/** The owner signs, or one of many others: of more items than layer 2 reads. */
const large = list(
  uint(2),
  list(
    signature(keys.payment.hash),
    ...Array.from({ length: 30 }, (_, n) => signature(new Uint8Array(28).fill(n))),
  ),
)
/** Scripts that never fail. */
const [always2, always3] = [fromHex('4d01000033222220051200120011'), fromHex('450101002499')]
const datum = uint(42)

/** Outputs of 5 ada that scripts guard, by the number of their reference. */
const [ofVault, ofLarge, ofPlutus3, ofPlutus2] = [50, 51, 52, 53] as const
const guarded = (language: 'native' | PlutusLanguage, script: Uint8Array) =>
  output(5_000_000n, Uint8Array.of(0x70, ...scriptHash(language, script)))
const withDatumHash = concatBytes(
  fromHex('a3'),
  guarded('PlutusV2', always2).subarray(1),
  uint(2),
  list(uint(0), bytes(blake2b256(datum))),
)

export const outputsOfLies = (): Entries =>
  new Map([
    ...outputsBefore(),
    [toHex(coin(ofVault)), guarded('native', vault)],
    [toHex(coin(ofLarge)), guarded('native', large)],
    [toHex(coin(ofPlutus3)), guarded('PlutusV3', always3)],
    [toHex(coin(ofPlutus2)), withDatumHash],
  ])

const lie = (what: string, fraud: string, plan: Plan | ((story: Story) => Plan)): Lie => ({
  what,
  policy: 'witness',
  fraud,
  isHidden: false,
  tell(story) {
    const told = typeof plan === 'function' ? plan(story) : plan
    return blockOf([...story.transactions, signed(told)], { outputs: outputsOfLies() })
  },
})

const dataHash = ({ parameters }: Story, language: PlutusLanguage) => {
  const hash = blake2b256(concatBytes(redeemers, languageViews(new Set([language]), parameters)))
  return [11, bytes(hash)] as const
}
const redeemers = map([list(uint(0), uint(1)), list(uint(1), list(uint(100_000), uint(100_000_000)))])

/** Lies about signatures, scripts, redeemers and datums. */
export const witnessLies: readonly Lie[] = [
  lie('that a signature is of these bytes', 'invalidSignature', {
    keyWitnesses: () => [keyWitness(new Uint8Array(32))],
  }),
  lie('that the owner has signed', 'missingSignature', { keyWitnesses: () => [] }),
  lie('that another operator has signed for a vault', 'nativeScriptFails', {
    inputs: [30, ofVault],
    witnesses: [[1, list(vault)]],
  }),
  lie('that a vault opens without its script', 'scriptMissing', { inputs: [30, ofVault] }),
  lie('that a script has allowed it', 'redeemerMissing', {
    inputs: [30, ofPlutus3],
    witnesses: [[7, list(bytes(always3))]],
  }),
  lie('that a script has had its datum', 'datumMissing', (story) => ({
    inputs: [30, ofPlutus2],
    outputs: [output(9_500_000n)],
    fee: 500_000n,
    fields: [[13, list(coin(32))], dataHash(story, 'PlutusV2')],
    witnesses: [
      [5, redeemers],
      [6, list(bytes(always2))],
    ],
  })),
  lie('that a hash is of these redeemers and datums', 'wrongScriptDataHash', {
    fields: [[11, bytes(new Uint8Array(32).fill(9))]],
  }),
  lie('that a native script is short enough', 'unreadableScript', {
    inputs: [30, ofLarge],
    fee: 300_000n,
    outputs: [output(9_700_000n)],
    witnesses: [[1, list(large)]],
  }),
]

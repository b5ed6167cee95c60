import { toHex } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference, profileLimits } from '@ratatosk/ledger'
import { encodeWitnessFraudProof, type WitnessFraudProof } from '@ratatosk/protocol/fraud'
import { witnessFraudScript } from '../../../fraud-scripts.js'
import { parameters } from '../../evaluate.js'
import type { TestBlock } from '../blocks.js'
import type { ProvenLie } from '../minting.js'
import {
  list,
  map,
  openList,
  openMap,
  policy,
  references,
  string,
  uint,
} from '../transaction/transactions.js'
import { needs, prove } from '../witness/lies.js'
import { hashOf, hashOfNative, native, type Plutus } from '../witness/story.js'
import {
  amongMany,
  type Coins,
  coins,
  keyFiller,
  keyWitnesses,
  numbered,
  redeemers,
  type Ways,
  type Worst,
  worst,
} from './largest.js'

/*
 * The costliest proof of each fraud of the witness policy, about the largest transactions.
 */

interface Case {
  readonly what: string
  readonly transaction: Worst
  readonly spends?: Coins
  readonly proof: (position: number) => (block: TestBlock) => WitnessFraudProof
}

const { inputs: maxInputs, keyWitnesses: maxKeys, nativeScriptItems } = profileLimits
const { spent, minted, required } = needs
let used = 5_000
const lovelace = 2n ** 33n

/** As many outputs as may be spent; the last has the address. */
function coinsOf(address: Uint8Array, datumHash?: Uint8Array): Coins {
  const all = coins(used, maxInputs)
  used += maxInputs
  const ofKey = string(Uint8Array.of(0x60, ...policy(3)))
  return all.map((reference, i) => [
    reference,
    i < maxInputs - 1
      ? i % 3 > 0
        ? openMap([uint(0), ofKey], [uint(1), uint(lovelace)])
        : openMap([uint(0), ofKey], [uint(1), uint(lovelace)], [uint(2), list(uint(1), string(ofKey))])
      : openMap(
          [uint(0), string(address)],
          [uint(1), uint(lovelace)],
          ...(datumHash ? [[uint(2), list(uint(0), string(datumHash))] as const] : []),
        ),
  ])
}
const spending = (spends: Coins) => [0, references(spends.map(([reference]) => reference))] as const
const others = [
  [2, uint(200_000)],
  [1, openList(list(string(Uint8Array.of(0x60, ...policy(3))), uint(lovelace)))],
] as const
const ofScript = (hash: Uint8Array) => Uint8Array.of(0x70, ...hash)
const last = maxInputs - 1
const mostRedeemers = profileLimits.redeemers

const signatures = native.any(
  ...Array.from({ length: Math.floor((nativeScriptItems - 3) / 3) }, (_, i) =>
    native.signature(numbered(28, i)),
  ),
)
const times = native.any(
  ...Array.from({ length: Math.floor((nativeScriptItems - 3) / 3) }, (_, i) =>
    i % 2 === 0 ? native.from(2 ** 31) : native.until(0),
  ),
)
const tooLarge = native.all(
  ...Array.from({ length: Math.ceil(nativeScriptItems / 3) }, () => native.until(2 ** 31)),
)
const interval = [
  [8, uint(1)],
  [3, uint(2 ** 31)],
] as const

function onScript(
  what: string,
  script: Uint8Array,
  fraud: 'nativeScriptFails' | 'unreadableScript' = 'nativeScriptFails',
): Case {
  const spends = coinsOf(ofScript(hashOfNative(script)))
  return {
    what,
    spends,
    transaction: worst([...others, spending(spends), ...interval], {
      fields: [[0, keyWitnesses()]],
      filler: keyFiller,
    }),
    proof: (position) => prove[fraud](position, spent(last), script),
  }
}

const plutus: Plutus = { language: 'PlutusV3', bytes: new Uint8Array(14_000).fill(1) }
const mostPolicies = 56
const mint = [
  9,
  openMap(
    ...Array.from(
      { length: mostPolicies },
      (_, i) =>
        [
          string(i === mostPolicies - 1 ? hashOf(plutus) : numbered(28, i)),
          map([string(new Uint8Array()), uint(1)]),
        ] as const,
    ),
  ),
] as const

function cases(): readonly Case[] {
  const ofKey = coinsOf(Uint8Array.of(0x60, ...policy(4)))
  const ofPlutus = coinsOf(ofScript(hashOf(plutus)), blake2b256(numbered(9, 9)))
  const lacking = coinsOf(ofScript(hashOf(plutus)))
  // The last of all inputs in the order of references.
  const pointed = map(
    ...Array.from(
      { length: mostRedeemers },
      (_, i) =>
        [
          list(uint(0), uint(i === mostRedeemers - 1 ? last : 1000 + i)),
          list(uint(i), list(uint(1), uint(1))),
        ] as const,
    ),
  )
  return [
    {
      what: '`invalidSignature`, the last',
      transaction: worst(others, { fields: [[0, keyWitnesses()]], filler: keyFiller }),
      proof: (position) => prove.invalidSignature(position, maxKeys - 1),
    },
    {
      what: '`missingSignature`, of the last input',
      spends: ofKey,
      transaction: worst([...others, spending(ofKey)], { fields: [[0, keyWitnesses()]], filler: keyFiller }),
      proof: (position) => prove.missingSignature(position, spent(last)),
    },
    {
      what: '`missingSignature`, required',
      transaction: worst(others, { fields: [[0, keyWitnesses()]], filler: keyFiller }, 'signers'),
      proof: (position) => prove.missingSignature(position, required(numbered(28, 20))),
    },
    onScript('`nativeScriptFails`, of signatures', signatures),
    onScript('`nativeScriptFails`, of times', times),
    onScript('`unreadableScript`', tooLarge, 'unreadableScript'),
    {
      what: '`scriptMissing`, among the most scripts',
      spends: lacking,
      transaction: worst([...others, spending(lacking)], {
        fields: [
          [3, openList(...Array.from({ length: profileLimits.scripts }, (_, i) => string(numbered(24, i))))],
        ],
        filler: keyFiller,
      }),
      proof: (position) => prove.scriptMissing(position, spent(last)),
    },
    {
      what: '`redeemerMissing`, of the last input',
      spends: lacking,
      transaction: worst([...others, [13, references(coins(900_000, 3))], spending(lacking)], {
        fields: [[5, redeemers(mostRedeemers)]],
        filler: keyFiller,
      }),
      proof: (position) => prove.redeemerMissing(position, spent(last), plutus),
    },
    {
      what: '`redeemerMissing`, of the last policy',
      transaction: worst([...others, mint], { fields: [[5, redeemers(mostRedeemers)]], filler: keyFiller }),
      proof: (position) => prove.redeemerMissing(position, minted(hashOf(plutus)), plutus),
    },
    {
      what: '`datumMissing`, the most redeemers',
      spends: ofPlutus,
      transaction: worst([...others, spending(ofPlutus)], {
        fields: [
          [5, pointed],
          [4, list(uint(1))],
        ],
        filler: keyFiller,
      }),
      proof: (position) => prove.datumMissing(position, last),
    },
    (() => {
      const spends = coinsOf(ofScript(hashOf(plutus)), blake2b256(numbered(9, 9)))
      const one = map([list(uint(0), uint(last)), list(uint(1), list(uint(1), uint(1)))])
      return {
        what: '`datumMissing`, the most datums',
        spends,
        transaction: worst([...others, spending(spends)], {
          fields: [
            [5, one],
            [4, openList(...Array.from({ length: profileLimits.datums }, (_, i) => string(numbered(24, i))))],
          ],
          filler: keyFiller,
        }),
        proof: (position: number) => prove.datumMissing(position, last),
      }
    })(),
    {
      what: '`wrongScriptDataHash`',
      transaction: worst([...others, [11, string(new Uint8Array(32))]], {
        fields: [[5, redeemers(3)]],
        filler: keyFiller,
      }),
      proof: (position) => prove.wrongScriptDataHash(position),
    },
  ]
}

/** The costliest proof of each fraud, and of some the costliest for several reasons. */
export function worstWitnessProofs(ways: Ways = 'many'): ProvenLie[] {
  const all = cases()
  const spends = new Map(
    all.flatMap(({ spends = [] }) =>
      spends.map((coin) => [toHex(encodeOutputReference(coin[0])), coin] as const),
    ),
  )
  const block = amongMany(
    ways,
    all.map(({ transaction }) => transaction.cbor),
    [...spends.values()],
  )
  const { header } = block
  const script = witnessFraudScript(parameters)
  return all.map(({ what, proof }, position) => ({
    what,
    header,
    script,
    redeemer: encodeWitnessFraudProof(header, proof(position)(block)),
  }))
}

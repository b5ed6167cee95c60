import { transactionKey } from '@ratatosk/block'
import { concatBytes, toHex } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference, type OutputReference, profileLimits } from '@ratatosk/ledger'
import {
  encodeLedgerFraudProof,
  type LedgerFraudProof,
  openOutput,
  openTransaction,
  openUnspent,
  proofParts,
  resolutionsOf,
} from '@ratatosk/protocol/fraud'
import { ledgerFraudScript } from '../../../fraud-scripts.js'
import { eight, hexOf, outputRecord, patch, payment, type TestBlock } from '../blocks.js'
import type { ProvenLie } from '../minting.js'
import { openList, references, uint } from '../transaction/transactions.js'
import { amongMany, type Coins, coins, type Ways, type Worst, worst } from './largest.js'

/*
 * The costliest proof of each fraud of the ledger policy that reads a body, about the largest transactions.
 */

const { inputs: maxInputs, outputs: maxOutputs } = profileLimits
const maxRead = Math.floor(maxInputs / 2)
const lovelace = 2n ** 33n
const short = (key: number) => payment(key, lovelace)
const others = [
  [2, uint(200_000)],
  [1, openList(short(1))],
] as const

const coinsFrom = (from: number, count: number): Coins =>
  coins(from, count).map((reference, i) => [reference, short(i + 1)] as const)
const spent = coinsFrom(20_000, maxInputs)
const read = coinsFrom(21_000, maxRead)
const stolen = coinsFrom(22_000, 1)
const keysOf = (all: Coins): OutputReference[] => all.map(([reference]) => reference)

const spender = worst([...others, [0, references(keysOf(spent))]])
const reader = worst([...others, [0, references([])], [18, references(keysOf(read))]])
const maker = worst([
  [2, uint(200_000)],
  [0, references([])],
  [1, openList(...Array.from({ length: maxOutputs - 5 }, (_, i) => short(i + 1)))],
])
const transactions: readonly Worst[] = [spender, reader, maker]
const [ofSpender, ofReader, ofMaker] = [0, 1, 2]
const outputAt = (index: number): OutputReference => ({ transactionId: maker.id, index })
const lastMade = outputAt(maxOutputs - 6)
const beyond = outputAt(maxOutputs)

const hashesOf = (all: Coins) => concatBytes(...all.map(([, output]) => blake2b256(output)))
/** Wrong for the last. */
const claimed = concatBytes(hashesOf(read).subarray(32), new Uint8Array(32))

function block(ways: Ways): TestBlock {
  const noted = [...keysOf(read), ...keysOf(stolen), lastMade, beyond].map(hexOf)
  return amongMany(
    ways,
    transactions.map(({ cbor }) => cbor),
    [...spent, ...read, ...stolen],
    (entries) => {
      patch(entries, hexOf(keysOf(spent).at(-1)!), 8, eight(9n))
      entries.delete(hexOf(lastMade))
      entries.set(hexOf(beyond), outputRecord(3n, 0n, payment(1, 1n)))
      entries.set(hexOf(keysOf(stolen)[0]!), outputRecord(0n, 1n, short(1)))
      const place = (position: number) => toHex(transactionKey(position))
      patch(entries, place(ofSpender), 65, new Uint8Array(32))
      patch(entries, place(ofReader), 65, blake2b256(claimed))
      patch(entries, place(ofMaker), 97, eight(1n))
    },
    noted,
  )
}

function proofs(of: TestBlock): readonly (readonly [what: string, proof: LedgerFraudProof])[] {
  const output = (reference: OutputReference) => openOutput(of, encodeOutputReference(reference))
  const before = (reference: OutputReference) => openUnspent(of.before, encodeOutputReference(reference))
  const opened = [ofSpender, ofReader, ofMaker].map((position) => openTransaction(of, position))
  const [bySpender, byReader, byMaker] = opened as [
    (typeof opened)[0],
    (typeof opened)[0],
    (typeof opened)[0],
  ]
  const [lastSpent, lastRead] = [keysOf(spent).at(-1)!, keysOf(read).at(-1)!]
  const resolved = (all: Coins) =>
    keysOf(all).map((reference) => {
      const opened = output(reference)
      return opened.record ? { output: opened } : { output: opened, before: before(reference) }
    })
  const key = encodeOutputReference(keysOf(stolen)[0]!)
  return [
    [
      '`inputSpentElsewhere`, the last input',
      {
        fraud: 'inputSpentElsewhere',
        transaction: bySpender,
        index: maxInputs - 1,
        output: output(lastSpent),
      },
    ],
    [
      '`spentWithoutInput`, the most inputs',
      { fraud: 'spentWithoutInput', key, output: openOutput(of, key), spender: bySpender },
    ],
    [
      '`outputNotNoted`, the last output',
      { fraud: 'outputNotNoted', transaction: byMaker, index: lastMade.index, output: output(lastMade) },
    ],
    [
      '`inventedOutput`, behind the most outputs',
      {
        fraud: 'inventedOutput',
        key: encodeOutputReference(beyond),
        output: output(beyond),
        maker: { transaction: byMaker, index: beyond.index },
      },
    ],
    [
      '`wrongResolved`, the last reference input',
      {
        fraud: 'wrongResolved',
        transaction: byReader,
        index: maxRead - 1,
        hashes: claimed,
        output: output(lastRead),
        before: before(lastRead),
      },
    ],
    [
      '`wrongResolvedHash`, the most inputs',
      { fraud: 'wrongResolvedHash', resolutions: resolutionsOf(bySpender, resolved(spent)) },
    ],
    [
      '`wrongResolvedHash`, the most reference inputs',
      { fraud: 'wrongResolvedHash', resolutions: resolutionsOf(byReader, resolved(read)) },
    ],
    ['`wrongFees`', { fraud: 'wrongFees', transaction: byMaker, previous: openTransaction(of, ofReader) }],
  ]
}

/** The costliest proof of each fraud that reads a body. */
export function worstLedgerProofs(ways: Ways = 'many'): ProvenLie[] {
  const lying = block(ways)
  const { header } = lying
  const script = ledgerFraudScript()
  return proofs(lying).flatMap(([what, proof]) => {
    const parts = proofParts(header, proof)
    const whole = { what, header, script, redeemer: encodeLedgerFraudProof(header, proof) }
    const [part] = parts
    return [
      { ...whole, parts },
      ...(part
        ? [{ ...whole, what: `${what}, the first part`, redeemer: part.redeemer, part: part.name }]
        : []),
    ]
  })
}

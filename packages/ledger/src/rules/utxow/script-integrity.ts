import { CborWriter, hexOrNull } from '@ratatosk/cbor'
import { blake2b256 } from '#crypto'
import type { ProtocolParameters } from '../../parameters/types.js'
import type { PlutusLanguage, Transaction } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'
import { languagesUsed, type ScriptUse } from '../script-use.js'

export type CostModels = Pick<ProtocolParameters, 'costModels'>

/** Conway's empty map, hashed in place of absent redeemers. */
const noRedeemers = Uint8Array.of(0xa0)

/**
 * Returns the script data hash (Blake2b-256, 32 bytes), which commits a transaction to its redeemers and
 * datums (both as submitted) and to the cost models of the languages that it uses.
 *
 * @param languages the languages of the Plutus scripts that the transaction runs
 * @returns undefined if there are no redeemers, datums and languages: the body must then have no script data
 *   hash
 */
export function scriptIntegrityHash(
  { witnesses }: Transaction,
  languages: ReadonlySet<PlutusLanguage>,
  parameters: CostModels,
): Uint8Array | undefined {
  if (witnesses.redeemers.length === 0 && witnesses.datums.size === 0 && languages.size === 0)
    return undefined
  const preimage = new CborWriter(4096).raw(witnesses.redeemersBytes ?? noRedeemers)
  if (witnesses.datums.size > 0 && witnesses.datumsBytes) preimage.raw(witnesses.datumsBytes)
  return blake2b256(preimage.raw(languageViews(languages, parameters)).toBytes())
}

/**
 * The cost models as they are hashed: a canonical CBOR map, shorter keys first. For compatibility with a
 * mistake in Alonzo, the key and the model of Plutus V1 are CBOR inside byte strings, and the model is an
 * indefinite list.
 */
export function languageViews(
  languages: ReadonlySet<PlutusLanguage>,
  { costModels }: CostModels,
): Uint8Array {
  const views = new CborWriter(4096).map(languages.size)
  for (const [language, key] of [
    ['PlutusV2', 1],
    ['PlutusV3', 2],
  ] as const) {
    if (!languages.has(language)) continue
    const model = costModels[language]
    views.uint(key)
    if (model === undefined) views.null()
    else {
      views.array(model.length)
      for (const cost of model) views.int(cost)
    }
  }
  if (languages.has('PlutusV1')) {
    const view = new CborWriter(1024)
    if (costModels.PlutusV1) {
      view.indefiniteArray()
      for (const cost of costModels.PlutusV1) view.int(cost)
      view.break()
    } else view.null()
    views.bytes(Uint8Array.of(0)).bytes(view.toBytes())
  }
  return views.toBytes()
}

/** UTXOW: PPViewHashesDontMatch, called ScriptIntegrityHashMismatch since ledger version 11. */
export function validateScriptIntegrity(
  transaction: Transaction,
  { parameters }: RuleContext,
  use: ScriptUse,
  findings: Findings,
): void {
  // An unknown input may have a script of another language.
  if (!use.complete) return
  const expected = scriptIntegrityHash(transaction, languagesUsed(use), parameters)
  const supplied = transaction.body.scriptDataHash
  const expectedHex = hexOrNull(expected)
  const suppliedHex = hexOrNull(supplied)
  if (expectedHex === suppliedHex) return
  findings.add(
    parameters.ledgerVersion.major < 11 ? 'PPViewHashesDontMatch' : 'ScriptIntegrityHashMismatch',
    'The script data hash does not match the redeemers, datums and cost models',
    { supplied: suppliedHex, expected: expectedHex },
  )
}

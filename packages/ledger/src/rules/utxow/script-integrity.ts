import { toHex } from '../../bytes.js'
import { CborWriter } from '../../cbor/writer.js'
import { blake2b256 } from '../../crypto/blake2b.js'
import type { ProtocolParameters } from '../../parameters/types.js'
import type { PlutusLanguage, Transaction } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import { languagesUsed, type ScriptUse } from '../script-use.js'
import type { Findings } from '../verdict.js'

type CostModels = Pick<ProtocolParameters, 'costModels'>

/** What stands for redeemers that are absent: Conway's empty map. */
const NO_REDEEMERS = Uint8Array.of(0xa0)

/**
 * The hash that commits a transaction to its redeemers, its datums (both as submitted) and the cost models of the
 * languages that it uses; undefined where it has none of them.
 */
export function scriptIntegrityHash(
  { witnesses }: Transaction,
  languages: ReadonlySet<PlutusLanguage>,
  parameters: CostModels,
): Uint8Array | undefined {
  if (witnesses.redeemers.length === 0 && witnesses.datums.size === 0 && languages.size === 0)
    return undefined
  const preimage = new CborWriter(4096).raw(witnesses.redeemersBytes ?? NO_REDEEMERS)
  if (witnesses.datums.size > 0 && witnesses.datumsBytes) preimage.raw(witnesses.datumsBytes)
  return blake2b256(preimage.raw(languageViews(languages, parameters)).toBytes())
}

/**
 * The cost models as the hash sees them: a canonical CBOR map, shorter keys first. Plutus V1 keeps a mistake of its
 * time: key and model are CBOR inside byte strings, the model an indefinite list.
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

/** UTXOW: PPViewHashesDontMatch, which protocol version 11 calls ScriptIntegrityHashMismatch. */
export function judgeScriptIntegrity(
  transaction: Transaction,
  { parameters }: RuleContext,
  use: ScriptUse,
  findings: Findings,
): void {
  // An unknown input may bring a script of another language.
  if (!use.complete) return
  const expected = scriptIntegrityHash(transaction, languagesUsed(use), parameters)
  const supplied = transaction.body.scriptDataHash
  const expectedHex = expected ? toHex(expected) : null
  const suppliedHex = supplied ? toHex(supplied) : null
  if (expectedHex === suppliedHex) return
  findings.add(
    parameters.protocolVersion.major < 11 ? 'PPViewHashesDontMatch' : 'ScriptIntegrityHashMismatch',
    'The script data hash is not that of the redeemers, datums and cost models',
    { supplied: suppliedHex, expected: expectedHex },
  )
}

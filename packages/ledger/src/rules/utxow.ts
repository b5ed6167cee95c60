import { BytesSet, CborWriter, hexOrNull, toHex } from '@ratatosk/cbor'
import { blake2b224, blake2b256, verifySignature } from '#crypto'
import { bootstrapRoot } from '../address/address.js'
import type { Address, Credential } from '../address/types.js'
import type { ProtocolParameters } from '../parameters/types.js'
import { isPlutusScript } from '../plutus/flat/program.js'
import type {
  NativeScript,
  PlutusLanguage,
  Script,
  Transaction,
  TransactionOutput,
  ValidityInterval,
} from '../transaction/types.js'
import type { Resolution, ResolvedInput, RuleContext } from './context.js'
import type { Findings, Json } from './predicates.js'
import { languagesUsed, type ScriptUse } from './script-use.js'
import { allOutputs } from './utxo.js'

/** The hashes of the keys that have signed. Bootstrap witnesses do not count for native scripts. */
export function signatories({ witnesses }: Transaction): BytesSet {
  return new BytesSet(witnesses.keyWitnesses.map(({ publicKey }) => blake2b224(publicKey)))
}

/**
 * UTXOW: MissingVKeyWitnessesUTXOW. Signatures are required for spent and collateral inputs (a Byron address
 * needs a bootstrap witness with its root), withdrawals, certificates, pool owners, required signers, voters.
 */
export function validateKeyWitnesses(
  transaction: Transaction,
  signed: BytesSet,
  { inputs, collateral }: Resolution,
  findings: Findings,
): void {
  const { body, witnesses } = transaction
  const missing = new BytesSet()
  let roots: BytesSet | undefined
  const needAddress = (address: Address): void => {
    if (address.kind === 'byron') {
      roots ??= new BytesSet(witnesses.bootstrapWitnesses.map(bootstrapRoot))
      if (!roots.has(address.root)) needHash(address.root)
    } else if (address.kind !== 'reward') needCredential(address.payment)
  }
  const needCredential = (credential: Credential): void => {
    if (credential.kind === 'key') needHash(credential.hash)
  }
  const needHash = (hash: Uint8Array): void => {
    if (!signed.has(hash)) missing.add(hash)
  }
  const needInput = ({ output }: ResolvedInput): void => {
    if (output) needAddress(output.address)
  }

  inputs.forEach(needInput)
  collateral.forEach(needInput)
  for (const { account } of body.withdrawals) if (account.kind === 'reward') needCredential(account.stake)
  for (const { witness, owners } of body.certificates) {
    if (witness) needCredential(witness)
    owners?.forEach(needHash)
  }
  body.requiredSigners.forEach(needHash)
  for (const { voter } of body.votingProcedures) needCredential(voter.credential)

  if (missing.size === 0) return
  findings.add('MissingVKeyWitnessesUTXOW', `${missing.size} of the keys that are needed have not signed`, {
    keyHashes: Array.from(missing, (hash) => toHex(hash)),
  })
}

/** UTXOW: InvalidWitnessesUTXOW. Every signature is verified, including those that are not required. */
export function validateWitnessSignatures({ id, witnesses }: Transaction, findings: Findings): void {
  const invalid: string[] = []
  for (const { publicKey, signature } of witnesses.keyWitnesses) {
    if (!verifySignature(signature, id, publicKey)) invalid.push(toHex(publicKey))
  }
  for (const { publicKey, signature } of witnesses.bootstrapWitnesses) {
    if (!verifySignature(signature, id, publicKey)) invalid.push(toHex(publicKey))
  }
  if (invalid.length === 0) return
  findings.add('InvalidWitnessesUTXOW', 'A signature does not fit the transaction id and its public key', {
    publicKeys: invalid,
  })
}

/**
 * Whether a native script is satisfied. Time locks are compared with the validity interval of the
 * transaction, not with the slot: an open bound satisfies no time lock.
 *
 * @param signed the hashes of the keys that have signed
 */
export function satisfies(script: NativeScript, signed: BytesSet, interval: ValidityInterval): boolean {
  switch (script.kind) {
    case 'signature':
      return signed.has(script.keyHash)
    case 'all':
      return script.scripts.every((part) => satisfies(part, signed, interval))
    case 'any':
      return script.scripts.some((part) => satisfies(part, signed, interval))
    case 'at-least': {
      let left = script.required
      for (const part of script.scripts) {
        if (left <= 0n) break
        if (satisfies(part, signed, interval)) left -= 1n
      }
      return left <= 0n
    }
    case 'invalid-before':
      return interval.invalidBefore !== undefined && script.slot <= interval.invalidBefore
    case 'invalid-hereafter':
      return interval.invalidHereafter !== undefined && interval.invalidHereafter <= script.slot
  }
}

/** UTXOW: ScriptWitnessNotValidatingUTXOW. Only the scripts that the transaction needs are evaluated. */
export function validateNativeScripts(
  { body }: Transaction,
  signed: BytesSet,
  { neededHashes, provided }: ScriptUse,
  findings: Findings,
): void {
  const unsatisfied: string[] = []
  for (const hash of neededHashes) {
    const script = provided.get(hash)
    if (script?.language === 'native' && !satisfies(script.script, signed, body.validityInterval)) {
      unsatisfied.push(hash)
    }
  }
  if (unsatisfied.length === 0) return
  findings.add('ScriptWitnessNotValidatingUTXOW', 'A native script is not satisfied', {
    scripts: unsatisfied,
  })
}

/** UTXOW: MissingScriptWitnessesUTXOW, ExtraneousScriptWitnessesUTXOW (also of a reference script). */
export function validateScriptWitnesses(
  { neededHashes, witnessed, referenced, complete }: ScriptUse,
  findings: Findings,
): void {
  const missing = [...neededHashes].filter((hash) => !referenced.has(hash) && !witnessed.has(hash))
  // An unknown input might hold the missing reference script, or its address need the extraneous script.
  if (missing.length > 0 && complete) {
    findings.add(
      'MissingScriptWitnessesUTXOW',
      `${missing.length} of the scripts that are needed are missing`,
      {
        scripts: missing,
      },
    )
  }
  const extraneous = [...witnessed].filter(
    (hash) => referenced.has(hash) || (complete && !neededHashes.has(hash)),
  )
  if (extraneous.length > 0) {
    findings.add('ExtraneousScriptWitnessesUTXOW', `${extraneous.length} of the scripts are not needed`, {
      scripts: extraneous,
    })
  }
}

/** Whether a script decodes at a ledger version. Native scripts are decoded with the transaction. */
function isWellFormedScript(script: Script, protocolMajor: number): boolean {
  return script.language === 'native' || isPlutusScript(script.bytes, script.language, protocolMajor)
}

/** UTXOW: MalformedScriptWitnesses, MalformedReferenceScripts (in the outputs of the transaction). */
export function validateWellFormedScripts(
  { witnesses }: Transaction,
  outputs: readonly TransactionOutput[],
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const { major } = parameters.ledgerVersion
  const malformed = witnesses.scripts.filter((script) => !isWellFormedScript(script, major))
  if (malformed.length > 0) {
    findings.add('MalformedScriptWitnesses', 'A script in the witness set cannot be read', {
      scripts: malformed.map(({ hash }) => toHex(hash)),
    })
  }
  const references: string[] = []
  for (const { referenceScript } of outputs) {
    if (referenceScript && !isWellFormedScript(referenceScript, major))
      references.push(toHex(referenceScript.hash))
  }
  if (references.length > 0) {
    findings.add('MalformedReferenceScripts', 'A reference script of an output cannot be read', {
      scripts: references,
    })
  }
}

/**
 * UTXOW: UnspendableUTxONoDatumHash, MissingRequiredDatums, NotAllowedSupplementalDatums. Outputs of Plutus
 * V1 and V2 scripts need a datum. With V3 it is optional (CIP-69), but witnesses must hold a hash's datum.
 * Supplemental datums need their hash in an output, the collateral return or a reference input.
 */
export function validateDatums(
  transaction: Transaction,
  { inputs, referenceInputs }: Resolution,
  { provided, complete }: ScriptUse,
  findings: Findings,
): void {
  const { datums } = transaction.witnesses
  const required = new Set<string>()
  const unspendable: string[] = []
  for (const { key, output } of inputs) {
    const language = output && provided.get(paymentScript(output) ?? '')?.language
    if (output === undefined || language === undefined || language === 'native') continue
    if (output.datum.kind === 'hash') required.add(toHex(output.datum.hash))
    else if (output.datum.kind === 'none' && language !== 'PlutusV3') unspendable.push(key)
  }
  if (unspendable.length > 0) {
    findings.add('UnspendableUTxONoDatumHash', 'An output locked by a Plutus V1 or V2 script has no datum', {
      inputs: unspendable,
    })
  }
  const missing = [...required].filter((hash) => !datums.has(hash))
  if (missing.length > 0) {
    findings.add('MissingRequiredDatums', `${missing.length} of the datums that are needed are missing`, {
      datums: missing,
      received: [...datums.keys()],
    })
  }
  if (datums.size === 0 || !complete) return
  const supplemental = [...datums.keys()].filter((hash) => !required.has(hash))
  if (supplemental.length === 0) return
  const allowed = new Set<string>()
  const allow = ({ datum }: TransactionOutput): void => {
    if (datum.kind === 'hash') allowed.add(toHex(datum.hash))
  }
  allOutputs(transaction).forEach(allow)
  for (const { output } of referenceInputs) if (output) allow(output)
  const refused = supplemental.filter((hash) => !allowed.has(hash))
  if (refused.length === 0) return
  findings.add('NotAllowedSupplementalDatums', `${refused.length} of the datums belong to nothing`, {
    datums: refused,
    allowed: [...allowed],
  })
}

function paymentScript({ address }: TransactionOutput): string | undefined {
  if (address.kind === 'byron' || address.kind === 'reward') return undefined
  return address.payment.kind === 'script' ? toHex(address.payment.hash) : undefined
}

/** UTXOW: MissingRedeemers, ExtraRedeemers. Each use of a Plutus script needs exactly one redeemer. */
export function validateRedeemers({ witnesses }: Transaction, use: ScriptUse, findings: Findings): void {
  const pointers = new Set(witnesses.redeemers.map(({ purpose, index }) => `${purpose}:${index}`))
  const needed = new Set<string>()
  const missing: Json[] = []
  for (const { purpose, index, scriptHash } of use.needs) {
    const script = use.provided.get(scriptHash)
    if (script === undefined || script.language === 'native') continue
    const pointer = `${purpose}:${index}`
    needed.add(pointer)
    if (!pointers.has(pointer)) missing.push({ purpose, index, scriptHash })
  }
  // The index of an input does not depend on its output, so it is known even if the output is not.
  if (missing.length > 0) {
    findings.add('MissingRedeemers', `${missing.length} of the redeemers that are needed are missing`, {
      redeemers: missing,
    })
  }
  if (pointers.size === 0 || !use.complete) return
  const extra = witnesses.redeemers.filter(({ purpose, index }) => !needed.has(`${purpose}:${index}`))
  if (extra.length === 0) return
  findings.add('ExtraRedeemers', `${extra.length} of the redeemers point to nothing that needs one`, {
    redeemers: extra.map(({ purpose, index }) => ({ purpose, index })),
  })
}

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

/** UTXOW: MissingTxMetadata, MissingTxBodyMetadataHash, ConflictingMetadataHash, InvalidMetadata. */
export function validateAuxiliaryData(
  { body, auxiliaryData }: Transaction,
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const declared = body.auxiliaryDataHash && toHex(body.auxiliaryDataHash)
  if (auxiliaryData === undefined) {
    if (declared !== undefined) {
      findings.add('MissingTxMetadata', 'The body names auxiliary data that is not there', { hash: declared })
    }
    return
  }
  const actual = toHex(blake2b256(auxiliaryData.bytes))
  if (declared === undefined) {
    findings.add('MissingTxBodyMetadataHash', 'The body does not name the auxiliary data', { hash: actual })
    return
  }
  if (declared !== actual) {
    findings.add('ConflictingMetadataHash', 'The body names other auxiliary data', { declared, actual })
  }
  // The decoder limits the size of metadata strings; only the scripts remain to be checked.
  const { major } = parameters.ledgerVersion
  const malformed = auxiliaryData.scripts.filter((script) => !isWellFormedScript(script, major))
  if (malformed.length > 0) {
    findings.add('InvalidMetadata', 'A script in the auxiliary data cannot be read', {
      scripts: malformed.map(({ hash }) => toHex(hash)),
    })
  }
}

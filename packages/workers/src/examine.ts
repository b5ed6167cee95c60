import { isDecodeError, toHex } from '@ratatosk/cbor'
import {
  decodeTransaction,
  type Effects,
  effects,
  type Failures,
  type OutputReference,
  outputReferenceKey,
  type RuleContext,
  type Transaction,
  validateProfile,
  validateSignatures,
  validateUnsigned,
} from '@ratatosk/ledger'
import { maxVerifiedOnArrival, type SignatureChecks, signatureCount } from './signatures.js'

/** An output that a transaction spends, references or offers as collateral. */
export interface NamedOutput {
  /** `outputReferenceKey` of the reference. */
  readonly key: string
  readonly reference: OutputReference
}

/** A decoded transaction with everything that can be known about it without the ledger. */
export interface Candidate {
  readonly transaction: Transaction
  /** The transaction's id in hex. */
  readonly key: string
  /** Without duplicates. */
  readonly named: readonly NamedOutput[]
  readonly effects: Effects
  /** `outputReferenceKey` of each of `effects.spent`. */
  readonly spentKeys: readonly string[]
  /** `effects.produced`, each with its `outputReferenceKey`. */
  readonly produced: readonly (Effects['produced'][number] & { readonly key: string })[]
  /** The rules of phase A that it breaks. */
  readonly flaws: Failures
  /** Whether phase A includes its signatures. If not, they are verified last. */
  readonly verified: boolean
  /** The outcome of its scripts; absent until they have run. */
  readonly scripts?: ScriptOutcome
}

export interface ScriptOutcome {
  readonly failures: Failures
  /** False if the scripts could not be run, which says nothing about the transaction. */
  readonly ran: boolean
}

interface SignaturePolicy {
  /** Maximum number of signatures of a transaction that are verified at once. */
  readonly max: number
  readonly remembered?: Pick<SignatureChecks<never>, 'recall'>
}

/** Phase A: decodes a submission and checks the rules that need neither the ledger nor its lock. */
export function examine(
  cbor: Uint8Array,
  context: RuleContext,
  signatures: SignaturePolicy = defaultPolicy,
): Candidate | Failures {
  let transaction: Transaction
  try {
    transaction = decodeTransaction(cbor)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    const { code, path, offset, message } = error
    return [
      {
        predicate: 'DecodingFailure',
        message: `Not a Conway transaction: ${message}`,
        details: { code, path, offset },
      },
    ]
  }
  const flaws = [...validateProfile(transaction), ...validateUnsigned(transaction, context)]
  const invalid =
    signatures.remembered?.recall(transaction) ??
    (signatureCount(transaction) <= signatures.max ? validateSignatures(transaction) : undefined)
  if (invalid !== undefined) flaws.push(...invalid)
  const effect = effects(transaction)
  return {
    transaction,
    key: toHex(transaction.id),
    named: namedOutputs(transaction),
    effects: effect,
    spentKeys: effect.spent.map(outputReferenceKey),
    produced: effect.produced.map((each) => ({ ...each, key: outputReferenceKey(each.reference) })),
    flaws,
    verified: invalid !== undefined,
  }
}

const defaultPolicy: SignaturePolicy = { max: maxVerifiedOnArrival }

/** Whether a submission decoded. */
export function isCandidate(examined: Candidate | Failures): examined is Candidate {
  return 'transaction' in examined
}

function namedOutputs({ body }: Transaction): readonly NamedOutput[] {
  const named = new Map<string, NamedOutput>()
  for (const references of [body.inputs, body.collateralInputs, body.referenceInputs]) {
    for (const reference of references) {
      const key = outputReferenceKey(reference)
      named.set(key, { key, reference })
    }
  }
  return [...named.values()]
}

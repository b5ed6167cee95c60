import { concatBytes, isDecodeError, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  type Effects,
  effects,
  type Failures,
  type OutputReference,
  outputReferenceKey,
  type RuleContext,
  type Transaction,
  type TransactionOutput,
  validateMint,
  validateProfile,
  validateSignatures,
  validateUnsigned,
} from '@ratatosk/ledger'
import { maxVerifiedOnArrival, type SignatureChecks, signatureCount } from './signatures.js'

/** The outputs that leave layer 2: they never are in its ledger. */
export interface Leaving {
  /** Whether an output leaves: it is paid to the bridge. */
  leaves(output: TransactionOutput): boolean
  /** Why layer 1 could not pay an output that leaves; undefined if it can. */
  fault(output: TransactionOutput): string | undefined
  /** Policies, 56 hex digits each, whose assets come from layer 1. */
  readonly bridged: ReadonlySet<string>
}

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
  /** Those of `effects.produced` that do not leave, each with its `outputReferenceKey`. */
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
  /** {@link digestOf} the outputs that they saw. A reference to a deposit does not fix its output. */
  readonly saw: string
}

/** @param outputs in the order of {@link Candidate.named}, all of them */
export const digestOf = (outputs: ReadonlyMap<string, TransactionOutput>): string =>
  toHex(blake2b256(concatBytes(...Array.from(outputs.values(), ({ bytes }) => bytes))))

interface SignaturePolicy {
  /** Maximum number of signatures of a transaction that are verified at once. */
  readonly max: number
  readonly remembered?: Pick<SignatureChecks<never>, 'recall'>
}

/** Phase A: decodes a submission and checks the rules that need neither the ledger nor its lock. */
export function examine(
  cbor: Uint8Array,
  context: RuleContext,
  leaving?: Leaving,
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
  const flaws = [
    ...validateProfile(transaction),
    ...validateMint(transaction, leaving?.bridged),
    ...validateUnsigned(transaction, context),
  ]
  const invalid =
    signatures.remembered?.recall(transaction) ??
    (signatureCount(transaction) <= signatures.max ? validateSignatures(transaction) : undefined)
  if (invalid !== undefined) flaws.push(...invalid)
  const effect = effects(transaction)
  const staying = effect.produced.filter(({ output }) => leaving?.leaves(output) !== true)
  if (leaving !== undefined && staying.length < effect.produced.length)
    flaws.push(...malformedWithdrawals(effect, leaving))
  return {
    transaction,
    key: toHex(transaction.id),
    named: namedOutputs(transaction),
    effects: effect,
    spentKeys: effect.spent.map(outputReferenceKey),
    produced: staying.map((each) => ({ ...each, key: outputReferenceKey(each.reference) })),
    flaws,
    verified: invalid !== undefined,
  }
}

/** A withdrawal that layer 1 could not pay is lost for its author, so that it is refused. */
function* malformedWithdrawals({ produced }: Effects, leaving: Leaving): Generator<Failures[number], void> {
  for (const { reference, output } of produced) {
    const fault = leaving.leaves(output) ? leaving.fault(output) : undefined
    if (fault === undefined) continue
    const outputReference = outputReferenceKey(reference)
    yield {
      predicate: 'WithdrawalMalformed',
      message: `Layer 1 cannot pay output ${reference.index}, which is paid to the bridge: ${fault}`,
      details: { output: outputReference, reason: fault },
    }
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

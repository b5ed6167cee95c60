import {
  decodeTransaction,
  type Effects,
  effects,
  isDecodeError,
  judgeProfile,
  judgeStateless,
  type OutputReference,
  outputReferenceKey,
  type RuleContext,
  type Transaction,
  toHex,
  type Verdict,
} from '@ratatosk/ledger'

/** One delivery of a submitted transaction. */
export interface Submission {
  /** The queue's id of the submission. */
  readonly id: string
  readonly cbor: Uint8Array
  /** Counts from 1. */
  readonly attempt: number
  readonly submittedAt: Date
}

/** An output that a transaction spends, refers to or offers as collateral. */
export interface NamedOutput {
  readonly key: string
  readonly reference: OutputReference
}

/** A submission that is a transaction, as far as it can be judged without the ledger. */
export interface Candidate {
  readonly submission: Submission
  readonly transaction: Transaction
  /** The transaction's id in hex. */
  readonly key: string
  /** Each once. */
  readonly named: readonly NamedOutput[]
  readonly effects: Effects
  /** `outputReferenceKey` of each of `effects.spent` and of `effects.produced`. */
  readonly spentKeys: readonly string[]
  readonly producedKeys: readonly string[]
  /** What it breaks of the rules that need no ledger. */
  readonly flaws: Verdict
  /** What its scripts said; absent until they have run. */
  readonly scripts?: ScriptVerdict
}

export interface ScriptVerdict {
  readonly failures: Verdict
  /** False where the scripts could not be run, which says nothing of the transaction. */
  readonly judged: boolean
}

/** Phase A: everything that can be known of a submission without the ledger and its lock. */
export function examine(submission: Submission, context: RuleContext): Candidate | Verdict {
  let transaction: Transaction
  try {
    transaction = decodeTransaction(submission.cbor)
  } catch (error) {
    if (isDecodeError(error)) return [decodingFailure(error)]
    throw error
  }
  const flaws = [...judgeProfile(transaction), ...judgeStateless(transaction, context)]
  const effect = effects(transaction)
  return {
    submission,
    transaction,
    key: toHex(transaction.id),
    named: namedOutputs(transaction),
    effects: effect,
    spentKeys: effect.spent.map(outputReferenceKey),
    producedKeys: effect.produced.map(({ reference }) => outputReferenceKey(reference)),
    flaws,
  }
}

export function isCandidate(examined: Candidate | Verdict): examined is Candidate {
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

function decodingFailure({
  code,
  path,
  offset,
  message,
}: {
  code: string
  path: string
  offset: number
  message: string
}) {
  return {
    predicate: 'DecodingFailure',
    message: `Not a Conway transaction: ${message}`,
    details: { code, path, offset },
  }
}

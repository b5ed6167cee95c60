import { setImmediate } from 'node:timers/promises'
import { concatBytes, toHex } from '@ratatosk/cbor'
import { blake2b256, judgeSignatures, type Transaction, type Verdict } from '@ratatosk/ledger'
import { LRUCache } from 'lru-cache'
import { Turns } from './turns.js'

/**
 * A transaction with at most this many signatures has them verified when it arrives, so that it is judged
 * once. One with more is judged without them first: keys are free to make, and a signature costs more to
 * verify than the other rules of a payment together.
 */
export const mostVerifiedOnArrival = 3

/** What Plutus charges for a verification, in steps: compares signatures with scripts. */
const stepsPerSignature = 58_000_000n

/** Remembered verdicts. */
const maxVerdicts = 20_000
const maxVerdictBytes = 8 * 1024 * 1024
const bytesPerVerdict = 200

/** Key witnesses and bootstrap witnesses; each has one signature. */
export function signatureCount({ witnesses }: Transaction): number {
  return witnesses.keyWitnesses.length + witnesses.bootstrapWitnesses.length
}

/** In steps, like the execution units of scripts. */
export function signatureCost(transaction: Transaction): bigint {
  return BigInt(signatureCount(transaction)) * stepsPerSignature
}

/** Verifies signatures one transaction at a time, and remembers the verdicts of those that may come again. */
export class SignatureChecks<Holder extends { readonly cost: bigint }> {
  readonly #turns = new Turns<Holder>(1)
  readonly #verdicts = new LRUCache<string, Verdict>({
    max: maxVerdicts,
    maxSize: maxVerdictBytes,
    sizeCalculation: (verdict) =>
      bytesPerVerdict + (verdict.length === 0 ? 0 : JSON.stringify(verdict).length),
  })

  /** The verdict on the signatures of a transaction, if it is remembered. */
  recall(transaction: Transaction): Verdict | undefined {
    return this.#verdicts.size === 0 ? undefined : this.#verdicts.get(digestOf(transaction))
  }

  /** The verdict on the signatures of a transaction, unless they are too many to verify them at once. */
  verdictOnFew(transaction: Transaction): Verdict | undefined {
    const remembered = this.recall(transaction)
    if (remembered !== undefined || signatureCount(transaction) > mostVerifiedOnArrival) return remembered
    return this.#verify(transaction)
  }

  remember(transaction: Transaction, verdict: Verdict): void {
    this.#verdicts.set(digestOf(transaction), verdict)
  }

  /**
   * Verifies when it is the holder's turn, the cheapest first. Other work of the process is done between two
   * transactions.
   *
   * @param wanted asked when the turn has come
   * @returns `undefined` if the holder was withdrawn before, or does not want it any more
   */
  async verify(
    transaction: Transaction,
    holder: Holder,
    wanted: () => boolean,
  ): Promise<Verdict | undefined> {
    if (!(await this.#turns.take(holder))) return undefined
    try {
      await setImmediate()
      if (!wanted()) return undefined
      return this.recall(transaction) ?? this.#verify(transaction)
    } finally {
      this.#turns.end()
    }
  }

  #verify(transaction: Transaction): Verdict {
    const verdict = judgeSignatures(transaction)
    this.remember(transaction, verdict)
    return verdict
  }

  withdraw(holder: Holder): void {
    this.#turns.withdraw(holder)
  }
}

/** Names what is verified: the transaction's id, and all keys and signatures. */
function digestOf({ id, witnesses }: Transaction): string {
  const parts = [id]
  for (const { publicKey, signature } of witnesses.keyWitnesses) parts.push(publicKey, signature)
  for (const { publicKey, signature } of witnesses.bootstrapWitnesses) parts.push(publicKey, signature)
  return toHex(blake2b256(concatBytes(...parts)))
}

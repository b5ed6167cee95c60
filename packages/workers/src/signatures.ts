import { setImmediate } from 'node:timers/promises'
import { concatBytes, toHex } from '@ratatosk/cbor'
import { blake2b256, type Failures, type Transaction, validateSignatures } from '@ratatosk/ledger'
import { LRUCache } from 'lru-cache'
import { CheapestFirst } from './turns.js'

/**
 * Up to so many signatures are verified on arrival. More are verified last: keys are free to make, and a
 * signature costs more to verify than the other rules of a payment together.
 */
export const maxVerifiedOnArrival = 3

/** The price of a verification in Plutus, in steps: compares signatures with scripts. */
const stepsPerSignature = 58_000_000n

const maxRemembered = 20_000
const maxRememberedBytes = 8 * 1024 * 1024
const bytesPerEntry = 200

/** Key witnesses and bootstrap witnesses; each has one signature. */
export function signatureCount({ witnesses }: Transaction): number {
  return witnesses.keyWitnesses.length + witnesses.bootstrapWitnesses.length
}

/** In steps, like the execution units of scripts. */
export function signatureCost(transaction: Transaction): bigint {
  return BigInt(signatureCount(transaction)) * stepsPerSignature
}

/** Verifies signatures one transaction at a time, and remembers the results of those that may come again. */
export class SignatureChecks<Holder extends { readonly cost: bigint }> {
  readonly #queue = new CheapestFirst<Holder>(1)
  readonly #remembered = new LRUCache<string, Failures>({
    max: maxRemembered,
    maxSize: maxRememberedBytes,
    sizeCalculation: (failures) =>
      bytesPerEntry + (failures.length === 0 ? 0 : JSON.stringify(failures).length),
  })

  /** The failures of the signatures of a transaction, if they are remembered. */
  recall(transaction: Transaction): Failures | undefined {
    return this.#remembered.size === 0 ? undefined : this.#remembered.get(digestOf(transaction))
  }

  /** The failures of the signatures of a transaction, unless they are too many to verify them at once. */
  verifyFew(transaction: Transaction): Failures | undefined {
    const remembered = this.recall(transaction)
    if (remembered !== undefined || signatureCount(transaction) > maxVerifiedOnArrival) return remembered
    return this.#verify(transaction)
  }

  remember(transaction: Transaction, failures: Failures): void {
    this.#remembered.set(digestOf(transaction), failures)
  }

  /** Verifies the cheapest holder first, with other work between; `undefined` if it is not `wanted`. */
  async verify(
    transaction: Transaction,
    holder: Holder,
    wanted: () => boolean,
  ): Promise<Failures | undefined> {
    if (!(await this.#queue.acquire(holder))) return undefined
    try {
      await setImmediate()
      if (!wanted()) return undefined
      return this.recall(transaction) ?? this.#verify(transaction)
    } finally {
      this.#queue.release()
    }
  }

  #verify(transaction: Transaction): Failures {
    const failures = validateSignatures(transaction)
    this.remember(transaction, failures)
    return failures
  }

  withdraw(holder: Holder): void {
    this.#queue.withdraw(holder)
  }
}

/** Names what is verified: the transaction's id, and all keys and signatures. */
function digestOf({ id, witnesses }: Transaction): string {
  const parts = [id]
  for (const { publicKey, signature } of witnesses.keyWitnesses) parts.push(publicKey, signature)
  for (const { publicKey, signature } of witnesses.bootstrapWitnesses) parts.push(publicKey, signature)
  return toHex(blake2b256(concatBytes(...parts)))
}

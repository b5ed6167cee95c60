import { decodeTransactionOutput, type TransactionOutput, type UtxoView } from '@ratatosk/ledger'
import type { Candidate } from './submission.js'

/** Outputs that exist only if the scripts of a transaction succeed, which is being found out. */
export interface ProvisionalOutput {
  readonly output: TransactionOutput
  readonly owner: Candidate
}

/** The unspent outputs as a batch sees them: the ledger's, less what the batch has spent, more what it has made. */
export class BatchView implements UtxoView {
  readonly #stored: ReadonlyMap<string, Uint8Array>
  readonly #provisional: Map<string, ProvisionalOutput>
  /** `undefined`: spent. */
  readonly #outputs = new Map<string, TransactionOutput | undefined>()

  /**
   * @param stored CBOR of outputs by `outputReferenceKey`
   * @param provisional of earlier batches
   */
  constructor(
    stored: ReadonlyMap<string, Uint8Array>,
    provisional: ReadonlyMap<string, ProvisionalOutput> = new Map(),
  ) {
    this.#stored = stored
    this.#provisional = new Map(provisional)
  }

  get(key: string): TransactionOutput | undefined {
    if (this.#outputs.has(key)) return this.#outputs.get(key)
    const stored = this.#stored.get(key)
    if (stored === undefined) return this.#provisional.get(key)?.output
    const output = decodeTransactionOutput(stored)
    this.#outputs.set(key, output)
    return output
  }

  /** Whose scripts must succeed for what the candidate names to exist. */
  ownersOf({ named }: Candidate): readonly Candidate[] {
    const owners = new Set<Candidate>()
    for (const { key } of named) {
      const owner = this.#stored.has(key) ? undefined : this.#provisional.get(key)?.owner
      if (owner !== undefined) owners.add(owner)
    }
    return [...owners]
  }

  apply(candidate: Candidate): void {
    this.#spend(candidate)
    candidate.effects.produced.forEach(({ output }, index) => {
      this.#outputs.set(candidate.producedKeys[index] as string, output)
    })
  }

  applyProvisionally(candidate: Candidate): void {
    this.#spend(candidate)
    candidate.effects.produced.forEach(({ output }, index) => {
      this.#provisional.set(candidate.producedKeys[index] as string, { output, owner: candidate })
    })
  }

  #spend({ spentKeys }: Candidate): void {
    for (const key of spentKeys) this.#outputs.set(key, undefined)
  }
}

import type { ProvenFraud } from './find-fraud.js'
import { outsource } from './supplied-bytes.js'

/** Why a proof was too much for layer 1: the bytes of a transaction, or what its scripts cost. */
export type Excess = 'bytes' | 'units'

/** Which proofs of a search are tried. */
interface Tries {
  isWorth(fraud: ProvenFraud): boolean
  /** Notes that a proof was refused; `excess` if only for being too large. */
  refused(fraud: ProvenFraud, excess: Excess | undefined): void
}

interface Tried {
  /** Proofs that used up a try. */
  count: number
  /** Proofs of at least these bytes fit into no transaction, even with datums. */
  tooLong: number
  /** Bytes of the smallest proof whose scripts cost too much. */
  tooCostly: number
}

/**
 * Bounds the tries of each kind of fraud, so that no number of large proofs hides a smaller one: a proof over
 * `maxSize` bytes uses up none. After one, those no smaller are skipped or, if scripts cost too much, use up
 * tries. `hasDatums`: datums may hold parts of a proof.
 */
export function createTries(most: number, maxSize: number, hasDatums: boolean): Tries {
  const leastOf = (fraud: ProvenFraud) => (hasDatums ? leastSize(fraud) : fraud.redeemer.length)
  const kinds = new Map<string, Tried>()
  const triedOf = ({ policy, proof }: ProvenFraud): Tried => {
    const kind = `${policy}:${proof.fraud}`
    const known = kinds.get(kind)
    if (known !== undefined) return known
    const tried = { count: 0, tooLong: Number.POSITIVE_INFINITY, tooCostly: Number.POSITIVE_INFINITY }
    kinds.set(kind, tried)
    return tried
  }
  return {
    isWorth(fraud) {
      const { count, tooLong } = triedOf(fraud)
      return count < most && (tooLong === Number.POSITIVE_INFINITY || leastOf(fraud) < tooLong)
    },
    refused(fraud, excess) {
      const tried = triedOf(fraud)
      const { length } = fraud.redeemer
      if (excess === 'bytes') tried.tooLong = Math.min(tried.tooLong, maxSize, leastOf(fraud))
      else if (excess === undefined || length >= tried.tooCostly) tried.count++
      else tried.tooCostly = length
    },
  }
}

/** Bytes that one transaction must hold of a proof: its largest part, or what is no part. */
function leastSize({ redeemer, proof }: ProvenFraud): number {
  const { datums, redeemer: without } = outsource(redeemer, 0, hasLists(proof))
  return Math.max(without(datums.map(() => 0)).length, ...datums.map(({ length }) => length))
}

/** Whether lists of a proof may be in datums. */
export const hasLists = ({ fraud }: ProvenFraud['proof']): boolean => fraud === 'wrongResolvedHash'

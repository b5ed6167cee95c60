import { equalBytes, toHex } from '@ratatosk/cbor'
import type { Finding } from './types.js'

/** Collects findings, a limited number of them. */
export interface FindingList {
  add(finding: Finding): void
  /** Forgets those about blocks from this height on. */
  forgetFrom(height: number): void
  readonly list: readonly Finding[]
  /** Findings beyond the limit. */
  readonly omitted: number
}

export function createFindings(limit: number): FindingList {
  let list: Finding[] = []
  let omitted = 0
  return {
    add(finding) {
      if (list.length < limit) list.push(finding)
      else omitted++
    },
    forgetFrom(height) {
      list = list.filter(({ block }) => block === undefined || block.height < height)
    },
    get list() {
      return list
    },
    get omitted() {
      return omitted
    },
  }
}

/** The text of a finding about two byte strings that should be equal; undefined if they are. */
export const difference = (expected: Uint8Array, found: Uint8Array) =>
  equalBytes(expected, found) ? undefined : { expected: toHex(expected), found: toHex(found) }

export const blockAt = (height: number, headerHash: Uint8Array): NonNullable<Finding['block']> => ({
  height,
  headerHash: toHex(headerHash),
})

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ProofStepJson } from '../proof/json.js'

/** The repository's root, on which a relative folder of vectors is based. */
const root = new URL('../../../../', import.meta.url)
const folder = new URL(`${process.env.RATATOSK_VECTORS ?? '../shared/vectors'}/mpf/`, root)

export const vectorsAreMissing = !existsSync(folder)
if (vectorsAreMissing && process.env.CI) throw new Error(`The vectors are missing: ${fileURLToPath(folder)}`)

/** A run of the reference implementation. */
export interface ReferenceRun {
  steps: { insert?: string; delete?: string; value?: string; root: string }[]
  proofs: {
    kind: 'membership' | 'non-membership'
    key: string
    value?: string
    proof: ProofStepJson[]
    cbor: string
  }[]
  /** The proof of the key of a map that has no other. */
  single: ProofStepJson[]
  /** The root and the number of keys in the end. */
  root: string
  entries: number
}

/** A map of strings with its root. */
export interface PublishedMap {
  root: string
  entries: { key: string; value: string }[]
}

const files = vectorsAreMissing
  ? []
  : readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => ({ name, content: JSON.parse(readFileSync(new URL(name, folder), 'utf8')) }))

export const referenceRuns: [name: string, run: ReferenceRun][] = files
  .filter(({ content }) => 'steps' in content)
  .map(({ name, content }) => [name, content])

export const publishedMaps: [name: string, map: PublishedMap][] = files
  .filter(({ content }) => !('steps' in content))
  .map(({ name, content }) => [name, content])

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import type { ProofStepJson } from '../proof/json.js'

const folder = vectorsFolder('mpf')

export const vectorsAreMissing = folder === undefined

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
  root: string
  entries: number
}

export interface PublishedMap {
  root: string
  entries: { key: string; value: string }[]
}

const files =
  folder === undefined
    ? []
    : readdirSync(folder)
        .filter((name) => name.endsWith('.json'))
        .map((name) => ({ name, content: JSON.parse(readFileSync(join(folder, name), 'utf8')) }))

export const referenceRuns: [name: string, run: ReferenceRun][] = files
  .filter(({ content }) => 'steps' in content)
  .map(({ name, content }) => [name, content])

export const publishedMaps: [name: string, map: PublishedMap][] = files
  .filter(({ content }) => !('steps' in content))
  .map(({ name, content }) => [name, content])

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CborReader, concatBytes, isDecodeError } from '@ratatosk/cbor'
import { readItem } from './ledger-runs.js'

export type SampleKind = 'transaction' | 'transaction_body' | 'block'

/** One sample of `cbor-decode`. */
export interface Sample {
  readonly name: string
  readonly wellFormed: boolean
  readonly bytes: Uint8Array
  /** Hex: of the bytes, or of the header of a block of a public network. */
  readonly hash: string
}

/** The samples of a kind. @param folder `cbor-decode` */
export function cborSamples(folder: string, kind: SampleKind): Sample[] {
  return readdirSync(join(folder, kind), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('meta.json'))
    .sort()
    .map((path) => {
      const directory = join(folder, kind, path, '..')
      const meta = JSON.parse(readFileSync(join(directory, 'meta.json'), 'utf8'))
      const bytes = new Uint8Array(readFileSync(join(directory, 'sample.cbor')))
      const hash = directory.slice(-64)
      return { name: `${meta.description} ${hash.slice(0, 8)}`, wellFormed: meta.well_formed, bytes, hash }
    })
}

/**
 * A transaction of these parts, as CBOR. @param rest validity and auxiliary data; by default valid and
 * without
 */
export const framedTransaction = (
  body: Uint8Array,
  witnesses: Uint8Array = Uint8Array.of(0xa0),
  auxiliaryData: Uint8Array = Uint8Array.of(0xf6),
  isValid = true,
): Uint8Array =>
  concatBytes(Uint8Array.of(0x84), body, witnesses, Uint8Array.of(isValid ? 0xf5 : 0xf4), auxiliaryData)

/**
 * The transactions of a block
 * `[era, [header, bodies, witness sets, auxiliary data by index, indexes of invalid ones]]`, as far as the
 * sample can be read and has a witness set for each.
 */
export function transactionsOfBlock(block: Uint8Array): Uint8Array[] {
  const reader = new CborReader(block)
  let bodies: Uint8Array[] = []
  let witnessSets: Uint8Array[] = []
  const auxiliaryData = new Map<number, Uint8Array>()
  const invalid = new Set<number>()
  try {
    reader.readArray()
    reader.skip()
    reader.readArray()
    reader.skip()
    bodies = readItems(reader)
    witnessSets = readItems(reader)
    const count = reader.readMap()
    for (let i = 0; reader.hasNext(count, i); i += 1) auxiliaryData.set(reader.readUint(), readItem(reader))
    for (const index of readItems(reader)) invalid.add(new CborReader(index).readUint())
  } catch (error) {
    if (!isDecodeError(error)) throw error
  }
  return bodies
    .slice(0, witnessSets.length)
    .map((body, index) =>
      framedTransaction(body, witnessSets[index], auxiliaryData.get(index), !invalid.has(index)),
    )
}

function readItems(reader: CborReader): Uint8Array[] {
  const items: Uint8Array[] = []
  const count = reader.readArray()
  for (let i = 0; reader.hasNext(count, i); i += 1) items.push(readItem(reader))
  return items
}

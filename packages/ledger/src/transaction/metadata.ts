import { CborReader, Major } from '@ratatosk/cbor'
import type { AuxiliaryData } from './types.js'

/**
 * The metadata of a transaction by label, each value as CBOR. Auxiliary data has three formats: a metadata
 * map (Shelley), an array of metadata and scripts (Allegra), or a tagged map with the metadata under key 0
 * (Alonzo).
 */
export function metadataLabels({
  bytes,
}: AuxiliaryData): { readonly label: bigint; readonly cbor: Uint8Array }[] {
  const reader = new CborReader(bytes)
  if (reader.peekMajor() === Major.map) return readLabels(reader)
  if (reader.peekMajor() === Major.array) {
    reader.readArray()
    return readLabels(reader)
  }
  reader.readTag()
  const count = reader.readMap()
  for (let i = 0; reader.hasNext(count, i); i++) {
    if (reader.readUint() === 0) return readLabels(reader)
    reader.skip()
  }
  return []
}

function readLabels(reader: CborReader): { label: bigint; cbor: Uint8Array }[] {
  const labels: { label: bigint; cbor: Uint8Array }[] = []
  const count = reader.readMap()
  for (let i = 0; reader.hasNext(count, i); i++) {
    const label = reader.readInteger()
    const start = reader.position
    reader.skip()
    labels.push({ label, cbor: reader.since(start) })
  }
  return labels
}

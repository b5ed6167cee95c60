import { CborReader, isShortMap, readList, readRecord, readTaggedList } from '@ratatosk/cbor'
import { blake2b256, layer1Limits, type OutputReference } from '@ratatosk/ledger'

/** The parts of a transaction that say what it spends, and by which redeemers. */
export interface SpendingParts {
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly inputs: readonly OutputReference[]
  readonly referenceInputs: readonly OutputReference[]
  /** By the place among the sorted inputs; Plutus data CBOR. The last one counts. */
  readonly redeemers: ReadonlyMap<number, Uint8Array>
}

const bodyFields = { inputs: 0, referenceInputs: 18 } as const
const redeemersField = 5
const spendPurpose = 0

/**
 * Reads these parts of a transaction that layer 1 has included. Nothing else of it is decoded: no other part
 * can hide them.
 *
 * @throws {DecodeError} if the bytes are no transaction
 */
export function spendingPartsOf(cbor: Uint8Array): SpendingParts {
  const reader = new CborReader(cbor, 0, cbor.length, layer1Limits)
  reader.readArray()
  const start = reader.position
  const references = new Map<number, readonly OutputReference[]>()
  readFields(reader, Object.values(bodyFields), (key) => {
    references.set(key, readTaggedList(reader, readReference))
  })
  const id = blake2b256(reader.since(start))
  const redeemers = new Map<number, Uint8Array>()
  readFields(reader, [redeemersField], () => {
    for (const { purpose, place, data } of readRedeemers(reader))
      if (purpose === spendPurpose) redeemers.set(place, data)
  })
  const { inputs, referenceInputs } = bodyFields
  return {
    id,
    inputs: references.get(inputs) ?? [],
    referenceInputs: references.get(referenceInputs) ?? [],
    redeemers,
  }
}

/** Reads some fields of a map with small numbers as keys, and skips the others. */
function readFields(reader: CborReader, keys: readonly number[], read: (key: number) => void): void {
  const count = reader.readMap()
  for (let index = 0; reader.hasNext(count, index); index++) {
    const key = reader.readUint()
    if (keys.includes(key)) read(key)
    else reader.skip()
  }
}

const readReference = (reader: CborReader): OutputReference =>
  readRecord(reader, 2, (inner) => ({ transactionId: inner.readBytesOf(32), index: inner.readUint() }))

interface ShownRedeemer {
  readonly purpose: number
  readonly place: number
  readonly data: Uint8Array
}

/** In the form of a list, or of a map since Conway. */
function readRedeemers(reader: CborReader): readonly ShownRedeemer[] {
  if (!isShortMap(reader))
    return readList(reader, (item) =>
      readRecord(item, 4, (inner) => ({ ...pointer(inner), ...content(inner) })),
    )
  const count = reader.readMap()
  const redeemers: ShownRedeemer[] = []
  while (reader.hasNext(count, redeemers.length)) {
    const key = readRecord(reader, 2, pointer)
    redeemers.push({ ...key, ...readRecord(reader, 2, content) })
  }
  return redeemers
}

const pointer = (reader: CborReader): Pick<ShownRedeemer, 'purpose' | 'place'> => ({
  purpose: reader.readUint(),
  place: reader.readUint(),
})

function content(reader: CborReader): Pick<ShownRedeemer, 'data'> {
  const start = reader.position
  reader.skip()
  const data = reader.since(start)
  reader.skip()
  return { data }
}

import { type CborReader, isShortMap, readRecord, toHex } from '@ratatosk/cbor'
import { type Demand, distinct, eachOf, executionUnits, fieldsOf, listOf } from './items.js'
import { nativeScript, plutusData } from './scripts.js'

const keyWitness: Demand = (reader) => {
  readRecord(reader, 2, (pair) => {
    pair.readBytesOf(32)
    pair.readBytesOf(64)
  })
}

const bootstrapWitness: Demand = (reader) => {
  readRecord(reader, 4, (inner) => {
    inner.readBytesOf(32)
    inner.readBytesOf(64)
    inner.readBytes()
    inner.readBytes()
  })
}

const plutusScripts = distinct((reader) => toHex(reader.readBytes()))

/** A witness set of the Conway era: collections that are there have members. */
export const witnessSet: Demand = fieldsOf({
  0: eachOf(keyWitness),
  1: eachOf(nativeScript),
  2: eachOf(bootstrapWitness),
  3: plutusScripts,
  4: eachOf(plutusData),
  5: redeemers,
  6: plutusScripts,
  7: plutusScripts,
})

function redeemers(reader: CborReader): void {
  const start = reader.position
  let count = 0
  if (isShortMap(reader)) {
    const length = reader.readMap()
    for (; reader.hasNext(length, count); count++) {
      readRecord(reader, 2, pointer)
      const pair = reader.position
      if (reader.readArray() !== 2)
        throw reader.error('CBOR_UNEXPECTED_SIZE', 'not a definite array of two items', pair)
      content(reader)
    }
  } else
    listOf((item) => {
      count++
      readRecord(item, 4, (redeemer) => {
        pointer(redeemer)
        content(redeemer)
      })
    })(reader)
  if (count === 0) throw reader.error('CBOR_EMPTY', 'an empty collection', start)
}

function pointer(reader: CborReader): void {
  const start = reader.position
  const purpose = reader.readUint()
  if (purpose > 5) throw reader.error('CBOR_UNKNOWN_VARIANT', `a redeemer of purpose ${purpose}`, start)
  reader.readUint(0xffff_ffff)
}

function content(reader: CborReader): void {
  plutusData(reader)
  readRecord(reader, 2, (units) => {
    executionUnits(units)
    executionUnits(units)
  })
}

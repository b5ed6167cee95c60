import { toHex } from '../bytes.js'
import type { CborReader } from '../cbor/reader.js'
import {
  isShortMap,
  located,
  nonEmpty,
  readList,
  readRecord,
  readSet,
  readTaggedList,
} from '../cbor/structure.js'
import { blake2b256 } from '../crypto/blake2b.js'
import { readExecutionUnits } from './governance/parameter-update.js'
import { readPlutusData } from './script/plutus-data.js'
import { readNative, readPlutus } from './script/script.js'
import type {
  BootstrapWitness,
  KeyWitness,
  PlutusLanguage,
  Redeemer,
  RedeemerPurpose,
  Script,
  WitnessSet,
} from './types.js'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const fieldNames = [
  'keyWitnesses',
  'nativeScripts',
  'bootstrapWitnesses',
  'plutusV1Scripts',
  'datums',
  'redeemers',
  'plutusV2Scripts',
  'plutusV3Scripts',
] as const

const purposes: readonly RedeemerPurpose[] = ['spend', 'mint', 'cert', 'reward', 'vote', 'propose']

/**
 * A witness set of the Conway era. Each of its collections, where present, has a member; of key witnesses, native scripts,
 * datums and redeemers the ledger lets the same one occur twice (until protocol version 12), of Plutus scripts not.
 */
export function readWitnessSet(reader: CborReader): WitnessSet {
  const start = reader.position
  const scripts: Script[] = []
  const witnesses: Mutable<WitnessSet> = {
    bytes: reader.bytes,
    keyWitnesses: [],
    bootstrapWitnesses: [],
    scripts,
    datums: new Map(),
    redeemers: [],
  }
  const count = reader.readMap()
  let seen = 0
  for (let index = 0; reader.hasNext(count, index); index++) {
    const keyStart = reader.position
    const key = reader.readUint()
    const name = fieldNames[key]
    if (name === undefined) throw reader.error('unknown-field', `the field ${key}`, keyStart)
    if ((seen & (1 << key)) !== 0) throw reader.error('duplicate', `the field ${key} twice`, keyStart)
    seen |= 1 << key
    try {
      readField(reader, key, witnesses, scripts)
    } catch (error) {
      throw located(error, name)
    }
  }
  witnesses.bytes = reader.since(start)
  return witnesses
}

function readField(reader: CborReader, key: number, witnesses: Mutable<WitnessSet>, scripts: Script[]): void {
  const start = reader.position
  switch (key) {
    case 0:
      witnesses.keyWitnesses = nonEmpty(reader, start, readTaggedList(reader, readKeyWitness))
      return
    case 1:
      scripts.push(...nonEmpty(reader, start, readTaggedList(reader, readNative)))
      return
    case 2:
      witnesses.bootstrapWitnesses = nonEmpty(reader, start, readTaggedList(reader, readBootstrapWitness))
      return
    case 3:
      scripts.push(...readPlutusScripts(reader, 'PlutusV1'))
      return
    case 4: {
      const datums = nonEmpty(reader, start, readTaggedList(reader, readPlutusData))
      witnesses.datums = new Map(datums.map((datum) => [toHex(blake2b256(datum)), datum]))
      witnesses.datumsBytes = reader.since(start)
      return
    }
    case 5:
      witnesses.redeemers = nonEmpty(reader, start, readRedeemers(reader))
      witnesses.redeemersBytes = reader.since(start)
      return
    case 6:
      scripts.push(...readPlutusScripts(reader, 'PlutusV2'))
      return
    case 7:
      scripts.push(...readPlutusScripts(reader, 'PlutusV3'))
  }
}

function readKeyWitness(reader: CborReader): KeyWitness {
  return readRecord(reader, 2, (inner) => ({
    publicKey: inner.readBytesOf(32),
    signature: inner.readBytesOf(64),
  }))
}

/** The chain code may have any length until protocol version 12; with a wrong one no address's root comes out. */
function readBootstrapWitness(reader: CborReader): BootstrapWitness {
  return readRecord(reader, 4, (inner) => ({
    publicKey: inner.readBytesOf(32),
    signature: inner.readBytesOf(64),
    chainCode: inner.readBytes(),
    attributes: inner.readBytes(),
  }))
}

function readPlutusScripts(reader: CborReader, language: PlutusLanguage): Script[] {
  const start = reader.position
  const scripts = readSet(
    reader,
    (inner) => readPlutus(inner, language),
    (script) => toHex(script.hash),
  )
  return nonEmpty(reader, start, scripts)
}

/** A list of `[purpose, index, data, units]` or, since Conway, a map from `[purpose, index]` to `[data, units]`. */
function readRedeemers(reader: CborReader): Redeemer[] {
  const redeemers = isShortMap(reader) ? readRedeemerMap(reader) : readList(reader, readRedeemer)
  // Of two redeemers for one purpose and index the last counts.
  const byPointer = new Map(redeemers.map((redeemer) => [`${redeemer.purpose} ${redeemer.index}`, redeemer]))
  return byPointer.size === redeemers.length ? redeemers : [...byPointer.values()]
}

function readRedeemer(reader: CborReader): Redeemer {
  return readRecord(reader, 4, (inner) => ({ ...readPointer(inner), ...readContent(inner) }))
}

function readRedeemerMap(reader: CborReader): Redeemer[] {
  const count = reader.readMap()
  const redeemers: Redeemer[] = []
  try {
    while (reader.hasNext(count, redeemers.length)) {
      const pointer = readRecord(reader, 2, readPointer)
      const start = reader.position
      // The ledger reads this pair as a tuple, whose length is definite.
      if (reader.readArray() !== 2)
        throw reader.error('unexpected-size', 'no definite array of two items', start)
      redeemers.push({ ...pointer, ...readContent(reader) })
    }
  } catch (error) {
    throw located(error, `[${redeemers.length}]`)
  }
  return redeemers
}

function readPointer(reader: CborReader): Pick<Redeemer, 'purpose' | 'index'> {
  const start = reader.position
  const tag = reader.readUint()
  const purpose = purposes[tag]
  if (purpose === undefined) throw reader.error('unknown-variant', `a redeemer of purpose ${tag}`, start)
  return { purpose, index: reader.readUint(0xffff_ffff) }
}

function readContent(reader: CborReader): Pick<Redeemer, 'data' | 'executionUnits'> {
  return { data: readPlutusData(reader), executionUnits: readExecutionUnits(reader) }
}

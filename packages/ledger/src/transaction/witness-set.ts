import {
  type CborReader,
  isShortMap,
  located,
  nonEmpty,
  readList,
  readRecord,
  readSet,
  readTaggedList,
  toHex,
} from '@ratatosk/cbor'
import { blake2b256 } from '#crypto'
import { readExecutionUnits } from './governance/proposal.js'
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

/** In the ledger's order, which differs from that of the constructors in script contexts. */
export const purposes: readonly RedeemerPurpose[] = ['spend', 'mint', 'cert', 'reward', 'vote', 'propose']

/**
 * Decodes a witness set of the Conway era. Present collections must not be empty. Before protocol version 12,
 * the ledger accepts duplicate key witnesses, native scripts, datums and redeemers, but no Plutus scripts.
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
    if (name === undefined) throw reader.error('CBOR_UNKNOWN_FIELD', `unknown field ${key}`, keyStart)
    if ((seen & (1 << key)) !== 0) throw reader.error('CBOR_DUPLICATE', `a repeated field ${key}`, keyStart)
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

/** Before ledger version 12, the chain code may have any length. A wrong one yields no address's root. */
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

/** A list of `[purpose, index, data, units]`, or since Conway a map: `[purpose, index]` → `[data, units]`. */
function readRedeemers(reader: CborReader): Redeemer[] {
  const redeemers = isShortMap(reader) ? readRedeemerMap(reader) : readList(reader, readRedeemer)
  // If two redeemers have the same purpose and index, the last one counts.
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
      // The ledger decodes this pair as a tuple, which must have a definite length.
      if (reader.readArray() !== 2)
        throw reader.error('CBOR_UNEXPECTED_SIZE', 'not a definite array of two items', start)
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
  if (purpose === undefined) throw reader.error('CBOR_UNKNOWN_VARIANT', `a redeemer of purpose ${tag}`, start)
  return { purpose, index: reader.readUint(0xffff_ffff) }
}

function readContent(reader: CborReader): Pick<Redeemer, 'data' | 'executionUnits'> {
  return { data: readPlutusData(reader), executionUnits: readExecutionUnits(reader) }
}

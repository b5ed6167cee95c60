import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  CborReader,
  concatBytes,
  type DecodeError,
  fromHex,
  isDecodeError,
  isWellFormed,
  readList,
  readMapOf,
  readNullable,
  readRecord,
  toHex,
} from '@ratatosk/cbor'
import { cborSamples, midgardChains, vectorsFolder } from '@ratatosk/fixtures/vectors'
import { describe, expect, it } from 'vitest'
import { blake2b256 } from '#crypto'
import { readAuxiliaryData } from '../transaction/auxiliary-data.js'
import { readBody } from '../transaction/body.js'
import { decodeTransaction, decodeTransactionBody } from '../transaction/decode.js'
import { readWitnessSet } from '../transaction/witness-set.js'

const samplesFolder = vectorsFolder('cbor-decode')

/** `[header body, signature]`: this package does not decode headers, so only this test knows their form. */
function readHeader(header: CborReader): void {
  readRecord(header, 10, (body) => {
    body.readUint64() // block number
    body.readUint64() // slot
    readNullable(body, (previous) => previous.readBytesOf(32))
    body.readBytesOf(32) // issuer
    body.readBytesOf(32) // VRF key
    readRecord(body, 2, (vrf) => [vrf.readBytes(), vrf.readBytesOf(80)])
    body.readUint(0xffff_ffff) // size of the block's body
    body.readBytesOf(32) // hash of the block's body
    readRecord(body, 4, (certificate) => {
      certificate.readBytesOf(32)
      certificate.readUint64()
      certificate.readUint64()
      certificate.readBytesOf(64)
    })
    readRecord(body, 2, (version) => [version.readUint(), version.readUint()])
  })
  header.readBytesOf(448)
}

/** `[era, block]`. */
function decodeBlock(bytes: Uint8Array): void {
  const reader = new CborReader(bytes)
  readRecord(reader, 2, (outer) => {
    outer.readUint(7)
    readRecord(outer, 5, (block) => {
      readRecord(block, 2, readHeader)
      readList(block, readBody)
      readList(block, readWitnessSet)
      readMapOf(block, (index) => index.readUint(), readAuxiliaryData)
      readList(block, (index) => index.readUint())
    })
  })
  reader.assertEnd()
}

/** Samples are named by their hash, real blocks by the hash of their header. */
function hashesOf(kind: string, bytes: Uint8Array): string[] {
  const hashes = [toHex(blake2b256(bytes))]
  if (kind === 'block') {
    const reader = new CborReader(bytes, 3)
    reader.skip()
    hashes.push(toHex(blake2b256(reader.since(3))))
  }
  return hashes
}

describe.skipIf(samplesFolder === undefined)('samples of cbor-decode/ (needs RATATOSK_VECTORS)', () => {
  describe.each([
    ['transaction', decodeTransaction],
    ['transaction_body', decodeTransactionBody],
    ['block', decodeBlock],
  ] as const)('%s', (kind, decode) => {
    const samples = samplesFolder === undefined ? [] : cborSamples(samplesFolder, kind)

    it('exist', () => {
      expect(samples.length).toBeGreaterThan(0)
    })

    it.each(samples)('$name', ({ wellFormed, bytes, hash }) => {
      expect(hashesOf(kind, bytes)).toContain(hash)
      const error = validateMended(bytes, decode)
      if (wellFormed) expect(error).toBeUndefined()
      else expect(error).toBeDefined()
      if (wellFormed) expect(isWellFormed(bytes)).toBe(true)
    })
  })
})

const chainsFolder = vectorsFolder('midgard-txs')

describe.skipIf(chainsFolder === undefined)('transactions of midgard-txs/ (needs RATATOSK_VECTORS)', () => {
  const chains = chainsFolder === undefined ? [] : midgardChains(chainsFolder)

  it.each(chains)('$name: every transaction has the recorded id', ({ transactions }) => {
    expect(transactions.length).toBeGreaterThan(0)
    for (const { id, cbor } of transactions) expect(toHex(decodeTransaction(cbor).id)).toBe(id)
  })
})

const scenariosFolder = vectorsFolder('ledger-scenarios/scenarios')

describe.skipIf(scenariosFolder === undefined)(
  'transactions of ledger-scenarios/ (needs RATATOSK_VECTORS)',
  () => {
    const files = scenariosFolder === undefined ? [] : readdirSync(scenariosFolder)

    it.each(files)('%s', (file) => {
      const scenario = JSON.parse(readFileSync(join(scenariosFolder ?? '', file), 'utf8'))
      const decode = (): unknown => decodeTransaction(fromHex(scenario.transaction))
      if (scenario.expected.decodingFailure) expect(decode).toThrow(expect.toSatisfy(isDecodeError))
      else expect(decode).not.toThrow()
    })
  },
)

/**
 * The samples are generated from the CDDL, which is looser than the decoder: any bytes are an address, any
 * two numbers a fraction, and scripts may repeat. Replaces such items with valid ones, so that the rest can
 * be checked.
 * @returns the remaining error, if there is one
 */
function validateMended(sample: Uint8Array, decode: (bytes: Uint8Array) => unknown): DecodeError | undefined {
  let bytes = sample
  for (let mended = 0; ; mended++) {
    try {
      decode(bytes)
      return undefined
    } catch (error) {
      if (!isDecodeError(error)) throw error
      const replacement = replacementFor(error, mended)
      if (replacement === undefined) return error
      const reader = new CborReader(bytes, error.offset)
      reader.skip()
      bytes = concatBytes(bytes.subarray(0, error.offset), replacement, bytes.subarray(reader.position))
    }
  }
}

/** A valid item for an invalid address, fraction or repeated script; addresses differ for accounts. */
function replacementFor(error: DecodeError, seed: number): Uint8Array | undefined {
  const isOutput = /(outputs\[\d+\]|collateralReturn)\.address$/.test(error.path)
  const isAddress = error.name === 'AddressError'
  if (isAddress) return fromHex(`581d${isOutput ? '60' : 'e0'}${seed.toString(16).padStart(56, '0')}`)
  if (error.message.includes('a fraction outside its interval')) return fromHex('d81e820102')
  const isScript = error.code === 'CBOR_DUPLICATE' && /plutusV\dScripts\[\d+\]$/.test(error.path)
  return isScript ? fromHex(`44${seed.toString(16).padStart(8, '0')}`) : undefined
}

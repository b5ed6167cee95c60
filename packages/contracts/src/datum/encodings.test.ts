import { toHex } from '@ratatosk/cbor'
import { decodeAnyData } from '@ratatosk/ledger/plutus-data'
import { expect, it } from 'vitest'
import { encodedAnyhow } from '../test/any-encoding.js'
import { drawing } from '../test/fraud/draw.js'
import { header } from '../test/summons/scenarios.js'
import { decodeRegistryDatum, encodeRegistryDatum } from './registry.js'
import { serialised } from './serialised.js'
import { decodeBlockDatum, decodeRootDatum, encodeBlockDatum, encodeRootDatum } from './state-queue.js'

const encodings = Number(process.env.RATATOSK_ENCODINGS ?? 200)
const link = new Uint8Array(28).fill(7)
const state = {
  headerHash: link,
  prevHeaderHash: new Uint8Array(28),
  utxoRoot: new Uint8Array(32).fill(8),
  startTime: 0n,
  endTime: 2n ** 40n,
  blockVersion: header.blockVersion,
}
const operators = [
  { vkey: link, bond: 500_000_000n, activeFrom: 0n },
  { vkey: link, bond: 2n ** 70n, activeFrom: 24n, activeUntil: 2n ** 64n },
]

/** The scripts take each of these datums by its data, which `serialised` writes. */
it.each([
  ['a root', { state, link }, encodeRootDatum, decodeRootDatum],
  ['an empty root', { state }, encodeRootDatum, decodeRootDatum],
  ['a block', { header, link }, encodeBlockDatum, decodeBlockDatum],
  ['the last block', { header }, encodeBlockDatum, decodeBlockDatum],
  ['a registry', { operators, queue: link, running: true }, encodeRegistryDatum, decodeRegistryDatum],
])(`reads %s in each of ${encodings} encodings`, (_what, datum, encode, decode) => {
  const draw = drawing(1)
  const canonical = encode(datum as never)
  for (let i = 0; i < encodings; i++) {
    const cbor = encodedAnyhow(decodeAnyData(canonical), draw)
    expect(serialised(cbor), toHex(cbor)).toEqual(canonical)
    expect(decode(cbor), toHex(cbor)).toEqual(datum)
  }
})

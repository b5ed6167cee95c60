import { CborReader } from '@ratatosk/cbor'
import { expect, it } from 'vitest'
import { constructorData } from '../plutus/cek/values/data.js'
import { decodeData, encodeData } from '../plutus/cek/values/data-cbor.js'
import { constr, decodePlutusData, encodePlutusData } from './index.js'

it('constructors 0 to 127 are encoded as the machine encodes them, and decoded', () => {
  for (let index = 0; index <= 127; index++) {
    const bytes = encodePlutusData(constr(index))
    expect(bytes).toEqual(encodeData(constructorData(index, [])))
    expect(encodeData(decodeData(new CborReader(bytes)))).toEqual(bytes)
    expect(decodePlutusData(bytes)).toEqual(constr(index))
  }
})

it.each(['d87880', 'd88080', 'd904ff80', 'd9057980'])('%s is no constructor with a tag of its own', (hex) => {
  expect(() => decodePlutusData(Uint8Array.from(Buffer.from(hex, 'hex')))).toThrow(
    expect.objectContaining({ name: 'PlutusDataError' }),
  )
})

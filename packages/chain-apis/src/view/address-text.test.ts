import { toHex } from '@ratatosk/cbor'
import { AddressError } from '@ratatosk/ledger'
import { describe, expect, it } from 'vitest'
import { addressText, readAddressText } from './address-text.js'

describe('readAddressText', () => {
  it.each([
    'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz',
    'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi',
    'DdzFFzCqrhsrcTVhLygT24QwTnNqQqQ8mZrq5jykUzMveU26sxaH529kMpo7VhPrt5pwW3dXeB2k3EEvKcNBR' +
      'mzCfcQ7dTkyGzTs658C',
  ])('reads %s, and addressText writes it', (text) => {
    expect(addressText(readAddressText(text))).toBe(text)
  })

  it.each(['', 'nobody', 'addr_test1', '0OIl', '1'.repeat(2000)])('rejects "%.20s"', (text) => {
    expect(() => readAddressText(text)).toThrow(AddressError)
  })

  it('decodes base58 into the bytes of the address', () => {
    expect(
      toHex(readAddressText('Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi').bytes),
    ).toMatch(/^82d818/)
  })
})

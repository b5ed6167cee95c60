import { decodeBech32Address } from '@ratatosk/ledger'
import { expect, it } from 'vitest'
import { type AdditionalOutput, writeAdditionalOutput } from './additional-output.js'

const maxValueSize = 5000
const address = decodeBech32Address('addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv')
const policy = (n: number) => n.toString(16).padStart(56, '0')

function write(assets: AdditionalOutput['assets']) {
  return writeAdditionalOutput(
    { address, lovelace: 2_000_000n, assets, datum: { kind: 'none' } },
    maxValueSize,
  )
}

it('collects the assets of each policy', () => {
  const { value } = write([
    [policy(2), 'aa', 1n],
    [policy(1), '', 2n],
    [policy(2), 'bb', 3n],
  ])
  const assets = Array.from(value.assets, ([id, names]) => [id, Object.fromEntries(names)])
  expect(Object.fromEntries(assets)).toEqual({ [policy(1)]: { '': 2n }, [policy(2)]: { aa: 1n, bb: 3n } })
})

it('stops reading assets when they take more bytes than a value may have', () => {
  let read = 0
  function* endless(): AdditionalOutput['assets'] {
    for (;;) yield [policy(read++), '', 1n]
  }
  expect(() => write(endless())).toThrow('the assets take more than 5000 bytes')
  expect(read).toBeLessThan(200)
})

it('refuses an asset that is repeated', () => {
  expect(() =>
    write([
      [policy(1), 'aa', 1n],
      [policy(1), 'aa', 1n],
    ]),
  ).toThrow('is repeated')
})

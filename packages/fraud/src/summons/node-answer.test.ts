import { headerFieldIndex } from '@ratatosk/block'
import { NodeOpening } from '@ratatosk/contracts'
import { constr, decodeAnyData, encodePlutusData, PlutusDataError } from '@ratatosk/ledger/plutus-data'
import { expect, it } from 'vitest'
import { nodeAnswerFromData } from './node-answer.js'

it.each([
  ['key', 0],
  ['value', 1],
])('reads no leaf whose %s is not bytes', (_what, place) => {
  const { transactionsRoot, utxosRoot } = headerFieldIndex
  for (const root of [transactionsRoot, utxosRoot]) {
    const asked = { path: new Uint8Array(32), depth: 0, root }
    const fields = [new Uint8Array(32), new Uint8Array(32), []]
    expect(
      nodeAnswerFromData(decodeAnyData(encodePlutusData(constr(NodeOpening.leaf, ...fields))), asked),
    ).toMatchObject({ node: { kind: 'leaf' } })
    for (const other of [0n, [], constr(0)]) {
      const data = decodeAnyData(
        encodePlutusData(constr(NodeOpening.leaf, ...fields.with(place, other as never))),
      )
      expect(() => nodeAnswerFromData(data, asked)).toThrow(PlutusDataError)
    }
  }
})

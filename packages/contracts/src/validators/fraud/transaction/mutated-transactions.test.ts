import { headerHash, partsOf } from '@ratatosk/block'
import { isDecodeError } from '@ratatosk/cbor'
import { findTransactionFraud } from '@ratatosk/fraud'
import { decodeTransaction } from '@ratatosk/ledger'
import { decodePlutusData } from '@ratatosk/ledger/plutus-data'
import { expect, it } from 'vitest'
import { transactionFraudScript } from '../../../fraud/scripts.js'
import { blockOf, noteOutputs } from '../../../test/fraud/blocks.js'
import { type Draw, drawing } from '../../../test/fraud/draw.js'
import { honestTransactionsOf } from '../../../test/fraud/transaction/honest-proofs.js'
import { rules } from '../../../test/fraud/transaction/transactions.js'
import { translatePolicy } from '../../../test/fraud/trial.js'

/** `RATATOSK_HONEST_BLOCKS=10000` mutates the transactions of so many blocks, from `RATATOSK_HONEST_FROM`. */
const blocks = Number(process.env.RATATOSK_HONEST_BLOCKS ?? 40)
const from = Number(process.env.RATATOSK_HONEST_FROM ?? 1)
const mutationsOfBlock = 30

/** Bytes with one exchanged, removed, inserted or repeated, or a part of them moved. */
function mutated(bytes: Uint8Array, draw: Draw): Uint8Array {
  const place = draw(bytes.length)
  const length = 1 + draw(draw(4) === 0 ? 40 : 2)
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)]
  const heads = [0x00, 0x18, 0x20, 0x40, 0x58, 0x5f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xd9, 0xf6, 0xff]
  switch (draw(5)) {
    case 0:
      return bytes.with(place, draw(256))
    case 1:
      return bytes.with(place, heads[draw(heads.length)]!)
    case 2:
      return Uint8Array.of(...before, ...after.subarray(length))
    case 3:
      return Uint8Array.of(...before, heads[draw(heads.length)]!, ...after)
    default:
      return Uint8Array.of(...before, ...bytes.subarray(place, place + length), ...after)
  }
}

function isDecoded(bytes: Uint8Array): boolean {
  try {
    decodeTransaction(bytes)
    return true
  } catch (error) {
    if (isDecodeError(error)) return false
    throw error
  }
}

it('is given proofs that it accepts of transactions that the ledger does not decode', {
  timeout: 48 * 3_600_000,
}, () => {
  const rule = translatePolicy(transactionFraudScript(rules))
  const found = new Map<string, number>()
  let missed = 0
  for (let seed = from; seed < from + blocks; seed++) {
    const draw = drawing(seed)
    const honest = honestTransactionsOf(draw)
    for (let i = 0; i < mutationsOfBlock; i++) {
      const bytes = mutated(honest.transactions[draw(honest.transactions.length)]!, draw)
      if (isDecoded(bytes)) continue
      const { id, outputs } = partsOf(bytes)
      noteOutputs(id, outputs)
      const block = blockOf([bytes], honest.outputsBefore)
      const fraud = findTransactionFraud(block, rules)
      if (fraud === undefined) {
        missed++
        continue
      }
      const what = `seed ${seed}: ${fraud.proof.fraud}`
      expect(rule(decodePlutusData(fraud.redeemer), headerHash(block.header)), what).toBe('accepted')
      found.set(fraud.proof.fraud, (found.get(fraud.proof.fraud) ?? 0) + 1)
    }
  }
  process.stdout.write(`proven: ${JSON.stringify([...found])}; not found: ${missed}\n`)
  expect(found.size).toBeGreaterThan(4)
})

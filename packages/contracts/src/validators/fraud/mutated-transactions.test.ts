import { headerHash, partsOf } from '@ratatosk/block'
import { isDecodeError, toHex } from '@ratatosk/cbor'
import { findFraud } from '@ratatosk/fraud'
import { decodeTransaction } from '@ratatosk/ledger'
import { decodePlutusData } from '@ratatosk/ledger/plutus-data'
import { expect, it } from 'vitest'
import { verdictPolicies } from '../../fraud/verdict-policies.js'
import { blockOf, noteOutputs } from '../../test/fraud/blocks.js'
import { drawing } from '../../test/fraud/draw.js'
import { mutatedBytes } from '../../test/fraud/mutated-bytes.js'
import { honestTransactionsOf } from '../../test/fraud/transaction/honest-proofs.js'
import { rules } from '../../test/fraud/transaction/transactions.js'
import { translatePolicy } from '../../test/fraud/trial.js'

/** `RATATOSK_MUTATED_TRANSACTIONS=10000` mutates those of so many blocks, from `RATATOSK_HONEST_FROM`. */
const blocks = Number(process.env.RATATOSK_MUTATED_TRANSACTIONS ?? 10)
const from = Number(process.env.RATATOSK_HONEST_FROM ?? 1)
const mutationsOfBlock = 30

function isDecoded(bytes: Uint8Array): boolean {
  try {
    decodeTransaction(bytes)
    return true
  } catch (error) {
    if (isDecodeError(error)) return false
    throw error
  }
}

it('what the ledger does not decode is proven to be a fraud without a claim about signatures', {
  timeout: 48 * 3_600_000,
}, () => {
  const policies = Object.entries(verdictPolicies)
  const judges = new Map(policies.map(([name, { script }]) => [name, translatePolicy(script(rules))]))
  const found = new Map<string, number>()
  for (let seed = from; seed < from + blocks; seed++) {
    const draw = drawing(seed)
    const honest = honestTransactionsOf(draw)
    for (let i = 0; i < mutationsOfBlock; i++) {
      const bytes = mutatedBytes(honest.transactions[draw(honest.transactions.length)]!, draw)
      if (isDecoded(bytes)) continue
      const { id, outputs } = partsOf(bytes)
      noteOutputs(id, outputs)
      const block = blockOf([bytes], honest.outputsBefore)
      const fraud = findFraud(block, rules)
      const what = `seed ${seed}: ${fraud?.proof.fraud} of ${toHex(bytes)}`
      expect(fraud, what).toBeDefined()
      const { policy, proof, redeemer } = fraud!
      expect(policy, what).not.toBe('witness')
      const ruling = judges.get(policy)!(decodePlutusData(redeemer), headerHash(block.header))
      expect(ruling, what).toBe('accepted')
      found.set(proof.fraud, (found.get(proof.fraud) ?? 0) + 1)
    }
  }
  process.stdout.write(`mutated transactions: ${JSON.stringify([...found])}\n`)
  // In a map that notes nothing of these transactions, the ledger policy proves most.
  expect(found.size).toBeGreaterThan(blocks < 40 ? 6 : 7)
})

import { headerHash } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { decodeTransaction, judgeProfile, judgeUnsigned } from '@ratatosk/ledger'
import { decodePlutusData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { describe, expect, it } from 'vitest'
import { findTransactionFraud } from '../../fraud/find-transaction-fraud.js'
import { encodeLedgerFraudProof } from '../../fraud/ledger-proofs.js'
import type { ProvableRules } from '../../fraud/rules.js'
import { ledgerFraudScript, transactionFraudScript } from '../../fraud/scripts.js'
import { encodeTransactionFraudProof } from '../../fraud/transaction-proofs.js'
import type { PlutusScript } from '../../script/apply.js'
import { blockOf, noteOutputs, type TestBlock } from '../../test/fraud/blocks.js'
import { mintingOf, openCek } from '../../test/fraud/engines.js'
import { honestBlockOf, proofsOf } from '../../test/fraud/honest-blocks.js'
import { honestTransactionsOf, transactionProofsOf } from '../../test/fraud/honest-transactions.js'
import { mutated } from '../../test/fraud/mutations.js'
import { transactionRulesBrokenBy } from '../../test/fraud/transaction-rules.js'
import { rules } from '../../test/fraud/transactions.js'
import { hasVectors, midgardTransactions } from '../../test/fraud/vectors.js'

/**
 * `RATATOSK_HONEST_BLOCKS=10000` tries so many blocks; otherwise a few. `RATATOSK_HONEST_FROM=5001` begins with that seed, so that a long
 * run can be split.
 */
const blocks = Number(process.env.RATATOSK_HONEST_BLOCKS ?? 2)
const from = Number(process.env.RATATOSK_HONEST_FROM ?? 1)
const mutationsOfBlock = 100

/** The transactions of the Midgard chains are tried one by so many; all of them with `RATATOSK_HONEST_BLOCKS`. */
const everyMidgardTransaction = process.env.RATATOSK_HONEST_BLOCKS ? 1 : 1000

/** Numbers by seed (mulberry32), so that a failure can be repeated. */
function drawing(seed: number) {
  let state = seed
  return (count: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }
}

describe('an honest block', { timeout: 48 * 3_600_000 }, () => {
  const evaluate = openCek()
  const script = ledgerFraudScript()

  it('gives no proof of a fraud, of any kind, at any key, and none with its parts changed', async () => {
    const tried = new Map<string, number>()
    for (let seed = from; seed < from + blocks; seed++) {
      const draw = drawing(seed)
      const block = honestBlockOf(draw)
      const name = headerHash(block.header)
      const accepted = async (redeemer: Uint8Array) =>
        (await evaluate(mintingOf({ script, redeemer, name }))).ok
      const redeemers: Uint8Array[] = []
      for (const proof of proofsOf(block)) {
        const redeemer = encodeLedgerFraudProof(block.header, proof)
        redeemers.push(redeemer)
        tried.set(proof.fraud, (tried.get(proof.fraud) ?? 0) + 1)
        expect(await accepted(redeemer), `seed ${seed}: ${JSON.stringify(proof)}`).toBe(false)
      }
      const pool = redeemers.map(decodePlutusData)
      for (let i = 0; i < mutationsOfBlock && pool.length > 0; i++) {
        const changed = encodePlutusData(mutated(pool[draw(pool.length)]!, pool, draw))
        expect(await accepted(changed), `seed ${seed}: ${Buffer.from(changed).toString('hex')}`).toBe(false)
      }
    }
    // Every fraud was tried.
    expect([...tried.keys()]).toHaveLength(12)
  })

  describe('of transactions that keep their own rules', () => {
    const script = transactionFraudScript(rules)
    const accepted = async (block: TestBlock, redeemer: Uint8Array, by = script) =>
      (await evaluate(mintingOf({ script: by, redeemer, name: headerHash(block.header) }))).ok

    /** Tries every proof. */
    async function refused(
      block: TestBlock,
      what: string,
      { by, own = rules }: { by?: PlutusScript; own?: ProvableRules } = {},
    ): Promise<Uint8Array[]> {
      expect(findTransactionFraud(block, own), what).toBeUndefined()
      const redeemers: Uint8Array[] = []
      for (const proof of transactionProofsOf(block)) {
        const redeemer = encodeTransactionFraudProof(block.header, proof)
        redeemers.push(redeemer)
        expect(await accepted(block, redeemer, by), `${what}: ${JSON.stringify(proof)}`).toBe(false)
      }
      return redeemers
    }

    it('gives no proof of a fraud, of any kind, at any place, and none with its parts changed', async () => {
      for (let seed = 1; seed <= blocks; seed++) {
        const draw = drawing(seed)
        const block = honestTransactionsOf(draw)
        expect(await transactionRulesBrokenBy(block), `seed ${seed}`).toEqual([])
        const pool = (await refused(block, `seed ${seed}`)).map(decodePlutusData)
        for (let i = 0; i < mutationsOfBlock; i++) {
          const changed = encodePlutusData(mutated(pool[draw(pool.length)]!, pool, draw))
          expect(await accepted(block, changed), `seed ${seed}: ${toHex(changed)}`).toBe(false)
        }
      }
    })

    it.skipIf(!hasVectors)('gives no proof of a fraud in the transactions of Midgard', async () => {
      // They pay no fees.
      const free = { ...rules, parameters: { ...rules.parameters, minFeeA: 0n, minFeeB: 0n } }
      const freeScript = transactionFraudScript(free)
      const { parameters, networkId } = free
      let [place, tried] = [0, 0]
      for (const bytes of midgardTransactions()) {
        if (place++ % everyMidgardTransaction !== 0) continue
        const transaction = decodeTransaction(bytes)
        const failures = [
          ...judgeProfile(transaction),
          ...judgeUnsigned(transaction, { parameters, networkId, slot: 0n }),
        ]
        if (failures.length > 0) continue
        tried++
        const { id, body } = transaction
        noteOutputs(
          id,
          body.outputs.map(({ bytes }) => bytes),
        )
        await refused(blockOf([bytes], new Map()), `transaction ${place - 1}`, { by: freeScript, own: free })
      }
      expect(tried).toBeGreaterThan(0)
    })
  })
})

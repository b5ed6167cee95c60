import {
  chunkKey,
  decodeChunkRecord,
  headerHash,
  isLeaving,
  maxChunks,
  outputRecordLength,
  partsOf,
} from '@ratatosk/block'
import { concatBytes, equalBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { decodeTransaction, validatePhaseOne, validateProfile } from '@ratatosk/ledger'
import { decodePlutusData } from '@ratatosk/ledger/plutus-data'
import { findFraud } from '@ratatosk/protocol/fraud'
import type { TrieView } from '@ratatosk/trie'
import { describe, expect, it } from 'vitest'
import { type Claim, type RuleRow, ruleRows } from '../../../../protocol/dist/fraud/test/rules.js'
import { verdictPolicies } from '../../fraud-scripts.js'
import { blockOf, hexOf, noteOutputs, type TestBlock } from '../../test/fraud/blocks.js'
import { drawing, mutatedBytes } from '../../test/fraud/draw.js'
import { ledgerLies } from '../../test/fraud/ledger/lies.js'
import { tokensOf } from '../../test/fraud/minting.js'
import { honestTransactionsOf } from '../../test/fraud/transaction/honest-proofs.js'
import { transactionLies } from '../../test/fraud/transaction/lies.js'
import { rules, transactionRulesBrokenBy } from '../../test/fraud/transaction/transactions.js'
import { translatePolicy } from '../../test/fraud/trial.js'
import { witnessFailures, witnessLies } from '../../test/fraud/witness/lies.js'

describe('mutated transactions', () => {
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
        const { header } = block
        const ruling = judges.get(policy)!(
          decodePlutusData(redeemer),
          headerHash(header),
          tokensOf(header, proof),
        )
        expect(ruling, what).toBe('accepted')
        found.set(proof.fraud, (found.get(proof.fraud) ?? 0) + 1)
      }
    }
    process.stdout.write(`mutated transactions: ${JSON.stringify([...found])}\n`)
    // In a map that notes nothing of these transactions, the ledger policy proves most.
    expect(found.size).toBeGreaterThan(blocks < 40 ? 6 : 7)
  })
})

describe('provable rules', async () => {
  const told = await toldLies()
  const claimsOf = (row: RuleRow | undefined) => (row && 'claims' in row ? row.claims : [])
  const rows = Object.entries(ruleRows).flatMap(([rule, row]) =>
    claimsOf(row).map((claim) => ({ rule, claim })),
  )

  describe('the table of rules', () => {
    it.each(rows)('$claim proves a lie of the tests about $rule', ({ rule, claim }) => {
      expect(told.filter((lie) => lie.claim === claim && lie.rules.includes(rule))).not.toEqual([])
    })

    it.each(told)('has a row for what proves $what', ({ claim, rules }) => {
      const known = rules as readonly (keyof typeof ruleRows)[]
      const proving = known.filter((rule) => claimsOf(ruleRows[rule]).includes(claim))
      expect(proving, `${claim} for ${rules}`).not.toEqual([])
    })

    it('has every claim', () => {
      const claims = new Set(told.map(({ claim }) => claim))
      expect(new Set(rows.map(({ claim }) => claim))).toEqual(claims)
    })
  })
})

/** A lie of the tests: the claim that proves it, and the rules by which verifiers refuse the block. */
interface ToldLie {
  readonly what: string
  readonly claim: Claim
  readonly rules: readonly string[]
}

/** Every lie that the tests of the policies tell. */
async function toldLies(): Promise<ToldLie[]> {
  const told: ToldLie[] = []
  for (const { what, block, prove } of ledgerLies)
    told.push({ what, claim: prove(block).fraud, rules: await ledgerRulesBrokenBy(block) })
  for (const { what, block, prove, isDecoded } of transactionLies) {
    const broken = isDecoded ? await transactionRulesBrokenBy(block, rules, noRules) : ['transactions decode']
    told.push({ what, claim: prove(block).fraud, rules: broken })
  }
  for (const { what, block, prove } of witnessLies)
    told.push({ what, claim: prove(block).fraud, rules: witnessFailures(block) })
  return told
}

const noRules: ReadonlySet<string> = new Set()

async function ledgerRulesBrokenBy(block: TestBlock): Promise<string[]> {
  const { deposits = [], bridge } = block
  const honest = blockOf(block.transactions, block.outputsBefore, {}, { deposits, ...(bridge && { bridge }) })
  const differs = (root: 'transactionsRoot' | 'utxosRoot') =>
    Buffer.compare(honest.header[root], block.header[root]) !== 0
  return [
    ...(differs('transactionsRoot') ? ['transactions_root follows from the transactions'] : []),
    ...(differs('utxosRoot') ? ['utxos_root follows from the transactions'] : []),
    ...(countsTooMany(block) ? ['a block has at most 1,024 chunks'] : []),
    ...missingInputsOf(block),
    ...eventRulesBrokenBy(block),
    ...(await transactionRulesBrokenBy(block, rules, new Set(['malformed']))),
    ...block.chunks.flatMap(framesIn).flatMap(encodingRulesBrokenBy),
  ]
}

function countsTooMany({ entries }: TestBlock): boolean {
  const record = entries.get(toHex(chunkKey(0)))
  return record !== undefined && decodeChunkRecord(record).chunks > maxChunks
}

/** The rules about inputs and reference inputs that a block breaks. */
function missingInputsOf({ transactions, outputsBefore, deposits = [], bridge }: TestBlock): string[] {
  const credited = deposits.map(({ id }) => hexOf({ transactionId: id, index: 0 }))
  const unspent = new Set([...outputsBefore.keys(), ...credited])
  const left = new Set<string>()
  return transactions.flatMap((cbor) => {
    const { id, inputs, referenceInputs, outputs } = partsOf(cbor)
    const [spent, read] = [inputs.map(hexOf), referenceInputs.map(hexOf)]
    const broken = [
      ...([...spent, ...read].every((key) => unspent.has(key)) ? [] : ['BadInputsUTxO']),
      ...(spent.some((key) => left.has(key)) ? ['BadInputsUTxO, of spending what has left'] : []),
      ...(read.some((key) => left.has(key)) ? ['BadInputsUTxO, of reading what has left'] : []),
    ]
    for (const key of spent) unspent.delete(key)
    for (const [index, output] of outputs.entries())
      (isLeaving(output, bridge) ? left : unspent).add(hexOf({ transactionId: id, index }))
    return broken
  })
}

/** The rules about what comes from layer 1 and leaves for it that the records of outputs break. */
function eventRulesBrokenBy({ entries, events, before }: TestBlock): string[] {
  const records = [...entries].filter(([, value]) => value.length === outputRecordLength)
  return records.flatMap(([hex, value]) => {
    const [key, view] = [fromHex(hex), new DataView(value.buffer, value.byteOffset)]
    const has = (map: TrieView) => equalBytes(map.valueHash(key) ?? new Uint8Array(), value.subarray(16))
    const [created, spent] = [view.getBigUint64(0), view.getBigUint64(8)]
    const isStray = created === 0n && !has(events.deposits) && (spent === 0n || !has(before))
    const isOwed = spent !== 2n ** 63n || has(events.withdrawals)
    return [
      ...(isStray ? ['transactions_root has no deposit that deposits_root lacks'] : []),
      ...(isOwed ? [] : ['withdrawals_root has what transactions_root says to leave']),
    ]
  })
}

/** The frames of the transactions in a chunk: body, witness set, and what is behind it. */
function framesIn(chunk: Uint8Array): Uint8Array[][] {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length)
  const frames: Uint8Array[] = []
  for (let at = 0; at + 4 <= chunk.length; ) {
    const end = at + 4 + view.getUint32(at)
    frames.push(chunk.subarray(at + 4, end))
    at = end
  }
  return Array.from({ length: Math.floor(frames.length / 3) }, (_, i) => frames.slice(3 * i, 3 * i + 3))
}

/** The rules of encodings and auxiliary data that a transaction breaks. */
function encodingRulesBrokenBy(frames: readonly Uint8Array[]): string[] {
  // A definite array of four items, or one of indefinite length.
  for (const head of [0x84, 0x9f]) {
    try {
      const transaction = decodeTransaction(concatBytes(Uint8Array.of(head), ...frames))
      const context = { parameters: rules.parameters, networkId: rules.networkId, slot: 0n }
      return [...validateProfile(transaction), ...validatePhaseOne(transaction, new Map(), context)]
        .map(({ predicate }) => predicate)
        .filter((predicate) => /Metadata|Transaction.*NotSupported/.test(predicate))
    } catch {}
  }
  return ['transactions decode']
}

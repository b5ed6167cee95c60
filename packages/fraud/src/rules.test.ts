import { blockVersion, isBlockError, judgeBlock } from '@ratatosk/block'
import { equalBytes, fromHex } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import {
  decodeOutputReference,
  decodeTransactionOutput,
  outputReferenceKey,
  slotToTime,
} from '@ratatosk/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evaluator, openScene } from '../../protocol/dist/test/protocol-scene.js'
import { accuse } from './accused-block.js'
import { findFraud } from './find-fraud.js'
import { lies } from './test/lies/index.js'
import { ruleLies } from './test/lies/rule-lies.js'
import { accusation, blockOf, type Committed, type Story, tellStory } from './test/lying-blocks.js'
import { ruleRows } from './test/rules.js'

let story: Story
let rules: ProvableRules
let times: { readonly startTime: bigint; readonly endTime: bigint }
beforeAll(async () => {
  const { devnet, layer1, slots } = await openScene()
  // The ledger version in which an input must not be read too.
  const parameters = { ...(await layer1.parameters()), ledgerVersion: { major: 10, minor: 0 } }
  rules = { parameters, networkId: 0, slots }
  story = await tellStory(parameters, slots)
  const endTime = slotToTime(slots, devnet.currentSlot())
  times = { startTime: endTime - 20_000n, endTime }
  await devnet.close()
})
afterAll(() => evaluator.close())

const told: Readonly<Record<string, (story: Story) => Committed>> = {
  ...Object.fromEntries(lies.map(({ what, tell }) => [what, tell])),
  ...ruleLies,
}
const rows = Object.entries(ruleRows).flatMap(([rule, row]) => ('lie' in row ? [{ rule, ...row }] : []))

/** What the first refused transaction breaks; undefined if the block keeps the rules. */
async function judged({ transactions, outputs }: Committed): Promise<readonly string[] | undefined> {
  const cbor = new Map(
    Array.from(outputs.before, ([key, output]) => [
      outputReferenceKey(decodeOutputReference(fromHex(key))),
      output,
    ]),
  )
  const before = {
    get(key: string) {
      const output = cbor.get(key)
      return output && decodeTransactionOutput(output)
    },
  }
  try {
    await judgeBlock(transactions, times, before, { ...rules, evaluator })
    return undefined
  } catch (error) {
    if (!isBlockError(error) || error.code !== 'BLOCK_INVALID') throw error
    return (error.failures ?? []).map(({ predicate }) => predicate)
  }
}

async function proven(block: Committed) {
  const header = {
    ...block.roots,
    ...times,
    depositsRoot: new Uint8Array(32),
    withdrawalsRoot: new Uint8Array(32),
    prevHeaderHash: new Uint8Array(28),
    operatorVkey: new Uint8Array(28),
    blockVersion,
  }
  return findFraud(await accuse(accusation(block, header)), rules)?.proof.fraud
}

describe('rules of blocks', () => {
  it.each(rows)('$rule: an operator says $lie', async ({ rule, lie, besides = [], ...row }) => {
    const block = told[lie]!(story)
    const root = /^(transactions|utxos)_root/.exec(rule)?.[1]
    const predicates = await judged(block)
    if (root) {
      const name = root === 'utxos' ? 'utxosRoot' : 'transactionsRoot'
      expect(predicates).toBeUndefined()
      expect(equalBytes(block.roots[name], blockOf(story.transactions).roots[name])).toBe(false)
    } else {
      const predicate = /^[A-Z]\w+/.exec(rule)?.[0]
      expect(predicates?.toSorted()).toEqual([...(predicate ? [predicate] : []), ...besides].toSorted())
    }
    const fraud = await proven(block)
    if (row.foundAs) expect(fraud).toBe(row.foundAs)
    else if ('claims' in row) expect(row.claims).toContain(fraud)
    else expect(fraud).toBeUndefined()
  })

  it('tells every lie about a rule', () => {
    expect(Object.keys(ruleLies).filter((what) => !rows.some(({ lie }) => lie === what))).toEqual([])
  })
})

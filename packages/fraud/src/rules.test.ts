import { isBlockError, judgeBlock } from '@ratatosk/block'
import { equalBytes, fromHex } from '@ratatosk/cbor'
import { decodeOutputReference, decodeTransactionOutput, outputReferenceKey } from '@ratatosk/ledger'
import { beforeAll, describe, expect, it } from 'vitest'
import { evaluator } from '../../protocol/dist/test/protocol-scene.js'
import { lies } from './test/lies/index.js'
import { ruleLies } from './test/lies/rule-lies.js'
import { blockOf, type Committed, type Story } from './test/lying-blocks.js'
import { type OpenStory, openStory } from './test/open-story.js'
import { ruleRows } from './test/rules.js'

let opened: OpenStory
beforeAll(async () => {
  opened = await openStory()
})
const told: Readonly<Record<string, (story: Story) => Committed>> = {
  ...Object.fromEntries(lies.map(({ what, tell }) => [what, tell])),
  ...ruleLies,
}
const rows = Object.entries(ruleRows).flatMap(([rule, row]) => ('lie' in row ? [{ rule, ...row }] : []))

/** The rules that the first refused transaction breaks; undefined if the block keeps the rules. */
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
  const { interval, rules } = opened
  try {
    await judgeBlock(transactions, interval, before, { ...rules, evaluator })
    return undefined
  } catch (error) {
    if (!isBlockError(error) || error.code !== 'BLOCK_INVALID') throw error
    return (error.failures ?? []).map(({ predicate }) => predicate)
  }
}

describe('rules of blocks', () => {
  it.each(rows)('$rule: an operator says $lie', async ({ rule, lie, besides = [], ...row }) => {
    const { story, find } = opened
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
    const fraud = (await find(block))?.proof.fraud
    if (row.foundAs) expect(fraud).toBe(row.foundAs)
    else if ('claims' in row) expect(row.claims).toContain(fraud)
    else expect(fraud).toBeUndefined()
  })

  it('tells every lie about a rule', () => {
    expect(Object.keys(ruleLies).filter((what) => !rows.some(({ lie }) => lie === what))).toEqual([])
  })
})

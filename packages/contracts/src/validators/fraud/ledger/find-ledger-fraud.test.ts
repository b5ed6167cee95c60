import { fromHex } from '@ratatosk/cbor'
import { findLedgerFraud } from '@ratatosk/fraud'
import { describe, expect, it } from 'vitest'
import { ledgerFraudScript } from '../../../fraud/scripts.js'
import { engines } from '../../../test/evaluate.js'
import type { TestBlock } from '../../../test/fraud/blocks.js'
import { honestBlockOf } from '../../../test/fraud/ledger/honest-blocks.js'
import { ledgerLies } from '../../../test/fraud/ledger/lies.js'
import { convictingBy } from '../../../test/fraud/minting.js'

const script = ledgerFraudScript()
const find = (block: TestBlock) =>
  findLedgerFraud({
    ...block,
    keys: [...block.outputsBefore.keys(), ...block.outputsAfter.keys()].map((key) => fromHex(key)),
  })

describe('findLedgerFraud', () => {
  const judge = engines.cek

  it.each(ledgerLies)('finds a fraud that the policy accepts where $what', ({ block }) => {
    const found = find(block)
    expect(found).toBeDefined()
    expect(judge(convictingBy(script, block.header, found!))).toMatchObject({ ok: true })
  })

  it('finds only what needs no outputs after the block where these are unknown', () => {
    for (const { block, what } of ledgerLies) {
      const { after: _, ...unknown } = block
      const found = findLedgerFraud(unknown)
      if (what.includes('after the block')) expect(found, what).toBeUndefined()
      else expect(found, what).toBeDefined()
    }
  })

  it('finds nothing in honest blocks', () => {
    let state = 7
    const draw = (count: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return (state >>> 8) % count
    }
    for (let i = 0; i < 40; i++) expect(find(honestBlockOf(draw))).toBeUndefined()
  })
})

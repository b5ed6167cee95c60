import { headerHash } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import {
  encodeLedgerFraudProof,
  encodeResolution,
  findLedgerFraud,
  type LedgerFraudProof,
  outsource,
  resolutionName,
} from '@ratatosk/protocol/fraud'
import { describe, expect, it } from 'vitest'
import { ledgerFraudScript } from '../../../fraud-scripts.js'
import { engines, testedEngines } from '../../../test/evaluate.js'
import { honestBlock, type TestBlock } from '../../../test/fraud/blocks.js'
import { encodeLedgerBreach, ledgerBreaches } from '../../../test/fraud/ledger/breaches.js'
import { honestBlockOf, resolutionsIn } from '../../../test/fraud/ledger/honest-blocks.js'
import { ledgerLies } from '../../../test/fraud/ledger/lies.js'
import { convictingBy, mintingOf } from '../../../test/fraud/minting.js'
import { judgeWithoutRules, verdictsOf } from '../../../test/fraud/without-rules.js'

const script = ledgerFraudScript()

const verdict = verdictsOf(script, encodeLedgerFraudProof)

describe('the ledger policy', () => {
  it('has at most 12 kB', () => {
    expect(script.bytes.length).toBeLessThan(12_000)
  })

  describe.each(Object.entries(testedEngines))('run by %s', (_engine, judge) => {
    it.each(ledgerLies)('accepts the proof that $what', ({ block, prove }) => {
      expect(judge(verdict(block, prove(block)))).toMatchObject({ ok: true })
    })

    it.each(ledgerLies.filter(({ hasTwin }) => hasTwin))(
      'refuses, of the honest block, the proof that $what',
      ({ block, prove }) => {
        let proof: LedgerFraudProof
        try {
          proof = prove(honestBlock)
        } catch {
          // The honest block has no such entry to open; the lie's own openings are of another root.
          proof = prove(block)
        }
        expect(judge(verdict(honestBlock, proof))).toMatchObject({ ok: false })
      },
    )

    it('reads a body from the datum of a reference input', () => {
      const { block, prove } = ledgerLies[0]!
      const proof = prove(block) as Extract<LedgerFraudProof, { fraud: 'inputSpentElsewhere' }>
      const { body } = proof.transaction
      const redeemer = encodeLedgerFraudProof(block.header, {
        ...proof,
        transaction: { ...proof.transaction, body: 1 },
      })
      const mint = { script, redeemer, name: headerHash(block.header) }
      const held = encodePlutusData(body as Uint8Array)
      const other = encodePlutusData(new Uint8Array(40))
      expect(judge(mintingOf({ ...mint, datums: [other, held] }))).toMatchObject({ ok: true })
      expect(judge(mintingOf({ ...mint, datums: [held, other] }))).toMatchObject({ ok: false })
    })

    it('reads proofs from the datums of reference inputs', () => {
      const { block, prove } = ledgerLies.find(({ what }) => what === 'an input never was')!
      const { datums, redeemer } = outsource(encodeLedgerFraudProof(block.header, prove(block)), 0)
      expect(datums.length).toBeGreaterThan(1)
      const last = datums.length - 1
      const mint = {
        script,
        redeemer: redeemer(datums.map((_, at) => last - at)),
        name: headerHash(block.header),
      }
      expect(judge(mintingOf({ ...mint, datums: datums.toReversed() }))).toMatchObject({ ok: true })
      expect(judge(mintingOf({ ...mint, datums }))).toMatchObject({ ok: false })
    })

    it('mints tokens of what references stand for', () => {
      const parts = [...resolutionsIn(honestBlock)]
      const { header } = honestBlock
      for (const [place, part] of parts.entries()) {
        const mint = { script, redeemer: encodeResolution(header, part) }
        const name = resolutionName(header, part)
        expect(judge(mintingOf({ ...mint, name }))).toMatchObject({ ok: true })
        for (const other of [
          headerHash(header),
          resolutionName(header, { ...part, isLast: !part.isLast }),
          resolutionName(header, { ...part, first: part.first + 1 }),
          resolutionName(header, parts[(place + 3) % parts.length]!),
        ])
          expect(judge(mintingOf({ ...mint, name: other }))).toMatchObject({ ok: false })
      }
    })

    it('burns verdicts without a proof, and mints none beside', () => {
      const burn = mintingOf({
        script,
        redeemer: encodePlutusData(0n),
        name: new Uint8Array(28),
        quantity: -2n,
      })
      expect(judge(burn)).toMatchObject({ ok: true })
      const token = { policy: script.hash, name: new Uint8Array(28).fill(1), quantity: 1n }
      const [output] = burn.outputs
      const both = {
        ...burn,
        mint: [...burn.mint, token],
        outputs: [{ ...output!, tokens: [token] }],
      }
      expect(judge(both)).toMatchObject({ ok: false })
    })
  })

  judgeWithoutRules({
    title: 'ledger_fraud',
    parameters: [],
    breaches: ledgerBreaches,
    encode: encodeLedgerBreach,
  })
})

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

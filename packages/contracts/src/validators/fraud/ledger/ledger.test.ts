import { headerHash } from '@ratatosk/block'
import {
  encodeLedgerFraudProof,
  encodeResolution,
  type LedgerFraudProof,
  outsource,
  resolutionName,
} from '@ratatosk/fraud'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { describe, expect, it } from 'vitest'
import { ledgerFraudScript } from '../../../fraud/scripts.js'
import { casesOf } from '../../../test/evaluate.js'
import { honestBlock } from '../../../test/fraud/blocks.js'
import { mintingOf, openEngines } from '../../../test/fraud/engines.js'
import { encodeLedgerBreach, ledgerBreaches } from '../../../test/fraud/ledger/breaches.js'
import { resolutionsIn } from '../../../test/fraud/ledger/honest-blocks.js'
import { ledgerLies } from '../../../test/fraud/ledger/lies.js'
import { judgeWithoutRules, verdictsOf } from '../../../test/fraud/without-rules.js'

const script = ledgerFraudScript()

const verdict = verdictsOf(script, encodeLedgerFraudProof)

describe('the ledger policy', () => {
  const judges = openEngines()

  it('has at most 12 kB', () => {
    expect(script.bytes.length).toBeLessThan(12_000)
  })

  describe.each(Object.entries(judges))('run by %s', (engine, judge) => {
    it.each(casesOf(engine, ledgerLies))('accepts the proof that $what', async ({ block, prove }) => {
      expect(await judge(verdict(block, prove(block)))).toMatchObject({ ok: true })
    })

    it.each(
      casesOf(
        engine,
        ledgerLies.filter(({ hasTwin }) => hasTwin),
      ),
    )('refuses, of the honest block, the proof that $what', async ({ block, prove }) => {
      let proof: LedgerFraudProof
      try {
        proof = prove(honestBlock)
      } catch {
        // The honest block has no such entry to open; the lie's own openings are of another root.
        proof = prove(block)
      }
      expect(await judge(verdict(honestBlock, proof))).toMatchObject({ ok: false })
    })

    it('reads a body from the datum of a reference input', async () => {
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
      expect(await judge(mintingOf({ ...mint, datums: [other, held] }))).toMatchObject({ ok: true })
      expect(await judge(mintingOf({ ...mint, datums: [held, other] }))).toMatchObject({ ok: false })
    })

    it('reads proofs from the datums of reference inputs', async () => {
      const { block, prove } = ledgerLies.find(({ what }) => what === 'an input never was')!
      const { datums, redeemer } = outsource(encodeLedgerFraudProof(block.header, prove(block)), 0)
      expect(datums.length).toBeGreaterThan(1)
      const last = datums.length - 1
      const mint = {
        script,
        redeemer: redeemer(datums.map((_, at) => last - at)),
        name: headerHash(block.header),
      }
      expect(await judge(mintingOf({ ...mint, datums: datums.toReversed() }))).toMatchObject({ ok: true })
      expect(await judge(mintingOf({ ...mint, datums }))).toMatchObject({ ok: false })
    })

    it('mints tokens of what references stand for', async () => {
      const parts = [...resolutionsIn(honestBlock)]
      const { header } = honestBlock
      for (const [place, part] of parts.entries()) {
        const mint = { script, redeemer: encodeResolution(header, part) }
        const name = resolutionName(header, part)
        expect(await judge(mintingOf({ ...mint, name }))).toMatchObject({ ok: true })
        for (const other of [
          headerHash(header),
          resolutionName(header, { ...part, isLast: !part.isLast }),
          resolutionName(header, { ...part, first: part.first + 1 }),
          resolutionName(header, parts[(place + 3) % parts.length]!),
        ])
          expect(await judge(mintingOf({ ...mint, name: other }))).toMatchObject({ ok: false })
      }
    })

    it('burns verdicts without a proof, and mints none beside', async () => {
      const burn = mintingOf({
        script,
        redeemer: encodePlutusData(0n),
        name: new Uint8Array(28),
        quantity: -2n,
      })
      expect(await judge(burn)).toMatchObject({ ok: true })
      const token = { policy: script.hash, name: new Uint8Array(28).fill(1), quantity: 1n }
      const [output] = burn.outputs
      const both = {
        ...burn,
        mint: [...burn.mint, token],
        outputs: [{ ...output!, tokens: [token] }],
      }
      expect(await judge(both)).toMatchObject({ ok: false })
    })
  })

  judgeWithoutRules({
    title: 'ledger_fraud',
    parameters: [],
    breaches: ledgerBreaches,
    encode: encodeLedgerBreach,
  })
})

import { headerHash } from '@ratatosk/block'
import { encodeWitnessFraudProof, findWitnessFraud } from '@ratatosk/protocol/fraud'
import { describe, expect, it } from 'vitest'
import { witnessFraudScript } from '../../../fraud-scripts.js'
import type { PlutusScript } from '../../../scripts.js'
import { engines, parameters } from '../../../test/evaluate.js'
import type { TestBlock } from '../../../test/fraud/blocks.js'
import { type Draw, drawing, some } from '../../../test/fraud/draw.js'
import { mintingOf } from '../../../test/fraud/minting.js'
import { openTrial, type Trial } from '../../../test/fraud/trial.js'
import {
  type HonestDraft,
  honestDraft,
  witnessedBlock,
  witnessProofsOf,
} from '../../../test/fraud/witness/honest-blocks.js'
import { predicates, witnessFailures } from '../../../test/fraud/witness/lies.js'

/**
 * `RATATOSK_HONEST_BLOCKS=10000` tries so many blocks; otherwise a few proofs of a few.
 * `RATATOSK_HONEST_FROM` is the first seed, to split such a run.
 */
const blocks = Number(process.env.RATATOSK_HONEST_BLOCKS ?? 0)
const from = Number(process.env.RATATOSK_HONEST_FROM ?? 1)
const seeds = (otherwise: number) => Array.from({ length: blocks || otherwise }, (_, index) => from + index)
const proofsOfBlock = blocks > 0 ? 150 : 60
const mutationsOfBlock = blocks > 0 ? 35 : 20

const honestDrafts = (draw: Draw): HonestDraft[] =>
  Array.from({ length: 1 + draw(2) }, (_, index) => honestDraft(draw, index * 100))

describe('the witnesses of an honest block', { timeout: 48 * 3_600_000 }, () => {
  const evaluate = engines.cek
  const ours = witnessFraudScript(parameters)
  const trialOf = (script: PlutusScript) =>
    openTrial({
      script,
      machine: evaluate,
      ...(blocks > 0 ? { first: 20, every: 100 } : { first: 1, every: 100 }),
    })

  async function expectNoVerdict(block: TestBlock, draw: Draw, trial: Trial) {
    const proofs = some([...witnessProofsOf(block)], proofsOfBlock, draw)
    const stated = proofs.map(
      ({ fraud, prove }) => [fraud, encodeWitnessFraudProof(block.header, prove())] as const,
    )
    await trial.expectNoVerdict(block.header, stated, mutationsOfBlock, draw)
  }

  it('give no proof of a fraud, of any kind, and none with its parts changed', async () => {
    const trial = trialOf(ours)
    for (const seed of seeds(3)) {
      const draw = drawing(seed)
      const block = witnessedBlock(honestDrafts(draw), draw)
      expect(witnessFailures(block), `seed ${seed}`).toEqual([])
      expect(findWitnessFraud(block, parameters), `seed ${seed}`).toBeUndefined()
      await expectNoVerdict(block, draw, trial)
    }
  })

  it('are judged by the search as by the ledger, whatever is left out', () => {
    const named = new Set<string>(Object.values(predicates))
    let refused = 0
    for (const seed of seeds(60)) {
      const draw = drawing(seed)
      const block = witnessedBlock(
        honestDrafts(draw).map((draft) => damaged(draft, draw)),
        draw,
      )
      const failures = witnessFailures(block).filter((predicate) => named.has(predicate))
      const found = findWitnessFraud(block, parameters)
      expect(found === undefined, `seed ${seed}: ${failures}`).toBe(failures.length === 0)
      if (found === undefined) continue
      refused++
      const expected = [predicates[found.proof.fraud] as string]
      // Without redeemers there must be no script data hash; for the ledger, scripts without theirs still
      // give one.
      if (found.proof.fraud === 'wrongScriptDataHash') expected.push(predicates.redeemerMissing)
      expect(
        expected.some((each) => failures.includes(each)),
        `seed ${seed}: ${failures}`,
      ).toBe(true)
      if (blocks === 0 && refused > 15) continue
      const minting = mintingOf({ script: ours, redeemer: found.redeemer, name: headerHash(block.header) })
      expect(evaluate(minting), `seed ${seed}`).toMatchObject({ ok: true })
    }
    expect(refused).toBeGreaterThan(10)
  })
})

/** Leaves out or changes a part of a transaction, which may be one that is not needed. */
function damaged({ draft, before }: HonestDraft, draw: Draw): HonestDraft {
  const fewer = <T>(items: readonly T[] = []): T[] => {
    const left = draw(Math.max(1, items.length))
    return items.filter((_, place) => place !== left)
  }
  const changes = [
    {},
    { signers: fewer(draft.signers) },
    { nativeScripts: fewer(draft.nativeScripts) },
    { plutus: fewer(draft.plutus) },
    { referenceInputs: fewer(draft.referenceInputs) },
    { datums: fewer(draft.datums) },
    { redeemers: fewer(draft.redeemers) },
    { validFrom: draw(400) },
    { validTo: draw(400) },
    { scriptDataHash: null },
    { scriptDataHash: new Uint8Array(32) },
    { signed: () => new Uint8Array(32) },
  ]
  return { before, draft: { ...draft, ...changes[draw(changes.length)] } }
}

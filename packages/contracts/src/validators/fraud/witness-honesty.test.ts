import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { headerHash, partsOf } from '@ratatosk/block'
import { fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import {
  decodeTransaction,
  encodeOutputReference,
  judgeProfile,
  type ProtocolParameters,
} from '@ratatosk/ledger'
import { decodePlutusData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { vectors } from '@ratatosk/test-vectors'
import { describe, expect, it } from 'vitest'
import { findWitnessFraud } from '../../fraud/find-witness-fraud.js'
import { witnessFraudScript } from '../../fraud/scripts.js'
import { encodeWitnessFraudProof } from '../../fraud/witness-proofs.js'
import { parameters } from '../../test/evaluate.js'
import { blockOf, type Entries, noteOutputs, type TestBlock } from '../../test/fraud/blocks.js'
import { mintingOf, openCek } from '../../test/fraud/engines.js'
import type { Draw } from '../../test/fraud/loose-bodies.js'
import { mutated } from '../../test/fraud/mutations.js'
import { hasVectors } from '../../test/fraud/vectors.js'
import {
  type HonestDraft,
  honestDraft,
  witnessedBlock,
  witnessProofsOf,
} from '../../test/fraud/witness-honest-blocks.js'
import { witnessFailures } from '../../test/fraud/witness-judge.js'
import { predicates } from '../../test/fraud/witness-lies.js'

/**
 * `RATATOSK_HONEST_BLOCKS=10000` tries so many blocks, and everything in the vectors; otherwise a few proofs of a few.
 * `RATATOSK_HONEST_FROM` is the first seed, to split such a run.
 */
const blocks = Number(process.env.RATATOSK_HONEST_BLOCKS ?? 0)
const from = Number(process.env.RATATOSK_HONEST_FROM ?? 1)
const seeds = (otherwise: number) => Array.from({ length: blocks || otherwise }, (_, index) => from + index)
const proofsOfBlock = blocks > 0 ? Number.POSITIVE_INFINITY : 20
const mutationsOfBlock = blocks > 0 ? 100 : 20

/** Numbers by seed (mulberry32), so that a failure can be repeated. */
function drawing(seed: number): Draw {
  let state = seed
  return (count) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }
}

/** As many items as there may be, at random. */
function some<T>(items: readonly T[], most: number, draw: Draw): T[] {
  const rest = [...items]
  while (rest.length > most) rest.splice(draw(rest.length), 1)
  return rest
}

const honestDrafts = (draw: Draw): HonestDraft[] =>
  Array.from({ length: 1 + draw(2) }, (_, index) => honestDraft(draw, index * 100))

describe('the witnesses of an honest block', { timeout: 48 * 3_600_000 }, () => {
  const evaluate = openCek()
  const ours = witnessFraudScript(parameters)

  /** Expects that no proof of a block is accepted, and no change of one. */
  async function expectNoVerdict(block: TestBlock, what: string, draw: Draw, script = ours) {
    const name = headerHash(block.header)
    const expectRefused = async (redeemer: Uint8Array) => {
      const { ok } = await evaluate(mintingOf({ script, redeemer, name }))
      expect(ok, `${what}: ${toHex(redeemer)}`).toBe(false)
    }
    const redeemers = [...witnessProofsOf(block)].map((proof) => encodeWitnessFraudProof(block.header, proof))
    for (const redeemer of some(redeemers, proofsOfBlock, draw)) await expectRefused(redeemer)
    const pool = some(redeemers, 100, draw).map(decodePlutusData)
    for (let i = 0; i < mutationsOfBlock; i++)
      await expectRefused(encodePlutusData(mutated(pool[draw(pool.length)]!, pool, draw)))
  }

  it('give no proof of a fraud, of any kind, and none with its parts changed', async () => {
    for (const seed of seeds(3)) {
      const draw = drawing(seed)
      const block = witnessedBlock(honestDrafts(draw), draw)
      expect(witnessFailures(block), `seed ${seed}`).toEqual([])
      expect(findWitnessFraud(block, parameters), `seed ${seed}`).toBeUndefined()
      await expectNoVerdict(block, `seed ${seed}`, draw)
    }
  })

  it('are judged by the search as by the ledger, whatever is left out', async () => {
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
      // Without redeemers there must be no script data hash; for the ledger, scripts that lack theirs still give one.
      if (found.proof.fraud === 'wrongScriptDataHash') expected.push(predicates.redeemerMissing)
      expect(
        expected.some((each) => failures.includes(each)),
        `seed ${seed}: ${failures}`,
      ).toBe(true)
      if (blocks === 0 && refused > 15) continue
      const minting = mintingOf({ script: ours, redeemer: found.redeemer, name: headerHash(block.header) })
      expect(await evaluate(minting), `seed ${seed}`).toMatchObject({ ok: true })
    }
    expect(refused).toBeGreaterThan(10)
  })

  it.skipIf(!hasVectors)('of Midgard’s transactions give no proof', async () => {
    const size = 4
    for (const file of ['txs_0.json', 'txs_1.json']) {
      const transactions = read<readonly { cborHex: string }[]>('midgard-txs', file).map(({ cborHex }) =>
        fromHex(cborHex),
      )
      for (let at = size; at < transactions.length; at += blocks > 0 ? size : 500) {
        const before: Entries = new Map()
        for (const transaction of transactions.slice(0, at)) note(transaction, before)
        const own = transactions.slice(at, at + size)
        for (const transaction of own) note(transaction)
        await expectNoVerdict(blockOf(own, before), `${file} from ${at}`, drawing(at))
      }
    }
  })

  it.skipIf(!hasVectors)('of the ledger’s scenarios give no proof', async () => {
    let tried = 0
    for (const name of readdirSync(join(vectors, 'ledger-scenarios', 'scenarios')).sort()) {
      const scenario = read<Scenario>('ledger-scenarios', 'scenarios', name)
      const transaction = fromHex(scenario.transaction)
      if (scenario.expected !== 'Pass' || !isOfLayer2(transaction)) continue
      tried++
      if (blocks === 0 && tried % 4 !== 0) continue
      const before = new Map(
        (scenario.initialState.utxo ?? []).map(({ input, output }) => [input, fromHex(output)]),
      )
      note(transaction)
      const costModels = costModelsOf(scenario)
      await expectNoVerdict(
        blockOf([transaction], before),
        name,
        drawing(tried),
        witnessFraudScript({ costModels }),
      )
    }
    expect(tried).toBeGreaterThanOrEqual(10)
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

interface Scenario {
  readonly protocolParameters: { readonly $ref: string }
  readonly initialState: { readonly utxo?: readonly { readonly input: string; readonly output: string }[] }
  readonly transaction: string
  readonly expected: unknown
}

const read = <T>(...path: readonly string[]): T => JSON.parse(readFileSync(join(vectors, ...path), 'utf8'))

function costModelsOf({ protocolParameters }: Scenario): ProtocolParameters['costModels'] {
  const { plutusCostModels } = read<{ plutusCostModels: { readonly [language: string]: readonly number[] } }>(
    'ledger-scenarios',
    protocolParameters.$ref,
  )
  return Object.fromEntries(
    Object.entries(plutusCostModels).map(([language, model]) => [
      language.replace('plutus', 'Plutus'),
      model.map(BigInt),
    ]),
  )
}

function isOfLayer2(transaction: Uint8Array): boolean {
  try {
    return judgeProfile(decodeTransaction(transaction)).length === 0
  } catch (error) {
    if (isDecodeError(error)) return false
    throw error
  }
}

/** Makes the outputs of a transaction known, and those that it leaves. */
function note(transaction: Uint8Array, unspent?: Entries): void {
  const { id, inputs, outputs } = partsOf(transaction)
  noteOutputs(id, outputs)
  for (const input of inputs) unspent?.delete(toHex(encodeOutputReference(input)))
  for (const [index, output] of outputs.entries())
    unspent?.set(toHex(encodeOutputReference({ transactionId: id, index })), output)
}

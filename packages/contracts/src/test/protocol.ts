import { describe, expect } from 'vitest'
import { type Evaluate, testedEngines } from './evaluate.js'
import { instrumentedBuild } from './instrumented-build.js'
import type { TestTransaction } from './transaction.js'
import { createWorld, type World, type WorldOptions } from './world.js'

/** The scripts of the protocol, and an engine that runs them. */
export interface Protocol {
  open(options?: WorldOptions): World
  readonly evaluate: Evaluate
  /** Expects that the scripts refuse a transaction by `rule`; undefined if they fail before any rule. */
  refuses(transaction: TestTransaction, rule: string | undefined): void
}

/** Declares tests that run on the published scripts, and on instrumented ones, which name the broken rule. */
export function describeProtocol(name: string, declare: (protocol: Protocol) => void): void {
  const variants = {
    state_queue: instrumented('state_queue'),
    operator_registry: instrumented('operator_registry'),
  }
  for (const [engine, evaluate] of Object.entries(testedEngines)) {
    describe(`${name}, run by ${engine}`, () => {
      describe('in published scripts', () => {
        const refuses = (transaction: TestTransaction) =>
          expect(evaluate(transaction)).toMatchObject({ ok: false })
        declare({ open: createWorld, evaluate, refuses })
      })
      describe('in instrumented scripts', () => {
        const refuses: Protocol['refuses'] = (transaction, lastTrace) =>
          expect(evaluate(transaction)).toMatchObject({ ok: false, lastTrace })
        declare({ open: (options) => createWorld({ ...options, variants }), evaluate, refuses })
      })
    })
  }
}

/** A script that skips no rule. */
const instrumented = (title: 'state_queue' | 'operator_registry') => ({
  program: instrumentedBuild(title).program,
  leading: [-1n],
})

/** Both transactions in one: outputs 0 and 1 would have to serve both rollups. */
export const withNeighbor = (transaction: TestTransaction, other: TestTransaction): TestTransaction => ({
  ...transaction,
  inputs: [
    ...transaction.inputs,
    ...other.inputs.filter(({ redeemer }) => redeemer).map((input) => ({ ...input, id: input.id + 20 })),
  ],
  outputs: [...transaction.outputs, ...other.outputs],
  mint: [...transaction.mint, ...other.mint],
  mintRedeemers: [...transaction.mintRedeemers, ...other.mintRedeemers],
  referenceInputs: [
    ...transaction.referenceInputs,
    ...other.referenceInputs.map((input) => ({ ...input, id: input.id + 1 - 100 })),
  ],
})

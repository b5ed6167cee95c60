import type { Header } from '@ratatosk/block'
import { expect, it } from 'vitest'
import { encodeRegistryAction } from '../datum/registry.js'
import { encodeRootDatum } from '../datum/state-queue.js'
import { timeOf } from '../test/evaluate.js'
import type { TestKey } from '../test/keys.js'
import { describeProtocol, withNeighbor } from '../test/protocol.js'
import {
  blockOutput,
  commitFirst,
  commitSecond,
  firstHeader,
  init,
  merge,
  merged,
  secondHeader,
} from '../test/queue/scenarios.js'
import { entry, registerSecond, registryOf, running } from '../test/registry/scenarios.js'
import type { TestTransaction } from '../test/transaction.js'
import {
  ada,
  changeInput,
  changeOutput,
  createWorld,
  operator,
  otherOperator,
  stranger,
} from '../test/world.js'

const published = createWorld()

it('spends in each scenario what the previous scenario paid', () => {
  const [begun, first, second] = [init(published), commitFirst(published), commitSecond(published)]
  const spent = (transaction: TestTransaction, id: number) =>
    transaction.inputs.find((input) => input.id === id)?.output
  expect(spent(first, 2)).toEqual(begun.outputs[1])
  expect(spent(second, 2)).toEqual(first.outputs[1])
  expect(spent(merge(published), 2)).toEqual(first.outputs[0])
  expect(spent(merge(published), 3)).toEqual(second.outputs[0])
})

describeProtocol('commits and merges', ({ open, evaluate, refuses }) => {
  const world = open()
  /** Another rollup with the same code. */
  const neighbor = open({ maturityWindow: 29_000n })

  it('accepts a block that ends with the turn', () => {
    const header: Header = { ...secondHeader, endTime: timeOf(100n) }
    expect(evaluate(commitSecond(world, header))).toMatchObject({ ok: true })
  })

  it('accepts a block of the next operator in the next turn', () => {
    const header: Header = { ...secondHeader, endTime: timeOf(120n), operatorVkey: otherOperator.hash }
    const transaction = { ...commitSecond(world, header), validFrom: 100n }
    expect(evaluate({ ...transaction, signatories: [otherOperator.hash] })).toMatchObject({ ok: true })
    refuses({ ...transaction, signatories: [operator.hash] }, 'commit-signed-by-operator')
  })

  it('accepts more ada than an element held', () => {
    const [root, ...others] = commitFirst(world).outputs
    const outputs = [{ ...root!, lovelace: ada(7) }, ...others]
    expect(evaluate({ ...commitFirst(world), outputs })).toMatchObject({ ok: true })
  })

  it('merges with root and block in either input order', () => {
    const transaction = merge(world)
    const swapped = transaction.inputs.map((input) => ({ ...input, id: 10 - input.id }))
    expect(evaluate({ ...transaction, inputs: swapped })).toMatchObject({ ok: true })
  })

  it('merges the last block into an empty queue', () => {
    const transaction = changeInput(merge(world), 3, { datum: blockOutput(world, firstHeader).datum! })
    const ended = changeOutput(transaction, 0, { datum: encodeRootDatum({ state: merged }) })
    expect(evaluate(ended)).toMatchObject({ ok: true })
  })

  it.each([
    ['validFrom', 'commit-in-turn'],
    ['validTo', 'commit-end-time'],
  ] as const)('refuses a block without %s', (missing, rule) => {
    const { [missing]: _, ...transaction } = commitFirst(world)
    refuses(transaction, rule)
  })

  it('refuses a root beside which the registry is not spent', () => {
    const { inputs, outputs, ...rest } = init(world)
    refuses({ ...rest, inputs: inputs.slice(0, 1), outputs: [outputs[2]!, outputs[1]!] }, undefined)
  })

  it('refuses an unknown action', () => {
    const unknown = Uint8Array.of(0xd8, 121 + 6, 0x80)
    const transaction = commitFirst(world)
    const mintRedeemers = [{ policy: world.queue.policy, redeemer: unknown }]
    refuses({ ...transaction, mintRedeemers }, undefined)
  })

  it('refuses to mint a registry under the redeemer of register', () => {
    const transaction = registerSecond(world)
    const token = transaction.outputs[0]!.tokens![0]!
    refuses(
      {
        ...transaction,
        mint: [token],
        mintRedeemers: [
          {
            policy: world.registry.policy,
            redeemer: encodeRegistryAction({ kind: 'register', operator: operator.hash }),
          },
        ],
      },
      undefined,
    )
  })

  it('refuses one output that serves two rollups', () => {
    refuses(withNeighbor(commitFirst(world), commitFirst(neighbor)), 'commit-continues-address')
    refuses(withNeighbor(commitFirst(neighbor), commitFirst(world)), 'commit-continues-address')
    refuses(withNeighbor(merge(world), merge(neighbor)), 'merge-continues-address')
  })

  it('keeps the operators of the turn in progress and the next when one registers and one retires', () => {
    const [first, second] = [entry(operator), entry(otherOperator)]
    const changed = running(
      world,
      entry(stranger, { activeFrom: timeOf(160n) }),
      { ...first, activeUntil: timeOf(160n) },
      second,
    )
    const by = (committer: TestKey, validFrom: bigint) => {
      const header = { ...secondHeader, endTime: timeOf(validFrom + 20n), operatorVkey: committer.hash }
      const transaction = commitSecond(world, header)
      return evaluate({
        ...transaction,
        validFrom,
        signatories: [committer.hash],
        referenceInputs: transaction.referenceInputs.map((input) =>
          input.id === 200 ? { id: 200, output: registryOf(world, changed) } : input,
        ),
      }).ok
    }
    expect([by(operator, 50n), by(otherOperator, 110n)]).toEqual([true, true])
    expect([by(stranger, 50n), by(stranger, 110n)]).toEqual([false, false])
    // From slot 160 on the newcomer and the other operator share the turns.
    expect([by(stranger, 170n), by(otherOperator, 230n), by(operator, 170n)]).toEqual([true, true, false])
  })
})

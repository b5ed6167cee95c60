import type { Header } from '@ratatosk/block'
import { describe, expect, it } from 'vitest'
import { encodeRegistryAction } from '../datum/registry.js'
import { encodeRootDatum } from '../datum/state-queue.js'
import { renouncedAdministrator } from '../script/scripts.js'
import { refusingEngines, timeOf } from '../test/evaluate.js'
import type { TestKey } from '../test/keys.js'
import { byMultisig, multisig, multisigInput } from '../test/multisig.js'
import {
  chain,
  prune,
  pruneBlocks,
  removeActive,
  removeAlreadySlashed,
  removeByHeldVerdict,
  removeRetired,
  thirdHeader,
} from '../test/queue/removals.js'
import {
  blockOutput,
  commitFirst,
  commitSecond,
  deinit,
  deploy,
  firstHeader,
  genesis,
  init,
  merge,
  merged,
  remove,
  secondHeader,
} from '../test/queue/scenarios.js'
import {
  deinit as deinitRegistry,
  entry,
  evict,
  init as initRegistry,
  registerSecond,
  registryOf,
  retire,
  running,
} from '../test/registry/scenarios.js'
import type { TestTransaction } from '../test/transaction.js'
import { verdict, verdictToken } from '../test/verdict.js'
import {
  ada,
  administrator,
  changeInput,
  changeOutput,
  createWorld,
  deploymentInput,
  operator,
  otherOperator,
  scriptReference,
  stranger,
  wallet,
} from '../test/world.js'

const world = createWorld()
/** Another rollup with the same code. */
const neighbor = createWorld({ maturityWindow: 29_000n })

/** Both transactions in one: output 0 and 1 would have to serve both rollups. */
const withNeighbor = (transaction: TestTransaction, other: TestTransaction): TestTransaction => ({
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

it('spends in each scenario what the previous scenario paid', () => {
  const [begun, first, second] = [init(world), commitFirst(world), commitSecond(world)]
  const spent = (transaction: TestTransaction, id: number) =>
    transaction.inputs.find((input) => input.id === id)?.output
  expect(spent(first, 2)).toEqual(begun.outputs[1])
  expect(spent(second, 2)).toEqual(first.outputs[1])
  expect(spent(merge(world), 2)).toEqual(first.outputs[0])
  expect(spent(merge(world), 3)).toEqual(second.outputs[0])
})

describe.each(Object.entries(refusingEngines))('the protocol, run by %s', (_name, evaluate) => {
  it('accepts a block that ends with the turn', () => {
    const header: Header = { ...secondHeader, endTime: timeOf(100n) }
    expect(evaluate(commitSecond(world, header))).toMatchObject({ ok: true })
  })

  it('accepts a block of the next operator in the next turn', () => {
    const header: Header = { ...secondHeader, endTime: timeOf(120n), operatorVkey: otherOperator.hash }
    const transaction = { ...commitSecond(world, header), validFrom: 100n }
    expect(evaluate({ ...transaction, signatories: [otherOperator.hash] })).toMatchObject({ ok: true })
    expect(evaluate({ ...transaction, signatories: [operator.hash] })).toMatchObject({ ok: false })
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

  it.each(['validFrom', 'validTo'] as const)('refuses a block without %s', (missing) => {
    const { [missing]: _, ...transaction } = commitFirst(world)
    expect(evaluate(transaction)).toMatchObject({ ok: false })
  })

  it('removes by a verdict with predecessor and block in either input order', () => {
    const transaction = removeActive(world)
    const swapped = transaction.inputs.map((input) => ({ ...input, id: 10 - input.id }))
    expect(evaluate({ ...transaction, inputs: swapped })).toMatchObject({ ok: true })
  })

  it('removes a block that was committed again, by the verdict of the first time', () => {
    const { inputs, outputs, ...transaction } = removeAlreadySlashed(world)
    const references = transaction.referenceInputs.filter(({ id }) => id !== 252)
    expect(
      evaluate({
        ...transaction,
        inputs,
        outputs,
        referenceInputs: [...references, { id: 201, output: wallet(ada(2), [verdictToken(firstHeader)]) }],
        mint: transaction.mint.slice(0, 1),
        mintRedeemers: transaction.mintRedeemers.slice(0, 1),
      }),
    ).toMatchObject({ ok: true })
  })

  it('removes the last block by a verdict, and leaves no link', () => {
    const transaction = changeInput(removeActive(world), 3, {
      datum: blockOutput(world, firstHeader).datum!,
    })
    const ended = changeOutput(transaction, 0, { datum: encodeRootDatum({ state: genesis }) })
    expect(evaluate(ended)).toMatchObject({ ok: true })
  })

  it('refuses every removal by a verdict where the list of policies is empty', () => {
    const unjudged = createWorld({ verdictPolicies: [] })
    for (const scenario of [removeActive, removeRetired, removeAlreadySlashed, removeByHeldVerdict])
      expect(evaluate(scenario(unjudged))).toMatchObject({ ok: false })
    expect(evaluate(remove(unjudged))).toMatchObject({ ok: true })
  })

  it('refuses a removal whose registry has another redeemer than the queue expects', () => {
    for (const action of [
      { kind: 'release', operator: operator.hash },
      { kind: 'retire', operator: operator.hash },
      { kind: 'slash', operator: operator.hash, approach: 'retired' },
      { kind: 'slash', operator: otherOperator.hash, approach: 'active' },
    ] as const) {
      const transaction = removeActive(world)
      const inputs = transaction.inputs.map((input) =>
        input.id === 5 ? { ...input, redeemer: encodeRegistryAction(action) } : input,
      )
      const signatories = [operator.hash, otherOperator.hash]
      expect(evaluate({ ...transaction, inputs, signatories })).toMatchObject({ ok: false })
    }
  })

  it("refuses to slash an operator by a removal in another rollup's queue", () => {
    const theirs = removeActive(neighbor)
    const own = removeActive(world)
    // The neighbor's operator is spared, and the same operator's bond with this registry is taken instead.
    expect(
      evaluate({
        ...theirs,
        inputs: [...theirs.inputs.filter(({ id }) => id !== 5), ...own.inputs.filter(({ id }) => id === 5)],
        referenceInputs: [...theirs.referenceInputs, scriptReference(world.registry, 240)],
        outputs: [theirs.outputs[0]!, own.outputs[1]!, ...own.outputs.slice(2)],
      }),
    ).toMatchObject({ ok: false })
    // Both registries are spent under one removal.
    expect(
      evaluate({
        ...theirs,
        inputs: [
          ...theirs.inputs,
          ...own.inputs.filter(({ id }) => id === 5).map((input) => ({ ...input, id: 6 })),
        ],
        referenceInputs: [...theirs.referenceInputs, scriptReference(world.registry, 240)],
        outputs: [...theirs.outputs.slice(0, 2), own.outputs[1]!, ...own.outputs.slice(2)],
      }),
    ).toMatchObject({ ok: false })
  })

  it('refuses one verdict, or two, for removals in two rollups at once', () => {
    for (const [first, second] of [
      [world, neighbor],
      [neighbor, world],
    ] as const) {
      const both = withNeighbor(removeActive(first), removeActive(second))
      const verdicts = both.mintRedeemers.slice(-1)
      const mint = both.mint.filter(
        ({ policy }, place, all) => all.findIndex((other) => other.policy === policy) === place,
      )
      const mintRedeemers = [
        ...both.mintRedeemers.filter(({ policy }) => policy !== verdict.hash),
        ...verdicts,
      ]
      expect(evaluate({ ...both, mint, mintRedeemers })).toMatchObject({ ok: false })
    }
  })

  it('prunes blocks behind a block that was removed, whoever made them', () => {
    const theirs = { ...secondHeader, operatorVkey: stranger.hash }
    expect(evaluate(pruneBlocks(world, [theirs], thirdHeader))).toMatchObject({ ok: true })
  })

  it('prunes fifty blocks at once', () => {
    expect(evaluate(pruneBlocks(world, chain(50)))).toMatchObject({ ok: true })
  })

  it('refuses a root beside which the registry is not spent', () => {
    const { inputs, outputs, ...rest } = init(world)
    expect(
      evaluate({ ...rest, inputs: inputs.slice(0, 1), outputs: [outputs[2]!, outputs[1]!] }),
    ).toMatchObject({ ok: false })
  })

  it('refuses an unknown action', () => {
    const unknown = Uint8Array.of(0xd8, 121 + 6, 0x80)
    const transaction = commitFirst(world)
    const mintRedeemers = [{ policy: world.queue.policy, redeemer: unknown }]
    expect(evaluate({ ...transaction, mintRedeemers })).toMatchObject({ ok: false })
  })

  it('refuses to mint a registry under the redeemer of register', () => {
    const transaction = registerSecond(world)
    const token = transaction.outputs[0]!.tokens![0]!
    expect(
      evaluate({
        ...transaction,
        mint: [token],
        mintRedeemers: [
          {
            policy: world.registry.policy,
            redeemer: encodeRegistryAction({ kind: 'register', operator: operator.hash }),
          },
        ],
      }),
    ).toMatchObject({ ok: false })
  })

  it('refuses one output that serves two rollups', () => {
    expect(evaluate(withNeighbor(commitFirst(world), commitFirst(neighbor)))).toMatchObject({ ok: false })
    expect(evaluate(withNeighbor(commitFirst(neighbor), commitFirst(world)))).toMatchObject({ ok: false })
    expect(evaluate(withNeighbor(merge(world), merge(neighbor)))).toMatchObject({ ok: false })
  })

  it('removes with predecessor and block in either input order', () => {
    const transaction = remove(world)
    const swapped = transaction.inputs.map((input) => ({ ...input, id: 10 - input.id }))
    expect(evaluate({ ...transaction, inputs: swapped })).toMatchObject({ ok: true })
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

  describe('with an open registry', () => {
    const open = createWorld({ permissioned: false })

    it('registers an operator without the administrator', () => {
      expect(evaluate({ ...registerSecond(open), signatories: [otherOperator.hash] })).toMatchObject({
        ok: true,
      })
    })

    it('refuses to retire an operator against their will', () => {
      expect(evaluate(retire(open))).toMatchObject({ ok: true })
      expect(evaluate(evict(open))).toMatchObject({ ok: false })
    })
  })

  describe('with a renounced administrator', () => {
    const free = createWorld({ administrator: renouncedAdministrator, permissioned: false })

    it('starts registry and queue in one transaction, which only the deployment output authorises', () => {
      expect(evaluate(deploy(free))).toMatchObject({ ok: true })
      const { inputs, ...rest } = deploy(free)
      expect(evaluate({ ...rest, inputs: inputs.filter(({ id }) => id !== deploymentInput) })).toMatchObject({
        ok: false,
      })
      expect(evaluate(deploy(createWorld({ permissioned: false })))).toMatchObject({ ok: false })
    })

    it('starts no second queue beside the first, and none later', () => {
      const again = { ...init(free), signatories: [renouncedAdministrator.hash] }
      expect(evaluate(again)).toMatchObject({ ok: false })
      const { inputs, ...rest } = deploy(free)
      const spent = changeInput(init(free), 2, registryOf(free, running(free))).inputs[1]!
      expect(evaluate({ ...rest, inputs: [...inputs, spent] })).toMatchObject({ ok: false })
    })

    it.each(Object.entries({ initRegistry, init, deinit, remove, deinitRegistry, evict }))(
      'refuses %s, whoever signs',
      (_name, scenario) => {
        const signatories = [administrator.hash, renouncedAdministrator.hash]
        expect(evaluate({ ...scenario(free), signatories })).toMatchObject({ ok: false })
      },
    )

    it('lives without: operators register and retire, blocks are committed, merged, removed and pruned', () => {
      const registered = { ...registerSecond(free), signatories: [otherOperator.hash] }
      expect(evaluate(registered)).toMatchObject({ ok: true })
      for (const scenario of [retire, commitFirst, merge, removeActive, removeAlreadySlashed, prune])
        expect(evaluate(scenario(free))).toMatchObject({ ok: true })
    })
  })

  describe('with a native script as administrator', () => {
    const shared = createWorld({ administrator: { kind: 'script', hash: multisig.hash } })

    it.each(Object.entries({ init, deinit, remove, initRegistry, deinitRegistry, registerSecond, evict }))(
      'accepts %s that spends an output of the script',
      (_name, scenario) => {
        expect(evaluate(byMultisig(scenario(shared)))).toMatchObject({ ok: true })
      },
    )

    it('refuses the signature of a key in its place', () => {
      expect(evaluate(deinit(shared))).toMatchObject({ ok: false })
      const signed = { ...deinit(shared), signatories: [multisig.hash] }
      expect(evaluate(signed)).toMatchObject({ ok: false })
    })

    it('refuses an output of the script that is only referred to', () => {
      const { inputs, ...rest } = byMultisig(deinit(shared))
      const reference = inputs.find(({ id }) => id === multisigInput)!
      expect(
        evaluate({
          ...rest,
          inputs: inputs.filter((input) => input !== reference),
          referenceInputs: [...rest.referenceInputs, reference],
        }),
      ).toMatchObject({ ok: false })
    })
  })
})

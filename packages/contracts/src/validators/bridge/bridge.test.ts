import { headerHash } from '@ratatosk/block'
import { CborWriter, concatBytes } from '@ratatosk/cbor'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { describe, expect, it } from 'vitest'
import { encodeBridgeSpend, encodeSettle } from '../../datum/bridge.js'
import { bridgeBreaches, payAndKeepTokens, payAndSplit, payMore } from '../../test/bridge/breaches.js'
import {
  bridgedTokens,
  deposit,
  entriesOf,
  eventToken,
  firstId,
  mergeAndSettle,
  type Owed,
  owedMap,
  owing,
  payAssets,
  payFromDeposits,
  payLast,
  payOne,
  payout,
  reserve,
  settlement,
  settlementName,
  settlementToken,
  targetOf,
  tidy,
  tidyBoth,
  tidyReserves,
  withdrawal,
  withdrawals,
} from '../../test/bridge/scenarios.js'
import { testedEngines } from '../../test/evaluate.js'
import { type Draw, drawing } from '../../test/fraud/draw.js'
import { judgeRules } from '../../test/judge-rules.js'
import { commitFirst, genesis, merge, rootOutput } from '../../test/queue/scenarios.js'
import type { TestTransaction, Token } from '../../test/transaction.js'
import {
  ada,
  changeInput,
  changeOutput,
  createWorld,
  foreign,
  rootName,
  type World,
  wallet,
} from '../../test/world.js'

judgeRules(
  'bridge',
  {
    mergeAndSettle,
    payOne,
    payLast,
    payAssets,
    payFromDeposits,
    payAndKeepTokens,
    payAndSplit,
    payMore,
    tidy: (world) => tidy(world),
    tidyReserves: (world) => tidyReserves(world),
    tidyBoth,
  },
  bridgeBreaches,
)

const world = createWorld()

/** One of the encodings that layer 2 has of a withdrawal: the order of fields and assets is free. */
function drawnOutput(draw: Draw, tokens: readonly Token[], lovelace: bigint, target: Uint8Array): Uint8Array {
  const writer = new CborWriter(4096)
  const isOpen = () => draw(2) === 0
  const shuffled = <T>(items: readonly T[]): T[] => {
    const left = [...items]
    return items.map(() => left.splice(draw(left.length), 1)[0]!)
  }
  const within = (kind: 'map' | 'array', size: number, write: () => void) => {
    if (isOpen()) {
      if (kind === 'map') writer.indefiniteMap()
      else writer.indefiniteArray()
      write()
      writer.break()
    } else {
      writer[kind](size)
      write()
    }
  }
  const policies = shuffled([...new Set(tokens.map(({ policy }) => policy))])
  const writeAssets = () => {
    for (const policy of policies) {
      const own = shuffled(tokens.filter((token) => token.policy === policy))
      writer.bytes(policy)
      within('map', own.length, () => {
        for (const { name, quantity } of own) writer.bytes(name).uint(quantity)
      })
    }
  }
  const fields = [
    () => writer.uint(0).bytes(world.bridge.address),
    () => {
      writer.uint(1)
      if (tokens.length === 0 && draw(2) === 0) writer.uint(lovelace)
      else
        within('array', 2, () => {
          writer.uint(lovelace)
          within('map', policies.length, writeAssets)
        })
    },
    () => {
      writer.uint(2)
      within('array', 2, () => writer.uint(1).tag(24).bytes(encodePlutusData(target)))
    },
  ]
  within('map', 3, () => {
    for (const write of shuffled(fields)) write()
  })
  const output = writer.toBytes()
  decodeTransactionOutput(output)
  return output
}

const without = (transaction: TestTransaction, id: number): TestTransaction => ({
  ...transaction,
  referenceInputs: transaction.referenceInputs.filter((input) => input.id !== id),
})

function tidyWith(change: Parameters<typeof changeInput>[2]): TestTransaction {
  const transaction = tidy(world)
  return {
    ...transaction,
    referenceInputs: transaction.referenceInputs.map((input) =>
      input.id === 199 ? { ...input, output: { ...input.output, ...change } } : input,
    ),
  }
}

function withAction(redeemer: Uint8Array): TestTransaction {
  const transaction = payOne(world)
  return {
    ...transaction,
    inputs: transaction.inputs.map((input) => (input.id === 10 ? { ...input, redeemer } : input)),
  }
}

function settleBesideCommit(of: World): TestTransaction {
  const transaction = commitFirst(of, owing)
  const token = settlementToken(of, headerHash(owing))
  const [last, block, change] = transaction.outputs
  return {
    ...transaction,
    referenceInputs: [...transaction.referenceInputs, ...mergeAndSettle(of).referenceInputs.slice(-1)],
    outputs: [last!, block!, { ...mergeAndSettle(of).outputs[2]! }, change!],
    mint: [...transaction.mint, token],
    mintRedeemers: [...transaction.mintRedeemers, { policy: of.bridge.policy, redeemer: encodeSettle() }],
  }
}

function twoDeposits(): TestTransaction {
  const transaction = deposit(world)
  const [first, change] = transaction.outputs
  return {
    ...transaction,
    outputs: [first!, first!, change!],
    mint: [eventToken(world, firstId, 2n)],
  }
}

describe.each(Object.entries(testedEngines))('run by %s', (_engine, evaluate) => {
  it('pays withdrawals in every encoding that layer 2 has', () => {
    const draw = drawing(5)
    for (let round = 0; round < 6; round++) {
      const owed = withdrawals(world, 4).map((each, number): Owed => {
        const tokens = bridgedTokens(draw(8), 1 + draw(4))
        const { lovelace } = each.paid
        const output = drawnOutput(draw, tokens, lovelace, targetOf(number))
        return { ...each, output, paid: { ...each.paid, tokens } }
      })
      const transaction = payout(world, owed)
      expect(evaluate(changeInput(transaction, 10, { lovelace: ada(30) }))).toMatchObject({ ok: true })
    }
  })

  it('pays all withdrawals of a block in any order, and ends with the last', () => {
    const draw = drawing(9)
    let shown = 0
    for (const count of [2, 3, 9, 40]) {
      const left = withdrawals(world, count)
      const trie = owedMap(left, 0)
      while (left.length > 0) {
        const batch = Array.from(
          { length: Math.min(left.length, 1 + draw(6)) },
          () => left.splice(draw(left.length), 1)[0]!,
        )
        const before = Uint8Array.from(trie.root)
        const entries = entriesOf(trie, batch)
        shown += entries.filter(({ children }) => children).length
        const transaction = payout(world, batch, { others: left.length === 0 ? 0 : 20 })
        const inputs = transaction.inputs.map((input) =>
          input.id === 2
            ? {
                id: 2,
                output: settlement(world, before),
                redeemer: encodeBridgeSpend({ kind: 'pay', entries }),
              }
            : input,
        )
        const next = left.length === 0 ? {} : settlement(world, trie.root)
        expect(evaluate(changeOutput({ ...transaction, inputs }, 0, next))).toMatchObject({ ok: true })
      }
    }
    expect(shown).toBeGreaterThan(5)
  })

  it.each<readonly [string, TestTransaction]>([
    ['a deposit without the event token', changeOutput(deposit(world), 0, { tokens: [] })],
    [
      'a deposit whose datum is a hash',
      { ...deposit(world), outputs: [{ ...payOne(world).outputs[1]!, address: world.bridge.address }] },
    ],
    [
      'an output in array form with the hash of a datum',
      payout(world, [
        {
          ...withdrawal(world, 1),
          output: new CborWriter()
            .array(3)
            .bytes(world.bridge.address)
            .uint(ada(5) + 1n)
            .bytes(concatBytes(Uint8Array.of(0x58, 29), targetOf(1), Uint8Array.of(0)))
            .toBytes(),
        },
      ]),
    ],
    [
      'an output without a datum',
      payout(world, [
        {
          ...withdrawal(world, 1),
          output: new CborWriter().map(2).uint(0).bytes(world.bridge.address).uint(1).uint(ada(5)).toBytes(),
        },
      ]),
    ],
    [
      'a payout whose settlement has no token',
      changeOutput(changeInput(payOne(world), 2, { tokens: [] }), 0, { tokens: [] }),
    ],
    [
      'the last payout that keeps the settlement’s token',
      {
        ...changeOutput(payLast(world), 3, { tokens: [settlementToken(world, settlementName)] }),
        mint: [],
        mintRedeemers: [],
      },
    ],
    [
      'the treasury that follows a wallet',
      {
        ...payOne(world),
        inputs: [
          { id: 1, output: wallet(ada(100)) },
          {
            id: 10,
            output: reserve(world, ada(50)),
            redeemer: encodeBridgeSpend({ kind: 'follow', leader: 0 }),
          },
        ],
      },
    ],
    ['the treasury by an unknown action', withAction(Uint8Array.of(0xd8, 0x7c, 0x80))],
    ['tidying without the registry', without(tidy(world), 200)],
    ['tidying without the root', without(tidy(world), 199)],
    ['tidying by a root of another policy', tidyWith({ tokens: [foreign(rootName)] })],
    [
      'tidying by a root with another token',
      tidyWith({ tokens: [...rootOutput(world, genesis).tokens!, foreign(rootName)] }),
    ],
    ['a settlement beside a commit', settleBesideCommit(world)],
    ['a merge that owes something and settles nothing', merge(world, owing)],
    ['a merge that owes something without a bridge', merge(createWorld({ bridge: false }), owing)],
    ['a settlement without the registry', without(mergeAndSettle(world), 200)],
    [
      'a merge that pays a settlement at once',
      {
        ...mergeAndSettle(world),
        mint: [...mergeAndSettle(world).mint, settlementToken(world, settlementName, -1n)],
      },
    ],
    ['two deposits by one transaction', twoDeposits()],
  ])('refuses %s', (_what, transaction) => {
    expect(evaluate(transaction)).toMatchObject({ ok: false })
  })
})

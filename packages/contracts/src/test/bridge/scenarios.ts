import { type Header, headerHash } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { type Assets, blake2b256, encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import {
  createMemoryStore,
  createTrie,
  type Proof,
  proofToCbor,
  type Trie,
  type TrieView,
} from '@ratatosk/trie'
import {
  type BridgeSpend,
  depositId,
  depositOutput,
  encodeBridgeDatum,
  encodeBridgeSpend,
  encodeEventAction,
  encodeSettle,
  type Layer1Datum,
} from '../../datum/bridge.js'
import { leastMerged } from '../../layout.js'
import { timeOf } from '../evaluate.js'
import { fillers } from '../fraud/blocks.js'
import { firstHeader, genesis, merge, registryOutput, rootOutput } from '../queue/scenarios.js'
import {
  encodeOutput,
  type TestInput,
  type TestOutput,
  type TestTransaction,
  type Token,
} from '../transaction.js'
import {
  ada,
  bridgedPolicies,
  changeOutput,
  eventWait,
  otherOperator,
  payoutFee,
  scriptReference,
  type World,
  wallet,
  walletAddress,
} from '../world.js'

/*
 * Transactions that the scripts of events and of the bridge accept.
 */

/** The user's address on layer 2. */
export const userAddress = walletAddress(otherOperator.hash)

/** The reference that the inputs of tests have by their number. */
const referenceOf = (id: number): OutputReference => ({
  transactionId: new Uint8Array(32).fill(id),
  index: 0,
})

export const eventToken = ({ events }: World, name: Uint8Array, quantity = 1n): Token => ({
  policy: events.policy,
  name,
  quantity,
})

/** So many tokens of so many policies that layer 1 backs. */
export const bridgedTokens = (count: number, policies = 4): Token[] =>
  Array.from({ length: count }, (_, i) => ({
    policy: bridgedPolicies[i % policies]!,
    name: Uint8Array.of(i, 1, 2, 3),
    quantity: BigInt(i + 1),
  }))

export function assetsOf(tokens: readonly Token[]): Assets {
  const assets = new Map<string, Map<string, bigint>>()
  for (const { policy, name, quantity } of tokens) {
    const names = assets.get(toHex(policy)) ?? new Map<string, bigint>()
    assets.set(toHex(policy), names.set(toHex(name), quantity))
  }
  return assets
}

export interface DepositOptions {
  readonly tokens?: readonly Token[]
  readonly lovelace?: bigint
  readonly address?: Uint8Array
  readonly datum?: Layer1Datum
}

const none: Layer1Datum = { kind: 'none' }

/** The id that a deposit has whose first input is that of number 1. */
export const firstId = depositId(referenceOf(1))

/** Deposits by a transaction that is valid in slots 40 to 59. */
export function deposit(world: World, options: DepositOptions = {}): TestTransaction {
  const { tokens = [], lovelace = ada(60), address = userAddress, datum = none } = options
  const output = depositOutput({ address, lovelace, assets: assetsOf(tokens), datum })
  const token = eventToken(world, firstId)
  return {
    inputs: [{ id: 1, output: wallet(ada(100), tokens) }],
    referenceInputs: [scriptReference(world.events)],
    outputs: [
      {
        address: world.bridge.address,
        lovelace,
        tokens: [...tokens, token],
        datum: encodeBridgeDatum({
          kind: 'deposit',
          id: firstId,
          time: timeOf(60n) + eventWait,
          address,
          datum,
          outputHash: blake2b256(output),
        }),
      },
      wallet(ada(30)),
    ],
    mint: [token],
    mintRedeemers: [{ policy: world.events.policy, redeemer: encodeEventAction() }],
    signatories: [],
    validFrom: 40n,
    validTo: 60n,
  }
}

/** A deposit that lies at the bridge. @param name byte of its id */
export const deposited = (
  world: World,
  { name = 1, time = timeOf(99n), lovelace = ada(10), tokens = [] as readonly Token[] } = {},
): TestOutput => {
  const id = new Uint8Array(32).fill(name)
  return {
    address: world.bridge.address,
    lovelace,
    tokens: [...tokens, eventToken(world, id)],
    datum: encodeBridgeDatum({
      kind: 'deposit',
      id,
      time,
      address: userAddress,
      datum: none,
      outputHash: new Uint8Array(32),
    }),
  }
}

export const settlementToken = ({ bridge }: World, name: Uint8Array, quantity = 1n): Token => ({
  policy: bridge.policy,
  name,
  quantity,
})

export const settlementName = new Uint8Array(28).fill(0x5e)
/** The end of the block that the settlement of payouts is of. */
export const settled = timeOf(100n)

export const settlement = (
  world: World,
  root: Uint8Array,
  { name = settlementName, time = settled, lovelace = ada(2) } = {},
): TestOutput => ({
  address: world.bridge.address,
  lovelace,
  tokens: [settlementToken(world, name)],
  datum: encodeBridgeDatum({ kind: 'settlement', root, time }),
})

/** A header by which something leaves layer 2. */
export const owing: Header = { ...firstHeader, withdrawalsRoot: new Uint8Array(32).fill(7) }

/** Merges a block, and makes its settlement with 1.5 ada of the block's. */
export function mergeAndSettle(world: World): TestTransaction {
  const transaction = merge(world, owing)
  const [root, refund, change] = transaction.outputs
  const token = settlementToken(world, headerHash(owing))
  return {
    ...transaction,
    referenceInputs: [
      { id: 200, output: registryOutput(world) },
      ...transaction.referenceInputs,
      scriptReference(world.bridge, 251),
    ],
    outputs: [
      root!,
      { ...refund!, lovelace: ada(4) - 1_500_000n },
      {
        ...settlement(world, owing.withdrawalsRoot, { time: owing.endTime, lovelace: 1_500_000n }),
        tokens: [token],
      },
      change!,
    ],
    mint: [...transaction.mint, token],
    mintRedeemers: [...transaction.mintRedeemers, { policy: world.bridge.policy, redeemer: encodeSettle() }],
  }
}

/** An output that a settlement owes, and the output that pays it. */
export interface Owed {
  readonly key: Uint8Array
  readonly output: Uint8Array
  readonly paid: TestOutput
}

export const keyOf = (name: string): Uint8Array =>
  encodeOutputReference({ transactionId: blake2b256(new TextEncoder().encode(name)), index: 0 })

export interface WithdrawalOptions {
  readonly tokens?: readonly Token[]
  readonly lovelace?: bigint
  readonly target?: Uint8Array
  /** Of a datum for the payment. */
  readonly datumHash?: Uint8Array
}

export const targetOf = (number: number): Uint8Array => walletAddress(new Uint8Array(28).fill(number + 1))

/** A withdrawal by its number, from 0 to 250. */
export function withdrawal(world: World, number: number, options: WithdrawalOptions = {}): Owed {
  const { tokens = [], lovelace = ada(5) + BigInt(number), target = targetOf(number), datumHash } = options
  const content = datumHash ? concatBytes(target, datumHash) : target
  return {
    key: keyOf(`withdrawal ${number}`),
    output: encodeOutput({
      address: world.bridge.address,
      lovelace,
      tokens,
      datum: encodePlutusData(content),
    }),
    paid: { address: target, lovelace: lovelace - payoutFee, tokens, ...(datumHash && { datumHash }) },
  }
}

export const withdrawals = (world: World, count: number): Owed[] =>
  Array.from({ length: count }, (_, number) => withdrawal(world, number))

/** The map of what is owed, and of so many others. */
export function owedMap(owed: readonly Pick<Owed, 'key' | 'output'>[], others: number): Trie {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  const keys = owed.map(({ key }) => toHex(key))
  const rest = others === 0 ? [] : fillers(others, keys)
  trie.update([
    ...rest.map((key) => ({ type: 'insert' as const, key: fromHex(key), value: Uint8Array.of(1) })),
    ...owed.map(({ key, output }) => ({ type: 'insert' as const, key, value: output })),
  ])
  return trie
}

/** The children of the last branch of a proof, if its last step is a branch. */
export function lastChildren(trie: TrieView, key: Uint8Array, proof: Proof): Uint8Array | undefined {
  if (proof.at(-1)?.type !== 'branch') return undefined
  const depth = proof.slice(0, -1).reduce((sum, { skip }) => sum + skip + 1, 0)
  const node = trie.nodeAt(blake2b256(key), depth)
  return node?.kind === 'branch' ? node.children : undefined
}

type Entry = Extract<BridgeSpend, { kind: 'pay' }>['entries'][number]

/** The entries by which outputs are paid, one after the other; deletes them. */
export const entriesOf = (trie: Trie, owed: readonly Pick<Owed, 'key' | 'output'>[]): Entry[] =>
  owed.map(({ key, output }) => {
    const proof = trie.prove(key)
    const children = lastChildren(trie, key, proof)
    trie.delete(key)
    return { key, output, proof: proofToCbor(proof), ...(children && { children }) }
  })

export const follow = (leader: number): Uint8Array => encodeBridgeSpend({ kind: 'follow', leader })

export interface PayoutOptions {
  /** How many others the settlement owes; with none, this is the last payout. */
  readonly others?: number
  /** The outputs of the treasury that pay; by default one reserve. */
  readonly money?: readonly TestOutput[]
}

/** The place of the settlement among the inputs of a payout. */
const settlementPlace = 1

/** The treasury's change, which a reserve takes. */
const change = ada(20)

export const reserve = (world: World, lovelace: bigint, tokens: readonly Token[] = []): TestOutput => ({
  address: world.bridge.address,
  lovelace,
  tokens,
})

const lovelaceOf = ({ paid }: Owed): bigint => paid.lovelace + payoutFee

/** The same with one entry for each asset, as an output has them. */
function sumOf(tokens: readonly Token[]): Token[] {
  const sums = new Map<string, Token>()
  for (const token of tokens) {
    const key = toHex(token.policy) + toHex(token.name)
    sums.set(key, { ...token, quantity: token.quantity + (sums.get(key)?.quantity ?? 0n) })
  }
  return [...sums.values()]
}

/** Pays outputs of a settlement; what the treasury has besides becomes a reserve of twenty ada. */
export function payout(world: World, owed: readonly Owed[], options: PayoutOptions = {}): TestTransaction {
  const trie = owedMap(owed, options.others ?? 20)
  const before = Uint8Array.from(trie.root)
  const redeemer = encodeBridgeSpend({ kind: 'pay', entries: entriesOf(trie, owed) })
  const isLast = trie.size === 0
  const sum = owed.reduce((total, each) => total + lovelaceOf(each), 0n)
  const tokens = sumOf(owed.flatMap(({ paid }) => paid.tokens ?? []))
  const money = options.money ?? [reserve(world, sum + change, tokens)]
  const burned = money.flatMap(({ tokens = [] }) =>
    tokens
      .filter(({ policy }) => policy === world.events.policy)
      .map((token) => ({ ...token, quantity: -1n })),
  )
  const token = settlementToken(world, settlementName, -1n)
  return {
    inputs: [
      { id: 1, output: wallet(ada(100)) },
      { id: 2, output: settlement(world, before), redeemer },
      ...money.map((output, i) => ({ id: 10 + i, output, redeemer: follow(settlementPlace) })),
    ],
    referenceInputs: [
      scriptReference(world.bridge),
      ...(burned.length > 0 ? [scriptReference(world.events, 251)] : []),
    ],
    outputs: [
      isLast ? wallet(ada(2)) : settlement(world, trie.root),
      ...owed.map(({ paid }) => paid),
      reserve(world, money.reduce((total, { lovelace }) => total + lovelace, 0n) - sum),
      wallet(ada(95)),
    ],
    mint: [...burned, ...(isLast ? [token] : [])],
    mintRedeemers: [
      ...(burned.length > 0 ? [{ policy: world.events.policy, redeemer: encodeEventAction() }] : []),
      ...(isLast ? [{ policy: world.bridge.policy, redeemer: encodeSettle() }] : []),
    ],
    signatories: [],
  }
}

/** The place of the reserve among the outputs of a payout of one output. */
export const reservePlace = 2

export const payOne = (world: World): TestTransaction => payout(world, [withdrawal(world, 1)])

export const payLast = (world: World): TestTransaction => payout(world, [withdrawal(world, 1)], { others: 0 })

/** Pays assets, and to an address with a datum. */
export const payAssets = (world: World): TestTransaction =>
  payout(world, [
    withdrawal(world, 1, { tokens: bridgedTokens(5) }),
    withdrawal(world, 2, { datumHash: new Uint8Array(32).fill(9) }),
  ])

/** Pays from confirmed deposits and a reserve. */
export const payFromDeposits = (world: World): TestTransaction =>
  payout(world, [withdrawal(world, 1)], {
    money: [deposited(world, { name: 1 }), deposited(world, { name: 2 }), reserve(world, ada(6))],
  })

/** Turns confirmed deposits into one reserve. @param count from 1 to 100 */
export function tidy(world: World, count = 2, time = genesis.endTime - 1n): TestTransaction {
  const held = Array.from({ length: count }, (_, i) => deposited(world, { name: i + 1, time }))
  const inputs = held.map(
    (output, i): TestInput => ({
      id: 2 + i,
      output,
      redeemer: i === 0 ? encodeBridgeSpend({ kind: 'tidy' }) : follow(1),
    }),
  )
  return {
    inputs: [{ id: 1, output: wallet(ada(100)) }, ...inputs],
    referenceInputs: [
      { id: 199, output: rootOutput(world, genesis) },
      { id: 200, output: registryOutput(world) },
      scriptReference(world.bridge),
      scriptReference(world.events, 251),
    ],
    outputs: [reserve(world, ada(10) * BigInt(count)), wallet(ada(99))],
    mint: held.flatMap(({ tokens = [] }) => tokens.map((token) => ({ ...token, quantity: -1n }))),
    mintRedeemers: [{ policy: world.events.policy, redeemer: encodeEventAction() }],
    signatories: [],
  }
}

/** Merges reserves into one. */
export function tidyReserves(world: World, count = leastMerged): TestTransaction {
  const transaction = tidy(world, count)
  return {
    ...transaction,
    inputs: transaction.inputs.map((input) =>
      input.redeemer ? { ...input, output: reserve(world, ada(10)) } : input,
    ),
    mint: [],
    mintRedeemers: [],
  }
}

/** Merges a reserve, which leads, and deposits. */
export function tidyBoth(world: World): TestTransaction {
  const transaction = tidy(world, leastMerged)
  return {
    ...transaction,
    inputs: transaction.inputs.map((input) =>
      input.id === 2 ? { ...input, output: reserve(world, ada(10)) } : input,
    ),
    mint: transaction.mint.slice(1),
  }
}

/** The transaction with other tokens in its first input, the wallet's. */
export const withWallet = (transaction: TestTransaction, tokens: readonly Token[]): TestTransaction => ({
  ...transaction,
  inputs: transaction.inputs.map((input) =>
    input.id === 1 ? { ...input, output: { ...input.output, tokens } } : input,
  ),
})

/** The transaction with another output at a place, made from the one there. */
export const withOutput = (
  transaction: TestTransaction,
  index: number,
  edit: (output: TestOutput) => Partial<TestOutput>,
): TestTransaction => changeOutput(transaction, index, edit(transaction.outputs[index]!))

/** The transactions of the bridge that `COSTS.md` measures. */
export const bridgeTransactions = (world: World): (readonly [string, TestTransaction])[] => [
  ['deposit of ada', deposit(world)],
  [
    'deposit of 10 assets with an inline datum of 36 B',
    deposit(world, {
      tokens: bridgedTokens(10),
      datum: {
        kind: 'inline',
        data: Uint8Array.of(0xd8, 0x79, 0x9f, 1, 0x58, 28, ...new Uint8Array(28), 0xff),
      },
    }),
  ],
  ['deposit of 96 assets of 4 policies', deposit(world, { tokens: bridgedTokens(96) })],
  ['merge with a settlement', mergeAndSettle(world)],
  ...[1, 10, 16].map(
    (count) =>
      [
        `payout of ${count} of 1,000,000`,
        payout(world, withdrawals(world, count), { others: 1_000_000 }),
      ] as const,
  ),
  ['payout of 20 of 1,000', payout(world, withdrawals(world, 20), { others: 1000 })],
  ['payout of all 36 of a block', payout(world, withdrawals(world, 36), { others: 0 })],
  ['tidying of 2 deposits', tidy(world, 2)],
  ['tidying of 50 deposits', tidy(world, 50)],
  ['tidying of 50 reserves', tidyReserves(world, 50)],
]

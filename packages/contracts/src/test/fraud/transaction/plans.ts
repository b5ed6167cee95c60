import type { Asset } from '@ratatosk/fraud'
import { decodeTransaction, validateProfile } from '@ratatosk/ledger'
import { payment } from '../blocks.js'
import {
  blockWith,
  gold,
  goldTokens,
  int,
  keyAddress,
  list,
  map,
  openMap,
  outputWith,
  type Plan,
  policy,
  specials,
  string,
  text,
  transfer,
  uint,
} from './transactions.js'

/** Pays everything that the inputs hold, but for the fee, to one output. */
export const pays = (lovelace: bigint, tokens = goldTokens) => outputWith({ lovelace, tokens })

export const withGold = (
  input = specials.gold,
  tokens = goldTokens,
  minted?: readonly (typeof gold)[],
): Plan => ({
  inputs: [input],
  outputs: [pays(4_800_000n, tokens)],
  ...(minted && { fields: [[9, assetsOf(minted)]] }),
})

const assetsOf = (tokens: readonly (typeof gold)[]) =>
  map(...tokens.map(([id, name, quantity]) => [string(id), map([string(name), int(quantity)])] as const))

export const goldAsset: Asset = { policy: gold[0], name: gold[1] }

export const [other, silver] = goldTokens as [typeof gold, typeof gold]

export const moreGold: typeof gold = [gold[0], gold[1], gold[2] + 1n]

export const script = (byte: number) => Uint8Array.of(0xf0, ...policy(byte))

export const withdrawing = (...entries: readonly (readonly [Uint8Array, bigint])[]): Plan => ({
  fields: [[5, map(...entries.map(([account, amount]) => [string(account), uint(amount)] as const))]],
})

export const zeroWithdrawals = withdrawing([script(1), 0n], [script(2), 0n])

export const interval = (from?: bigint, until?: bigint): Plan => ({
  fields: [
    ...(until === undefined ? [] : [[3, uint(until)] as const]),
    ...(from === undefined ? [] : [[8, uint(from)] as const]),
  ],
})

export const data = map([uint(1), list(...Array.from({ length: 5 }, () => string(new Uint8Array(60))))])

/** A redeemer that declares as many units as cost 0.1 ada. */
const units = list(uint(1_000_000), uint(587_000_000))

export const redeemerList = (...pointers: readonly (readonly [number, number])[]) =>
  map([
    uint(5),
    list(
      ...pointers.map(([purpose, index]) => list(uint(purpose), uint(index), list(uint(1), uint(2)), units)),
    ),
  ])

export const redeemerMap = (...pointers: readonly (readonly [number, number])[]) =>
  map([
    uint(5),
    openMap(
      ...pointers.map(
        ([purpose, index]) => [list(uint(purpose), uint(index)), list(string(text('x')), units)] as const,
      ),
    ),
  ])

/** A transfer with as little fee as its bytes cost, and what is missing added by `more`. */
export const leastFee = (plan: Plan, more = 0n): Plan => {
  let least = 0n
  for (let tries = 0; tries < 3; tries++) {
    const size = BigInt(blockWith({ ...plan, ...paying(least) }).transactions[0]!.length - 1)
    least = 44n * size + 155_381n + more
  }
  return { ...plan, ...paying(least) }
}

const paying = (amount: bigint): Plan => ({
  fee: amount,
  outputs: [payment(60, 3_000_000n), payment(61, 7_000_000n - amount)],
})

/** Of two redeemers, rounded up. */
export const unitsFee = 200_046n

/** Names that are minted and paid, and keys that must sign: each key is an item. */
export function withSigners(count: number): Plan {
  const names = Array.from({ length: 100 }, (_, i) => [string(Uint8Array.of(i, i)), uint(1)] as const)
  const tokens = map([string(policy(5)), map(...names)])
  const value = list(uint(9_000_000), tokens)
  return {
    fee: 1_000_000n,
    outputs: [map([uint(0), string(keyAddress(60))], [uint(1), value])],
    fields: [
      [9, tokens],
      [14, list(...Array.from({ length: count }, (_, i) => string(new Uint8Array(28).fill(i))))],
    ],
  }
}

/** The fewest keys with which the body has too many items. */
export const tooMany =
  Array.from({ length: 250 }, (_, count) => count).find((count) =>
    validateProfile(decodeTransaction(transfer(withSigners(count + 1)).cbor)).some(
      ({ predicate }) => predicate === 'TooManyItems',
    ),
  )! + 1

export const many = (count: number) => list(...Array.from({ length: count }, () => uint(1)))

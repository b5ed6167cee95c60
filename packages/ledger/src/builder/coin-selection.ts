import { type Assets, splitUnit, type Utxo, type Value } from '../index.js'
import { WalletError } from './errors.js'

/** Amounts by unit: `lovelace`, or policy id and asset name in hex, joined. May be negative; never zero. */
export type Quantities = Map<string, bigint>

export const lovelaceUnit = 'lovelace'

export function addQuantity(quantities: Quantities, unit: string, amount: bigint): void {
  const sum = (quantities.get(unit) ?? 0n) + amount
  if (sum === 0n) quantities.delete(unit)
  else quantities.set(unit, sum)
}

/** Adds `factor` times a value. */
export function addValue(quantities: Quantities, { lovelace, assets }: Value, factor = 1n): void {
  addQuantity(quantities, lovelaceUnit, factor * lovelace)
  addAssets(quantities, assets, factor)
}

export function addAssets(quantities: Quantities, assets: Assets, factor = 1n): void {
  for (const [policy, names] of assets) {
    for (const [name, quantity] of names) addQuantity(quantities, policy + name, factor * quantity)
  }
}

function quantityOf({ lovelace, assets }: Value, unit: string): bigint {
  if (unit === lovelaceUnit) return lovelace
  const { policy, name } = splitUnit(unit)
  return assets.get(policy)?.get(name) ?? 0n
}

/** The value of quantities that are all positive. */
export function toValue(quantities: Quantities): Value {
  const assets = new Map<string, Map<string, bigint>>()
  for (const [unit, quantity] of quantities) {
    if (unit === lovelaceUnit) continue
    const { policy, name } = splitUnit(unit)
    const names = assets.get(policy) ?? new Map<string, bigint>()
    assets.set(policy, names.set(name, quantity))
  }
  return { lovelace: quantities.get(lovelaceUnit) ?? 0n, assets }
}

/** Random-Improve gives up beyond this many inputs, and the largest outputs are taken instead. */
const maxRandomInputs = 40

/**
 * Selects outputs that cover the needed amounts (CIP-2). Native assets: Largest-First. Lovelace:
 * Random-Improve, which keeps change the size of typical payments, or Largest-First when that takes too many
 * inputs. Pure-ada outputs are preferred, so that tokens are not moved needlessly.
 *
 * @param needed positive quantities
 * @throws {WalletError} `WALLET_INSUFFICIENT_FUNDS` with the missing amounts
 */
export function selectCoins(
  candidates: readonly Utxo[],
  needed: ReadonlyMap<string, bigint>,
  random: () => number,
): Utxo[] {
  const chosen = new Set<Utxo>()
  const have: Quantities = new Map()
  const missing: Quantities = new Map()
  const choose = (utxo: Utxo): void => {
    chosen.add(utxo)
    addValue(have, utxo.output.value)
  }
  for (const [unit, amount] of needed) {
    if (unit === lovelaceUnit) continue
    for (const utxo of largestFirst(candidates, unit)) {
      if ((have.get(unit) ?? 0n) >= amount) break
      if (!chosen.has(utxo)) choose(utxo)
    }
    const lack = amount - (have.get(unit) ?? 0n)
    if (lack > 0n) missing.set(unit, lack)
  }
  const lovelace = (needed.get(lovelaceUnit) ?? 0n) - (have.get(lovelaceUnit) ?? 0n)
  if (lovelace > 0n) {
    const rest = candidates.filter((utxo) => !chosen.has(utxo))
    const covering =
      randomImprove(rest, lovelace, random) ?? covered(largestFirst(rest, lovelaceUnit), lovelace)
    const sum = covering.reduce((total, { output }) => total + output.value.lovelace, 0n)
    if (sum < lovelace) missing.set(lovelaceUnit, lovelace - sum)
    for (const utxo of covering) choose(utxo)
  }
  if (missing.size === 0) return [...chosen]
  const list = Array.from(missing, ([unit, amount]) => `${amount} ${unit}`).join(', ')
  throw new WalletError('WALLET_INSUFFICIENT_FUNDS', `The wallet lacks ${list}`, { missing })
}

/** CIP-2: random outputs until the target is met, then more that bring the sum closer to twice of it. */
function randomImprove(
  candidates: readonly Utxo[],
  target: bigint,
  random: () => number,
): Utxo[] | undefined {
  const pure = candidates.filter(({ output }) => output.value.assets.size === 0)
  const mixed = candidates.filter(({ output }) => output.value.assets.size > 0)
  const order = [...shuffled(pure, random), ...shuffled(mixed, random)]
  const chosen: Utxo[] = []
  let sum = 0n
  let next = 0
  while (sum < target) {
    const utxo = order[next++]
    if (utxo === undefined || chosen.length >= maxRandomInputs) return undefined
    chosen.push(utxo)
    sum += utxo.output.value.lovelace
  }
  for (const utxo of order.slice(next)) {
    const improved = sum + utxo.output.value.lovelace
    if (utxo.output.value.assets.size > 0 || chosen.length >= maxRandomInputs) break
    if (improved > 3n * target || distance(improved, 2n * target) >= distance(sum, 2n * target)) continue
    chosen.push(utxo)
    sum = improved
  }
  return chosen
}

/** The shortest prefix whose lovelace reaches the target, or the whole list. */
function covered(utxos: readonly Utxo[], target: bigint): Utxo[] {
  const chosen: Utxo[] = []
  let sum = 0n
  for (const utxo of utxos) {
    if (sum >= target) break
    chosen.push(utxo)
    sum += utxo.output.value.lovelace
  }
  return chosen
}

function largestFirst(utxos: readonly Utxo[], unit: string): Utxo[] {
  return utxos
    .map((utxo) => ({ utxo, quantity: quantityOf(utxo.output.value, unit) }))
    .filter(({ quantity }) => quantity > 0n)
    .sort((a, b) => (a.quantity < b.quantity ? 1 : a.quantity > b.quantity ? -1 : 0))
    .map(({ utxo }) => utxo)
}

/** Fisher–Yates. */
function shuffled(utxos: readonly Utxo[], random: () => number): Utxo[] {
  const order = [...utxos]
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const [a, b] = [order[last], order[other]]
    if (a === undefined || b === undefined) continue
    order[last] = b
    order[other] = a
  }
  return order
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a
}

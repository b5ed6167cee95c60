import { type Assets, splitUnit, type Value } from '../index.js'

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

export function quantityOf({ lovelace, assets }: Value, unit: string): bigint {
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

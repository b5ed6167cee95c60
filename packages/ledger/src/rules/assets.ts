import { splitUnit } from '../transaction/output.js'
import type { Value } from '../transaction/types.js'
import type { Json } from './predicates.js'

/** Sums of native assets by unit: the policy id (56 hex digits) followed by the asset name in hex. */
export type AssetQuantities = Map<string, bigint>

/** Adds the assets of a value, multiplied by `sign`, to the sums; returns its lovelace times `sign`. */
export function addValue(sums: AssetQuantities, value: Value, sign: 1n | -1n): bigint {
  addAssets(sums, value.assets, sign)
  return sign * value.lovelace
}

export function addAssets(sums: AssetQuantities, assets: Value['assets'], sign: 1n | -1n): void {
  for (const [policy, names] of assets) {
    for (const [name, quantity] of names) {
      const key = policy + name
      sums.set(key, (sums.get(key) ?? 0n) + sign * quantity)
    }
  }
}

/** `{ lovelace, "<policy>": { "<name>": "<quantity>" } }` without the quantities that are zero. */
export function valueToJson(lovelace: bigint, assets: AssetQuantities): Json {
  const policies: { [policy: string]: { [name: string]: string } } = {}
  for (const [key, quantity] of assets) {
    if (quantity === 0n) continue
    const { policy, name } = splitUnit(key)
    const names = policies[policy] ?? {}
    policies[policy] = names
    names[name] = String(quantity)
  }
  return { lovelace: String(lovelace), ...policies }
}

import type { Value } from '../transaction/types.js'
import type { Json } from './verdict.js'

/** Sums of native assets; the key is the policy's hex (56 digits) followed by the asset name's hex. */
export type AssetQuantities = Map<string, bigint>

/** Adds a value's assets, `sign` times each, and gives its lovelace, `sign` times. */
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

/** `{ lovelace, "<policy>": { "<name>": "<quantity>" } }`, leaving out what is zero. */
export function valueToJson(lovelace: bigint, assets: AssetQuantities): Json {
  const policies: { [policy: string]: { [name: string]: string } } = {}
  for (const [key, quantity] of assets) {
    if (quantity === 0n) continue
    const policy = key.slice(0, 56)
    const names = policies[policy] ?? {}
    policies[policy] = names
    names[key.slice(56)] = String(quantity)
  }
  return { lovelace: String(lovelace), ...policies }
}

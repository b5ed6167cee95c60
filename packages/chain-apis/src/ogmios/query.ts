import type { JsonObject } from '../input.js'
import type { OgmiosVersion } from '../versions.js'
import type { ChainView } from '../view/chain-view.js'

/** The names of the parameters of a query, and its answer. */
export type Query = readonly [
  names: readonly string[],
  answer: (chain: ChainView, params: JsonObject, version: OgmiosVersion) => unknown,
]

import type { Breach } from '../breach.js'
import { commitBreaches } from './commit-breaches.js'
import { deinitBreaches, initBreaches, spendBreaches } from './init-breaches.js'
import { mergeBreaches } from './merge-breaches.js'
import { pruneBreaches } from './prune-breaches.js'
import { removeBreaches } from './removal-breaches.js'

export const queueBreaches: readonly Breach[] = [
  ...initBreaches,
  ...deinitBreaches,
  ...commitBreaches,
  ...mergeBreaches,
  ...removeBreaches,
  ...pruneBreaches,
  ...spendBreaches,
]

import type { Breach } from '../breach.js'
import { commitBreaches } from './commit-breaches.js'
import { deinitBreaches, initBreaches, spendBreaches } from './life-breaches.js'
import { mergeBreaches } from './merge-breaches.js'

export const queueBreaches: readonly Breach[] = [
  ...initBreaches,
  ...deinitBreaches,
  ...commitBreaches,
  ...mergeBreaches,
  ...spendBreaches,
]

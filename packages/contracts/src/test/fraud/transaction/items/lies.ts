import type { TransactionLie } from '../lie.js'
import { bodyItemLies } from './body.js'
import { outputItemLies } from './outputs.js'
import { witnessItemLies } from './witnesses.js'

/** Transactions with an item that the ledger does not decode. */
export const itemLies: readonly TransactionLie[] = [...bodyItemLies, ...outputItemLies, ...witnessItemLies]

/** Those that each engine runs. */
const run = new Set([
  'a required signer has 27 bytes',
  'a required signer is there twice',
  'the hash of auxiliary data is in chunks',
  'a policy is minted twice',
  'an output has a key’s address of 30 bytes',
  'an output has a datum with a byte behind it',
  'an output has a datum with a general constructor of a text',
  'an output has a native script that is strange within',
  'there are redeemers in a map, one of an open pair',
])

export const someItemLies = itemLies.filter(({ what }) => run.has(what))

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex } from '@ratatosk/cbor'

/**
 * A file of `midgard-txs`: signed transactions in order, each of which spends an output of the one before.
 */
export interface MidgardChain {
  readonly name: string
  readonly transactions: readonly { readonly id: string; readonly cbor: Uint8Array }[]
}

/**
 * The output that the first transaction of each chain spends. It equals the output that the transaction
 * makes, without the datum, because the fee is zero:
 * `{ 0: enterprise address on a test network, 1: 10,000 ADA }`.
 */
export const midgardGenesis: Uint8Array = fromHex(
  'a200581d60d4832761852f9e2755a42a3aee078e55961153f592a0be9fd7688b93011b00000002540be400',
)

/** A chain. @param folder `midgard-txs` */
export function midgardChain(folder: string, name: string): MidgardChain {
  const transactions: readonly { txId: string; cborHex: string }[] = JSON.parse(
    readFileSync(join(folder, name), 'utf8'),
  )
  return {
    name,
    transactions: transactions.map(({ txId, cborHex }) => ({ id: txId, cbor: fromHex(cborHex) })),
  }
}

/** The chains, which double-spend each other. @param folder `midgard-txs` */
export const midgardChains = (folder: string): MidgardChain[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => midgardChain(folder, name))

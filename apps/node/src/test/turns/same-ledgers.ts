import { createHash } from 'node:crypto'
import { toHex } from '@ratatosk/cbor'
import type { Store } from '@ratatosk/store'
import type { Test } from 'tap'
import type { OperatorNode } from './operator-nodes.js'

const linesOf = (rows: readonly unknown[]): string =>
  (rows as readonly { readonly row: string }[]).map(({ row }) => row).join('\n')

/** Rows of the merged blocks from a height on: all but accept sequences, times and layer-1 transactions. */
async function mergedRows({ store, schema }: OperatorNode, from: number, to: number): Promise<string> {
  const { rows } = await store.database.run(
    `WITH merged AS (
      SELECT * FROM ${schema}.blocks WHERE state = 'merged' AND height BETWEEN $1 AND $2
    )
    SELECT row FROM (
      SELECT height, -1 AS position, concat_ws(' ', header_hash, header, previous_header_hash, utxos_root,
        start_time, end_time, transactions) AS row FROM merged
      UNION ALL
      SELECT height, position, concat_ws(' ', transaction_id, cbor)
      FROM ${schema}.block_transactions JOIN merged ON merged.id = block_id
    ) AS rows ORDER BY height, position`,
    [from, to],
  )
  return linesOf(rows)
}

/** Rows of ledger and history, with the ids of transactions in place of accept sequences. */
async function ledgerRows({ store, schema }: OperatorNode): Promise<string> {
  const { rows } = await store.database.run(
    `WITH places AS (SELECT sequence, transaction_id FROM ${schema}.block_transactions)
    SELECT row FROM (
      SELECT concat_ws(' ', 'output', transaction_id, output_index, output, address) AS row
      FROM ${schema}.mempool_ledger
      UNION ALL
      SELECT concat_ws(' ', 'history', address, transaction_id)
      FROM ${schema}.address_history JOIN places USING (sequence)
      UNION ALL
      SELECT concat_ws(' ', 'waits', transaction_id) FROM ${schema}.mempool_transactions
    ) AS rows ORDER BY row`,
    [],
  )
  return linesOf(rows)
}

/** A hash of the outputs after a block, and its header's; undefined if seen, or if another comes. */
async function outputsAfter(
  { blocks }: Store,
  seen?: string,
): Promise<readonly [string, string] | undefined> {
  const before = await blocks.newest()
  if (before === undefined || toHex(before.headerHash) === seen) return undefined
  const rows: string[] = []
  for await (const page of blocks.utxosAfterNewest())
    for (const { transactionId, index, output } of page)
      rows.push(`${toHex(transactionId)} ${index} ${toHex(output)}`)
  const header = toHex(before.headerHash)
  if (toHex((await blocks.newest())?.headerHash ?? new Uint8Array()) !== header) return undefined
  return [header, createHash('sha256').update(rows.sort().join('\n')).digest('hex')]
}

/** Compares the ledgers of nodes while they run. */
export function openComparison(t: Test, nodes: readonly OperatorNode[]) {
  const outputs = new Map<string, { readonly digest: string; readonly of: Set<string> }>()
  /** By the name of the node. */
  const seen = new Map<string, string>()
  let merged = 0
  let ended = false

  /** Compares blocks that all nodes have merged since. */
  async function compareMerged(): Promise<void> {
    const heights = await Promise.all(
      nodes.map(async ({ store }) => Number((await store.blocks.confirmed())?.height ?? 0n)),
    )
    const common = Math.min(...heights)
    if (common <= merged) return
    const [first, ...others] = await Promise.all(nodes.map((node) => mergedRows(node, merged + 1, common)))
    for (const [n, rows] of others.entries())
      if (rows !== first) t.equal(rows, first, `merged blocks up to ${common} of A and ${'BC'[n]}`)
    merged = common
  }

  /** Compares unspent outputs of nodes that have, or had, the same newest block. */
  async function compareOutputs(): Promise<void> {
    for (const { name, store } of nodes) {
      const [header, digest] = (await outputsAfter(store, seen.get(name))) ?? []
      if (header === undefined || digest === undefined) continue
      const known = outputs.get(header) ?? { digest, of: new Set() }
      if (known.digest !== digest) t.fail(`the outputs after block ${header} differ at ${name}`)
      known.of.add(name)
      seen.set(name, header)
      outputs.set(header, known)
    }
  }

  const running = (async () => {
    while (!ended) {
      await compareMerged()
      await compareOutputs()
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  })()
  running.catch(() => undefined)
  t.teardown(() => {
    ended = true
  })
  return {
    /** Compares everything, when nothing waits. */
    async end() {
      ended = true
      await running
      await compareMerged()
      const [first, ...others] = await Promise.all(nodes.map(ledgerRows))
      for (const other of others) t.equal(other, first, 'the whole ledgers are the same, row for row')
      return {
        merged: merged,
        sameOutputs: [...outputs.values()].filter(({ of }) => of.size > 1).length,
      }
    },
  }
}

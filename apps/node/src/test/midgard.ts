import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toHex } from '@ratatosk/cbor'
import { outputReferenceKey } from '@ratatosk/ledger'
import type { Rejection, Store } from '@ratatosk/store'
import { genesisOf, midgardMissing, midgardTransactions } from '@ratatosk/test-kit'
import type { Test } from 'tap'
import type { RunningNode } from '../index.js'
import { temporaryDirectory } from './backends.js'
import { type KeepAliveClient, runNode } from './node.js'

/** A signed layer-2 transaction of the Midgard demo. */
export interface MidgardTransaction {
  readonly cborHex: string
  readonly txId: string
}

/** Why tests on Midgard's transactions must be skipped; false if their files are available. */
export const skipMidgard: string | false = midgardMissing ?? false

/** A chain of 1,000 transactions from the only genesis output, which both chains spend. */
export function midgardChain(file: 'txs_0' | 'txs_1'): MidgardTransaction[] {
  return midgardTransactions(`${file}.json`).map(({ id, cbor }) => ({ txId: id, cborHex: toHex(cbor) }))
}

/** The length of a submitted chain: RATATOSK_MIDGARD_CHAIN, or a part for an embedded node. */
export function midgardLength(backend: string): number {
  return Number(process.env.RATATOSK_MIDGARD_CHAIN ?? (backend === 'embedded' ? 60 : 120))
}

/** The key address that all of them spend from and pay to. */
export const midgardAddressHex = '60d4832761852f9e2755a42a3aee078e55961153f592a0be9fd7688b93'

/** The files that the Midgard chains need: their genesis, and parameters without a fee. */
export async function midgardFiles(t: Test): Promise<{ genesis: string; freeOfCharge: string }> {
  const directory = await temporaryDirectory(t)
  const genesis = join(directory, 'genesis.json')
  const { reference, output } = genesisOf(midgardTransactions('txs_0.json'))
  const utxos = [{ outref: outputReferenceKey(reference), output: toHex(output) }]
  await writeFile(genesis, JSON.stringify({ utxos }))
  const parameters = JSON.parse(
    await readFile(new URL('../../parameters/devnet.json', import.meta.url), 'utf8'),
  )
  const freeOfCharge = join(directory, 'parameters.json')
  await writeFile(freeOfCharge, JSON.stringify({ ...parameters, min_fee_a: 0, min_fee_b: 0 }))
  return { genesis, freeOfCharge }
}

/** Starts a node that accepts the Midgard chains without a fee. */
export async function runMidgardNode(
  t: Test,
  environment: Readonly<Record<string, string>>,
): Promise<RunningNode> {
  const { genesis, freeOfCharge } = await midgardFiles(t)
  return runNode(t, {
    GENESIS_FILE: genesis,
    PROTOCOL_PARAMETERS_FILE: freeOfCharge,
    ...environment,
  })
}

/** Those of the given hashes for which `/tx` does not return the submitted CBOR. */
export async function missing(
  client: KeepAliveClient,
  transactions: readonly MidgardTransaction[],
): Promise<string[]> {
  const answers = await Promise.all(transactions.map(({ txId }) => client.get(`/tx?tx_hash=${txId}`)))
  return transactions
    .filter(({ cborHex }, index) => answers[index]?.body !== `{"tx":"${cborHex}"}`)
    .map(({ txId }) => txId)
}

export async function wholeHistory(
  client: KeepAliveClient,
  address: string,
  limit: number,
): Promise<string[]> {
  const history: string[] = []
  for (;;) {
    const { body } = await client.get(`/txs?address=${address}&limit=${limit}&offset=${history.length}`)
    const { txs, hasMore }: { txs: string[]; hasMore: boolean } = JSON.parse(body)
    history.push(...txs)
    if (!hasMore) return history
  }
}

export async function allRejections({ rejections }: Store): Promise<Rejection[]> {
  const all: Rejection[] = []
  for (;;) {
    const last = all.at(-1)
    const page = await rejections.list({ limit: 1000, ...(last && { before: last.sequence }) })
    all.push(...page)
    if (page.length < 1000) return all
  }
}

import { Mutex } from 'async-mutex'
import { LRUCache } from 'lru-cache'
import { EncodedJson, encodeJson } from '../json.js'
import type { OgmiosVersion } from '../options.js'
import { createPause } from '../pause.js'
import type { ChainBlock, ChainView } from '../view/chain-view.js'
import { transactionJson } from './json/transaction-json.js'

type EncodedBlock = EncodedJson<Buffer>

/** Blocks as JSON, which all readers of a chain share. */
export interface BlockReader {
  /** Undefined if the block left the chain during the read, or `isWanted` is false: the client has left. */
  read(block: ChainBlock, isWanted: () => boolean): Promise<EncodedBlock | undefined>
}

const maxKept = 32 * 1024 * 1024
const pageSize = 100
/** Placeholder for the keys of the block producer: the chain has none. */
const noKey = '00'.repeat(32)

/** Builds the JSON of each block once, one block at a time, and keeps that of the newest. */
export function createBlockReader(chain: ChainView, version: OgmiosVersion = '6'): BlockReader {
  const kept = new LRUCache<string, EncodedBlock>({
    maxSize: maxKept,
    sizeCalculation: ({ part }) => part.length,
  })
  const building = new Mutex()

  return {
    async read(block, isWanted) {
      const known = kept.get(block.hash)
      if (known !== undefined) return known
      return building.runExclusive(async () => {
        if (!isWanted()) return undefined
        const found = kept.get(block.hash) ?? (await build(chain, block, version))
        if (found !== undefined) kept.set(block.hash, found)
        return found
      })
    },
  }
}

async function build(
  chain: ChainView,
  block: ChainBlock,
  version: OgmiosVersion,
): Promise<EncodedBlock | undefined> {
  const transactions = await transactionsOf(chain, block, version)
  if (transactions === undefined) return undefined
  const { height, slot, hash, previous, size } = block
  const header = encodeJson({
    type: 'praos',
    era: 'conway',
    id: hash,
    ancestor: height === 1 ? 'genesis' : previous,
    height,
    size: { bytes: size },
    slot,
    protocol: { version: chain.parameters.ledgerVersion },
    issuer: {
      verificationKey: noKey,
      vrfVerificationKey: noKey,
      operationalCertificate: { count: 0, kes: { period: 0, verificationKey: noKey } },
      leaderValue: {},
    },
  })
  return new EncodedJson(Buffer.from(`${header.slice(0, -1)},"transactions":[${transactions.join(',')}]}`))
}

/** The transactions as JSON; undefined if the block left the chain. */
async function transactionsOf(
  chain: ChainView,
  { hash, transactionCount }: ChainBlock,
  version: OgmiosVersion,
): Promise<readonly string[] | undefined> {
  const transactions: string[] = []
  const pause = createPause()
  while (transactions.length < transactionCount) {
    const page = await chain.blockTransactions(hash, { offset: transactions.length, limit: pageSize })
    if (page.length === 0) return undefined
    for (const { transaction } of page) {
      transactions.push(encodeJson(transactionJson(transaction, version)))
      await pause()
    }
  }
  return transactions
}

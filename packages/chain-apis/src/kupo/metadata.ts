import { CborReader, Major, toHex } from '@ratatosk/cbor'
import { blake2b256, metadataLabels, type Transaction } from '@ratatosk/ledger'
import { readChunks } from '../blockfrost/raw-cbor.js'
import { lazyList } from '../json.js'
import { blockTransactions } from '../transaction-pages.js'
import type { ChainBlock, ChainView } from '../view/chain-view.js'
import { hints, KupoError } from './hints.js'

/** The metadata of transactions in Kupo's format. Transactions without any are left out. */
export function metadataJson(transactions: readonly Pick<Transaction, 'auxiliaryData'>[]): Iterable<unknown> {
  const found = transactions.flatMap(({ auxiliaryData }) => auxiliaryData ?? [])
  return lazyList(found, (auxiliaryData) => {
    const { bytes } = auxiliaryData
    const schema = metadataLabels(auxiliaryData).map(({ label, cbor }) => [
      String(label),
      metadatumJson(new CborReader(cbor)),
    ])
    return { hash: toHex(blake2b256(bytes)), raw: toHex(bytes), schema: Object.fromEntries(schema) }
  })
}

/** A metadatum with the name of its type. */
function metadatumJson(reader: CborReader): unknown {
  const major = reader.peekMajor()
  switch (major) {
    case Major.bytes:
      return { bytes: toHex(Buffer.concat(readChunks(reader, major, () => reader.readBytes()))) }
    case Major.text:
      return { string: readChunks(reader, major, () => reader.readText()).join('') }
    case Major.array: {
      const list: unknown[] = []
      const count = reader.readArray()
      for (let i = 0; reader.hasNext(count, i); i++) list.push(metadatumJson(reader))
      return { list }
    }
    case Major.map: {
      const map: unknown[] = []
      const count = reader.readMap()
      for (let i = 0; reader.hasNext(count, i); i++)
        map.push({ k: metadatumJson(reader), v: metadatumJson(reader) })
      return { map }
    }
    default:
      return { int: reader.readInteger() }
  }
}

/** Each page of an open block is read from its beginning. */
const mostOpen = 10_000

/**
 * The transactions of a block, or the one with an id.
 * @throws {ChainUnavailableError} if the block is undone meanwhile
 * @throws {KupoError} if the block is open and has too many
 */
export async function* transactionPages(
  chain: ChainView,
  block: ChainBlock,
  id: string | undefined,
): AsyncGenerator<readonly Transaction[], void> {
  if (id !== undefined) {
    const found = await chain.transaction(id)
    if (found?.place?.block.hash === block.hash) yield [found.transaction.transaction]
    return
  }
  if (block.open === true && block.transactionCount > mostOpen) throw new KupoError(hints.openBlock)
  for await (const page of blockTransactions(chain, block)) yield page.map(({ transaction }) => transaction)
}

import { type LedgerIndex, openIndex } from '@ratatosk/layer2/ledger-index'
import type { Node } from '../node.js'
import { indexSchema } from '../storage/open-storage.js'

/** Starts to follow acceptance. The index yields to validation. */
export async function openLedgerIndex(node: Omit<Node, 'index'>): Promise<LedgerIndex> {
  const { settings, genesis, log, store, validation, onClose } = node
  const index = await openIndex({
    database: store.database,
    schema: indexSchema(settings),
    source: store.changes,
    genesis: genesis?.outputs ?? [],
    busy: () => validation?.busy() ?? false,
    onError: (err) => log.warn({ err }, 'The index could not follow acceptance; trying again'),
  })
  onClose(() => index.close())
  return index
}

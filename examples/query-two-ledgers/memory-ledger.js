const hex = (bytes) => Buffer.from(bytes).toString('hex')

/** `LedgerQueries` of `@ratatosk/tx-query` over maps. Keys are ids, addresses and header hashes in hex. */
export class MemoryLedger {
  transactions = new Map()
  histories = new Map()
  utxos = new Map()
  blocks = new Map()

  async transaction(id) {
    return this.transactions.get(hex(id))
  }

  async history(address, { limit, offset }) {
    return (this.histories.get(hex(address)) ?? []).slice(offset, offset + limit)
  }

  async utxosAt(address) {
    return this.utxos.get(hex(address)) ?? []
  }

  async blockTransactions(headerHash) {
    return this.blocks.get(hex(headerHash)) ?? []
  }
}

import type { HistoryPage, LedgerQueries, UtxoRow } from '../index.js'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export class MemoryLedger implements LedgerQueries {
  readonly transactions = new Map<string, Uint8Array>()
  readonly histories = new Map<string, Uint8Array[]>()
  readonly utxos = new Map<string, UtxoRow[]>()
  readonly blocks = new Map<string, Uint8Array[]>()
  readonly asked: string[] = []

  async transaction(id: Uint8Array): Promise<Uint8Array | undefined> {
    this.asked.push(`transaction ${hex(id)}`)
    return this.transactions.get(hex(id))
  }

  async history(address: Uint8Array, { limit, offset }: HistoryPage): Promise<Uint8Array[]> {
    this.asked.push(`history ${hex(address)} ${limit} ${offset}`)
    return (this.histories.get(hex(address)) ?? []).slice(offset, offset + limit)
  }

  async utxosAt(address: Uint8Array): Promise<UtxoRow[]> {
    this.asked.push(`utxosAt ${hex(address)}`)
    return this.utxos.get(hex(address)) ?? []
  }

  async blockTransactions(headerHash: Uint8Array): Promise<Uint8Array[]> {
    this.asked.push(`blockTransactions ${hex(headerHash)}`)
    return this.blocks.get(hex(headerHash)) ?? []
  }
}

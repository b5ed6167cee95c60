import { setTimeout as sleep } from 'node:timers/promises'

/** An unspent output as `GET /utxos` answers it, both in hex CBOR. */
export interface Utxo {
  readonly outref: string
  readonly value: string
}

/** The part of the node's HTTP interface that the demo walks through. */
export class NodeClient {
  constructor(readonly url: string) {}

  /** Whether a node is there. */
  async isAlive(): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/health/live`, { signal: AbortSignal.timeout(2000) })
      return response.ok && (await response.text()) === '{"status":"ok"}'
    } catch {
      return false
    }
  }

  /** Puts a transaction into the queue; returns the id of its entry there. */
  async submit(cborHex: string): Promise<string> {
    const { id } = await this.#answer<{ id: string }>('/submit', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: cborHex,
    })
    return id
  }

  async utxos(address: string): Promise<Utxo[]> {
    return (await this.#answer<{ utxos: Utxo[] }>(`/utxos?address=${address}`)).utxos
  }

  /** The transactions of an address in hex CBOR, oldest first. */
  async history(address: string): Promise<string[]> {
    return (await this.#answer<{ txs: string[] }>(`/txs?address=${address}`)).txs
  }

  /** Header hashes of the blocks that are committed and not merged yet, oldest first. */
  async stateQueue(): Promise<string[]> {
    return (await this.#answer<{ headers: string[] }>('/stateQueue')).headers
  }

  /** Hashes of a block's transactions, in its order. */
  async block(headerHash: string): Promise<string[]> {
    return (await this.#answer<{ hashes: string[] }>(`/block?header_hash=${headerHash}`)).hashes
  }

  /** A transaction's hex CBOR; `undefined` when the node does not have it. */
  async transaction(hash: string): Promise<string | undefined> {
    const response = await fetch(`${this.url}/tx?tx_hash=${hash}`)
    if (response.status === 404) {
      await response.body?.cancel()
      return undefined
    }
    return ((await read(response)) as { tx: string }).tx
  }

  /**
   * Asks for a transaction until the node has it.
   *
   * @returns how long that took, in milliseconds; `undefined` when the time was over first
   */
  async arrival(hash: string, timeoutMs: number): Promise<number | undefined> {
    const start = performance.now()
    for (;;) {
      if ((await this.transaction(hash)) !== undefined) return performance.now() - start
      if (performance.now() - start > timeoutMs) return undefined
      await sleep(50)
    }
  }

  async #answer<T>(path: string, request?: RequestInit): Promise<T> {
    return (await read(await fetch(`${this.url}${path}`, request))) as T
  }
}

async function read(response: Response): Promise<unknown> {
  const body = await response.text()
  if (!response.ok) throw new Error(`${new URL(response.url).pathname} answered ${response.status}: ${body}`)
  return JSON.parse(body)
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@ratatosk/client'

const pollMs = 20

/** The results of transactions that are expected, as `/events` reports them. */
export class Results {
  readonly #abort = new AbortController()
  /** When each was submitted, by hash. */
  readonly #expected = new Map<string, number>()
  readonly #ended: Promise<void>
  #failure: unknown
  acceptedMs: number[] = []
  /** By the code of the rejection. */
  rejected: Record<string, number> = {}

  constructor(client: Client) {
    this.#ended = this.#follow(client).catch((error: unknown) => {
      if (!this.#abort.signal.aborted) this.#failure = error
    })
  }

  get pending(): number {
    return this.#expected.size
  }

  /** @param at of `performance.now()` */
  expect(txHash: string, at: number): void {
    this.#expected.set(txHash, at)
  }

  forget(txHash: string): void {
    this.#expected.delete(txHash)
  }

  reset(): void {
    this.#expected.clear()
    this.acceptedMs = []
    this.rejected = {}
  }

  /** Waits until every expected transaction has a result, or the time is over. @throws the stream's error */
  async settle(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (this.pending > 0 && performance.now() < deadline) {
      if (this.#failure !== undefined) throw this.#failure
      await sleep(pollMs)
    }
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#ended
  }

  async #follow(client: Client): Promise<void> {
    const { signal } = this.#abort
    for await (const event of client.streamEvents({ type: 'accepted,rejected' }, { signal })) {
      if (event.type !== 'accepted' && event.type !== 'rejected') continue
      const { txHash = '' } = event.data
      const submittedAt = this.#expected.get(txHash)
      if (submittedAt === undefined) continue
      this.#expected.delete(txHash)
      if (event.type === 'accepted') this.acceptedMs.push(performance.now() - submittedAt)
      else this.rejected[event.data.code] = (this.rejected[event.data.code] ?? 0) + 1
    }
  }
}

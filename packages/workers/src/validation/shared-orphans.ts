import type { Broadcast, QueueBackend } from '@ratatosk/queue'

/** A copy of a transaction that waits in the queue for its next delivery. */
export interface SharedOrphan {
  readonly cbor: Uint8Array
  /** POSIX milliseconds: from then on a delivery may decide otherwise. */
  readonly until: number
}

/**
 * How workers on one queue tell each other of transactions that miss an output: each delivery goes to one of them, and
 * the output that it misses may come to another. What is lost on the way costs time, not transactions.
 */
export interface OrphanExchange {
  share(orphan: SharedOrphan): void
}

/** An exchange that is joined later; until then nothing is told. */
export function lateExchange() {
  let channel: Broadcast | undefined
  return {
    share({ cbor, until }: SharedOrphan) {
      const { buffer, byteOffset, byteLength } = cbor
      channel?.send(`${Math.ceil(until)} ${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`)
    },
    async join(queue: Pick<QueueBackend, 'broadcast'>, hear: (orphan: SharedOrphan) => void): Promise<void> {
      channel = await queue.broadcast('orphans', (message) => {
        const [until = '', cbor = ''] = message.split(' ')
        hear({ cbor: new Uint8Array(Buffer.from(cbor, 'base64')), until: Number(until) })
      })
    },
  }
}

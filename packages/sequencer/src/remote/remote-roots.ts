import { fromHex, toHex } from '@ratatosk/cbor'
import type { QueueBackend } from '@ratatosk/queue'
import { ProverBusyError } from '../roots/errors.js'
import type { Roots } from '../roots/types.js'
import type { Sequencer } from '../types.js'
import { type CallsServer, openCalls, serveCalls } from './active-calls.js'

/** Reads of the unspent outputs that the active sequencer keeps. */
type ReadRoots = Pick<Roots, 'root' | 'prove'>

/** In hex. Without `outref`, the newest root is asked for. */
interface RootsRequest {
  readonly root?: string
  readonly outref?: string
}

type RootsAnswer =
  | { readonly kind: 'root'; readonly root: string }
  | { readonly kind: 'proof'; readonly isUnspent: boolean; readonly proof: string }
  | { readonly kind: 'not kept' }

const channel = 'roots'
/** Few, because blocks wait for proofs. */
const concurrency = 8
/** They are read at once. Strangers ask for proofs, of which each has some kilobytes. */
const kept = { age: 10, count: 500 }

/** Serves the proofs of this sequencer to processes without one, while it is active. */
export function serveRoots({
  queue,
  sequencer,
  roots,
}: {
  readonly queue: QueueBackend
  readonly sequencer: Pick<Sequencer, 'active' | 'subscribe'>
  readonly roots: ReadRoots
}): CallsServer {
  return serveCalls<RootsRequest, RootsAnswer>({
    queue,
    channel,
    sequencer,
    concurrency,
    async serve({ root, outref }) {
      if (root === undefined || outref === undefined) return { kind: 'root', root: toHex(await roots.root()) }
      const proved = await roots.prove(fromHex(root), fromHex(outref))
      if (proved === undefined) return { kind: 'not kept' }
      return { kind: 'proof', isUnspent: proved.isUnspent, proof: toHex(proved.proof) }
    },
  })
}

/**
 * Asks the active sequencer, in any process, for proofs.
 *
 * @throws ProverBusyError if none answers in time
 */
export function openRemoteRoots({
  queue,
  timeoutMs = 5_000,
}: {
  readonly queue: QueueBackend
  readonly timeoutMs?: number
}): ReadRoots & { close(): Promise<void> } {
  const remote = openCalls<RootsRequest, RootsAnswer>({ queue, channel, timeoutMs, kept })

  async function ask(request: RootsRequest): Promise<RootsAnswer> {
    const answer = await remote.call('proof', request)
    if (typeof answer === 'string') throw new ProverBusyError('No sequencer answers')
    return answer.result
  }

  return {
    async root() {
      const answer = await ask({})
      if (answer.kind !== 'root') throw new TypeError(`the sequencer answered ${answer.kind}`)
      return fromHex(answer.root)
    },
    async prove(root, outref) {
      const answer = await ask({ root: toHex(root), outref: toHex(outref) })
      if (answer.kind !== 'proof') return undefined
      return { isUnspent: answer.isUnspent, proof: fromHex(answer.proof) }
    },
    close: remote.close,
  }
}

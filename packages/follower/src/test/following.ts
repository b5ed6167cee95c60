import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import archivist from '@ratatosk/archivist'
import type { Archive, BlockRules } from '@ratatosk/block'
import { openStore, type Store } from '@ratatosk/store'
import { freeOfCharge, type SourceChain, slots } from '@ratatosk/test-kit'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import fastify from 'fastify'
import { onTestFinished } from 'vitest'
import { createFollower, type Follower, type FollowerOptions, type QueueReader } from '../index.js'
import { LogLines } from './log-lines.js'

export const rules: BlockRules = { parameters: freeOfCharge, networkId: 0, slots }

export interface Following {
  readonly follower: Follower
  readonly archive: Store['archive']
  readonly log: LogLines
}

/** A follower with its own archive, closed after the test. It reads layer 1 only on `synced()`. */
export async function follow(
  chain: Pick<SourceChain, 'genesis'> & QueueReader,
  peers: readonly string[],
  options: Partial<FollowerOptions> = {},
): Promise<Following> {
  const log = new LogLines()
  const archive = options.archive ?? (await openTestStore(openStore)).archive
  const follower = await createFollower({
    chain,
    peers,
    archive,
    genesis: chain.genesis,
    rules,
    log,
    pollMs: 600_000,
    backoffMs: 20,
    ...options,
  })
  onTestFinished(() => follower.close())
  return { follower, archive: archive as Store['archive'], log }
}

/** Serves an archive until the test ends. Returns the base URL. */
export async function serve(archive: Archive): Promise<string> {
  const server = fastify({ forceCloseConnections: true })
  onTestFinished(() => server.close())
  await server.register(archivist, { archive, prefix: '/archivist' })
  return `${await server.listen({ host: '127.0.0.1', port: 0 })}/archivist`
}

/** Serves a peer with arbitrary responses until the test ends. Returns the base URL. */
export async function serveRaw(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer)
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

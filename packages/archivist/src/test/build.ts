import type { Archive } from '@ratatosk/block'
import { SourceChain } from '@ratatosk/test-kit'
import fastify from 'fastify'
import type { Test } from 'tap'
import archivist, { archiveOfBlocks } from '../index.js'

interface ErrorLine {
  level: number
  msg: string
  reqId?: string
  err?: { message: string }
}

/** A chain with this many blocks, which have 0, 1, 2 … transactions. */
export async function chainOf(blocks: number): Promise<SourceChain> {
  const chain = new SourceChain(3)
  for (let n = 0; n < blocks; n++) await chain.commit(n)
  return chain
}

/** A server with only the plugin. The default archive has three blocks, the first of them merged. */
export async function build(
  t: Test,
  given?: Archive,
  options: { maxReads?: number; stallTimeoutMs?: number } = {},
) {
  const chain = await chainOf(3)
  chain.merge(1)
  const archive = given ?? archiveOfBlocks(chain)
  const log: ErrorLine[] = []
  const server = fastify({
    logger: { level: 'info', stream: { write: (line: string) => void log.push(JSON.parse(line)) } },
  })
  t.teardown(() => server.close())
  await server.register(archivist, { archive, ...options })
  return { server, chain, log }
}

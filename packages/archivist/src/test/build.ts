import fastify from 'fastify'
import type { Test } from 'tap'
import archivist, { type Archive, archiveOfBlocks } from '../index.js'
import { SourceChain } from './source-chain.js'

export interface ErrorLine {
  level: number
  msg: string
  reqId?: string
  err?: { message: string }
}

/** A chain of so many blocks, of 0, 1, 2 … transactions. */
export async function chainOf(blocks: number): Promise<SourceChain> {
  const chain = new SourceChain(3)
  for (let n = 0; n < blocks; n++) await chain.commit(n)
  return chain
}

/** A server with nothing but the plugin, over three blocks of which the first is merged, unless an archive is given. */
export async function build(t: Test, given?: Archive) {
  const chain = await chainOf(3)
  chain.merge(1)
  const archive = given ?? archiveOfBlocks(chain)
  const log: ErrorLine[] = []
  const server = fastify({
    logger: { level: 'info', stream: { write: (line: string) => void log.push(JSON.parse(line)) } },
  })
  t.teardown(() => server.close())
  await server.register(archivist, { archive })
  return { server, chain, log }
}
